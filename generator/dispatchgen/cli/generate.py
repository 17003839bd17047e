"""`dispatchgen generate`."""

from __future__ import annotations

import difflib
import os
import shlex
from collections.abc import Mapping
from pathlib import Path

import click

from dispatchgen.errors import CheckFailed, DispatchgenError, LockError, Place, Problem
from dispatchgen.files import write_if_changed
from dispatchgen.lock.compare import stale_settings
from dispatchgen.lock.schema import Lock
from dispatchgen.lock.store import read_lock, renew_command
from dispatchgen.lock.update import settings_digest
from dispatchgen.manifest import DEFAULT_MANIFEST, load_suite
from dispatchgen.manifest.suite import Suite
from dispatchgen.ownership import check_build_file, check_replaceable
from dispatchgen.render.cmake import render_cmake

#: Lines of a difference that are shown.
_DIFF_LINES = 40


@click.command()
@click.argument("manifest", type=click.Path(path_type=Path), default=Path(DEFAULT_MANIFEST))
@click.option("--cmake", is_flag=True, required=True, help="Write a CMakeLists.txt.")
@click.option("--check", is_flag=True, help="Write nothing; fail when the file is not what would be written.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Default: CMakeLists.txt beside the manifest.")
@click.option("--force", is_flag=True, help="Replace a file that dispatchgen did not write.")
def command(manifest: Path, cmake: bool, check: bool, output: Path | None, force: bool) -> None:  # noqa: ARG001
    """Write the build files of the suite that MANIFEST (default: benchmarks.yaml) and the lock files describe.

    A file that dispatchgen did not write is not replaced, unless with --force.
    """
    suite = load_suite(manifest)
    path = output if output is not None else suite.root / "CMakeLists.txt"
    locks = _read_locks(suite)
    stale = _stale_locks(suite, locks)
    if stale:
        raise (CheckFailed if check else LockError)(*stale)
    text = render_cmake(suite, locks, package_dir=_package_dir(suite, path))
    if check:
        _check(path, text, manifest, output)
        return
    (check_replaceable if force else check_build_file)(path)
    if write_if_changed(path, text):
        click.echo(f"wrote {path}")
    else:
        click.echo(f"{path} is up to date")


def _read_locks(suite: Suite) -> Mapping[str, Lock]:
    """The lock of every model. Raises LockError with the problems of all."""
    locks: dict[str, Lock] = {}
    problems: list[Problem] = []
    for model in suite.models:
        try:
            locks[model.id] = read_lock(suite.lock_path(model))
        except DispatchgenError as error:
            problems.extend(error.problems)
    if problems:
        raise LockError(*problems)
    return locks


def _stale_locks(suite: Suite, locks: Mapping[str, Lock]) -> list[Problem]:
    """A problem per model of which the manifest says something else than when it was locked.

    Programs and the compiler are not looked at: neither is needed for the build files.
    """
    problems = []
    for model in suite.models:
        path = suite.lock_path(model)
        today = {backend: settings_digest(model, suite.backend(backend)) for backend in model.backends}
        stale = "; ".join(stale_settings(locks[model.id].made_from.settings, today))
        if stale:
            message = f"model {model.name}: its lock is stale: {stale}"
            problems.append(Problem(message, Place(str(path)), renew_command(path, suite.manifest)))
    return problems


def _package_dir(suite: Suite, path: Path) -> str | None:
    """Path from the generated file's folder to the suite's, or None where they are the same."""
    relative = os.path.relpath(suite.root.resolve(), path.parent.resolve())
    return None if relative == os.curdir else Path(relative).as_posix()


def _check(path: Path, text: str, manifest: Path, output: Path | None) -> None:
    """Raises CheckFailed with a difference unless the file has that text."""
    command_line = ["dispatchgen", "generate", str(manifest), "--cmake"]
    if output is not None:
        command_line += ["-o", str(output)]
    hint = shlex.join(command_line)
    try:
        present = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise CheckFailed(Problem("the build file does not exist", Place(str(path)), hint)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise CheckFailed(Problem(f"cannot read the build file: {error}", Place(str(path)), hint)) from None
    if present == text:
        click.echo(f"{path} is up to date")
        return
    lines = list(
        difflib.unified_diff(present.splitlines(), text.splitlines(), str(path), "what would be written", lineterm="")
    )
    shown = lines[:_DIFF_LINES]
    if len(lines) > len(shown):
        shown.append(f"[... {len(lines) - len(shown)} more lines]")
    difference = "\n  ".join(shown)
    raise CheckFailed(Problem(f"the build file is not up to date\n  {difference}", Place(str(path)), hint))
