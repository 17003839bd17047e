"""The baseline that results are compared with: the one of their machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from dispatchgen.baseline.make import machine_of
from dispatchgen.baseline.schema import Baseline
from dispatchgen.baseline.store import folder, machines, names, read_baseline
from dispatchgen.errors import BaselineError, CheckFailed, Place, Problem
from dispatchgen.manifest.names import did_you_mean, nearest, show
from dispatchgen.results import lean
from dispatchgen.results.environment import differences, slug
from dispatchgen.results.environment_schema import Machine


class MissingBaselineError(CheckFailed):
    """There is no baseline of that name for the machine: nothing can be checked."""


@dataclass(frozen=True)
class Found:
    """A baseline and its file."""

    path: Path
    baseline: Baseline


def path_for(root: Path, name: str, results: lean.Results) -> Path:
    """The file of the baseline of that name for the machine that results are of, whether it is there or not.

    Args:
      root: Folder of the manifest.

    Raises BaselineError where the name cannot be one, or a file beside it cannot be read.
    """
    machine = machine_of(results)
    path = folder(root, name) / f"{slug(machine)}.json"
    if path.exists():
        return path
    # Another dispatchgen may name machines otherwise.
    same = (each for each in machines(root, name) if not differences(_machine(each), machine))
    return next(same, path)


def find_baseline(root: Path, name: str, results: lean.Results) -> Found:
    """The baseline of that name for the machine that results are of.

    Raises MissingBaselineError where there is none, and BaselineError where it cannot be read.
    """
    path = path_for(root, name, results)
    if not path.exists():
        raise _missing(root, name, path, machine_of(results))
    return Found(path, read_baseline(path))


def files_of(root: Path, name: str | None, machine: str | None) -> list[Path]:
    """The files of a baseline, or of all, for one machine, or for all; sorted.

    Raises BaselineError where there is none of that name, or for that machine.
    """
    every = [path for each in names(root) for path in machines(root, each) if name in (None, each)]
    if name is not None and not every:
        folder(root, name)
        raise BaselineError(Problem(f"there is no baseline {show(name)}", hint=did_you_mean(name, names(root))))
    found = [path for path in every if machine in (None, path.stem)]
    if machine is not None and not found:
        hint = did_you_mean(machine, sorted({path.stem for path in every}))
        raise BaselineError(Problem(f"there is no baseline for the machine {show(machine)}", hint=hint))
    return found


def _missing(root: Path, name: str, path: Path, machine: Machine) -> MissingBaselineError:
    others = machines(root, name)
    hint = f"dispatchgen baseline save {name} RESULT"
    if not others:
        guess = nearest(name, names(root))
        hint = show(guess) if guess is not None else hint
        return MissingBaselineError(Problem(f"there is no baseline {show(name)}", Place(str(path.parent)), hint))
    told = {each: differences(_machine(each), machine) for each in others}
    near = min(told, key=lambda each: len(told[each]))
    message = f"there is no baseline {show(name)} for this machine, {path.stem}; the one for {near.stem} differs in:"
    return MissingBaselineError(Problem("\n  ".join([message, *told[near]]), Place(str(path.parent)), hint))


def _machine(path: Path) -> Machine:
    return Machine.model_validate_json(msgspec.json.encode(read_baseline(path).machine))
