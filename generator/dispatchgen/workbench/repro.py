"""The commands by which a build makes and runs one benchmark, for people to run by hand.

The folder they work in is laid out as a model's folder in a build tree: they make the bytes that the build makes.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dispatchgen.errors import LockError, ManifestError, Place, Problem, SubstitutionError
from dispatchgen.extract.schema import Dispatch
from dispatchgen.iree.tools import Tools
from dispatchgen.lock.store import renew_command
from dispatchgen.manifest.names import did_you_mean, show, show_all
from dispatchgen.manifest.objects import object_suffix
from dispatchgen.manifest.suite import Device, Substitution
from dispatchgen.render.substitutions import substitution_arguments
from dispatchgen.results.benchmark import filter_of, module_flags
from dispatchgen.results.settings import settings_of_one_round
from dispatchgen.selection.select import Selected, Target, select_substitutions
from dispatchgen.workbench.session import Session


@dataclass(frozen=True)
class Repro:
    """Files that are written to a folder, and the commands that then make and run the benchmark."""

    files: dict[Path, str | bytes]
    commands: tuple[tuple[str, ...], ...]

    def script(self) -> str:
        """The commands as a script for sh, which stops at the first that fails."""
        return "".join(f"{shlex.join(command)}\n" for command in (("set", "-e"), *self.commands))


def repro(
    session: Session,
    tools: Tools,
    dispatch: Dispatch,
    folder: Path,
    *,
    benchmark: str | None = None,
    device: Device | None = None,
    substitution: str | None = None,
) -> Repro:
    """The commands for a dispatch, or for what takes its place in a substitution.

    Args:
      session: Of the dispatch.
      tools: IREE's programs.
      folder: Where the commands work; absolute.
      benchmark: The only benchmark to run. None: all of the dispatch.
      device: Where to run. None: it is only compiled.
      substitution: Name or id.

    Raises:
      ManifestError, SubstitutionError: there is no such benchmark or substitution, or it leaves the dispatch alone.
      LockError: there is a substitution, but no lock.
    """
    functions = _functions(dispatch, benchmark)
    files: dict[Path, str | bytes] = {
        folder / "dispatches" / f"{dispatch.name}.mlir": session.benchmark_modules[dispatch.name]
    }
    data = session.extraction.archive(dispatch)
    archive = folder / "dispatches" / f"{dispatch.name}.irpa" if data is not None else None
    if archive is not None and data is not None:
        files[archive] = data
    if substitution is None:
        commands = [["cd", str(folder)], _compile(session, dispatch)]
    else:
        found = _substitution(session, substitution)
        steps = _Steps(session, dispatch, folder, found, _targets(session, dispatch, found))
        files |= steps.files()
        commands = steps.commands()
    if device is not None:
        commands.append(_run(session, tools, module_flags(Path(f"{dispatch.name}.vmfb"), archive), device, functions))
    return Repro(files, tuple(map(tuple, commands)))


def _functions(dispatch: Dispatch, benchmark: str | None) -> list[str] | None:
    """The benchmarks to run; None: all."""
    names = dispatch.functions
    if benchmark is not None and benchmark not in names:
        message = f"dispatch {show(dispatch.name)} has no benchmark {show(benchmark)}"
        raise ManifestError(Problem(message, hint=did_you_mean(benchmark, names)))
    return None if benchmark is None or names == [benchmark] else [benchmark]


def _compile(session: Session, dispatch: Dispatch, *flags: str) -> list[str]:
    name = dispatch.name
    command = [str(session.tools.iree_compile), "--compile-from=executable-configurations", *session.flags(), *flags]
    return [*command, f"dispatches/{name}.mlir", "-o", f"{name}.vmfb"]


def _run(
    session: Session, tools: Tools, module: Sequence[str], device: Device, functions: Sequence[str] | None
) -> list[str]:
    """What runs a module, which flags name."""
    settings = settings_of_one_round(session.model.run)
    command = [str(tools.iree_benchmark_module), f"--device={device.uri}", *module]
    command += [f"--batch_size={settings.batch_size}", f"--benchmark_repetitions={settings.repetitions}"]
    command += [f"--benchmark_filter={filter_of(functions)}"] if functions is not None else []
    command += [f"--benchmark_min_time={settings.min_time}"] if settings.min_time is not None else []
    return [*command, *device.run_flags]


def _substitution(session: Session, wanted: str) -> Substitution:
    model = session.model
    for substitution in model.substitutions:
        if wanted in (substitution.name, substitution.id):
            return substitution
    message = f"model {show(model.name)} has no substitution {show(wanted)}"
    hint = did_you_mean(wanted, [each.name for each in model.substitutions])
    raise ManifestError(Problem(message, Place(str(session.suite.manifest), model.line), hint))


def _targets(session: Session, dispatch: Dispatch, substitution: Substitution) -> dict[str, Target]:
    """What a substitution replaces, by name; `dispatch` is among it. Raises LockError, SubstitutionError."""
    if session.lock is None:
        path = session.suite.lock_path(session.model)
        hint = renew_command(path, session.suite.manifest)
        raise LockError(Problem(f"model {show(session.model.name)} has no lock file", Place(str(path)), hint))
    model = replace(session.model, substitutions=(substitution,), combinations=())
    selected = select_substitutions(session.suite, model, session.backend, session.lock)
    targets = {target.dispatch.name: target for each in selected for target in each.targets}
    if dispatch.name not in targets:
        where = f"dispatch {show(dispatch.name)} on backend {show(session.backend.name)}"
        what = f"it replaces {show_all(targets)}" if targets else "it is for other backends"
        message = f"substitution {show(substitution.name)} does not replace {where}: {what}"
        raise SubstitutionError(Problem(message, Place(str(session.suite.manifest), substitution.line)))
    return targets


@dataclass(frozen=True)
class _Steps:
    """The steps of a build that put a substitute in the place of a dispatch."""

    session: Session
    dispatch: Dispatch
    folder: Path
    substitution: Substitution
    targets: Mapping[str, Target]  #: By the dispatch's name.

    def files(self) -> dict[Path, str | bytes]:
        """What the commands read besides the files of the suite and the benchmark module."""
        files: dict[Path, str | bytes] = {
            self.folder / "dispatches" / "index.json": self.session.extraction.lock.model_dump_json(indent=1) + "\n"
        }
        if self._program != self.session.source.absolute():
            files[self._program] = self.session.source.read_text(encoding="utf-8")
        return files

    def commands(self) -> list[list[str]]:
        """From the user's file to the compiled module, in whose folder they end."""
        linked = self.target.is_object and self.session.backend.local_backend == "llvm-cpu"
        search = ["--iree-hal-executable-object-search-path=.."] if linked else []
        return [
            ["cd", str(self._root)],  # where relative paths in the user's flags and commands start
            ["mkdir", "-p", str(self._own_folder)],
            *self._prepare(),
            self._substitute(),
            ["cd", str(self._own_folder)],
            _compile(self.session, self.dispatch, *search),
        ]

    @property
    def target(self) -> Target:
        """What takes the place of the dispatch."""
        return self.targets[self.dispatch.name]

    @property
    def _root(self) -> Path:
        return self.session.suite.root.absolute()

    @property
    def _own_folder(self) -> Path:
        return self.folder / "substitutions" / self.substitution.id

    @property
    def _program(self) -> Path:
        """The program as MLIR, where the commands find it."""
        is_imported = self.target.kind == "tuning_spec" and self.session.model.source.format == "onnx"
        return self.folder / "imported.mlir" if is_imported else self.session.source.absolute()

    @property
    def _file(self) -> Path:
        """The file that takes the place of the dispatch: the user's, or what `_prepare` makes of it.

        Objects are named by ids, since IREE does not quote their names in the command of its linker.
        """
        file = self._root / self.target.file
        if self.target.kind == "kernel":
            return self._own_folder / f"{self.substitution.id}.{object_suffix(self.session.backend)}"
        if self.target.kind == "object":
            # One for several dispatches is named after the first of them, in the order of the build files.
            same = [name for name, target in self.targets.items() if target.file == self.target.file]
            return self._own_folder / f"{min(same, key='{}='.format)}{file.suffix}"
        return self._own_folder / "tuned.mlir" if self.target.kind == "tuning_spec" else file

    def _prepare(self) -> list[list[str]]:
        """What makes `_file`."""
        file = str(self._root / self.target.file)
        if self.target.kind == "object":
            return [["cp", file, str(self._file)]]
        if self.target.kind == "kernel":
            places = {"source": file, "output": str(self._file), "entry": self.substitution.entry or ""}
            return [[_filled(argument, places) for argument in self.substitution.command]]
        if self.target.kind == "tuning_spec":
            command = [str(self.session.tools.iree_compile), "--compile-to=executable-configurations"]
            command += [*self.session.flags(), f"--iree-codegen-tuning-spec-path={file}"]
            return [[*command, str(self._program), "-o", str(self._file)]]
        return []

    def _substitute(self) -> list[str]:
        """What puts `_file` into the benchmark module."""
        arguments = substitution_arguments(self.session.model, self.session.backend, [Selected(self.substitution, ())])
        flags = [text.partition("=")[2] for text in arguments["substitute_flags"] or ()]
        kind = "object" if self.target.kind == "kernel" else self.target.kind
        command = ["env", "PYTHONSAFEPATH=1", sys.executable, "-m", "dispatchgen"]  # no module is a file of the suite
        command += ["substitute", "--name", self.substitution.id, "--kind", kind]
        command += ["--substitute", str(self._file), "--given", self.target.file]
        command += ["--dispatches", str(self.folder / "dispatches"), "--dispatch", self.dispatch.name]
        command += ["--output", str(self._own_folder / "dispatches")]
        command += ["--iree-compile", str(self.session.tools.iree_compile), *flags]
        return [*command, "--", *self.session.flags()]


def _filled(argument: str, places: Mapping[str, str]) -> str:
    """An argument with `{name}` replaced by the text of that name; what these texts hold stays as it is."""
    names = "|".join(map(re.escape, places))
    return re.sub(rf"{{({names})}}", lambda match: places[match[1]], argument)
