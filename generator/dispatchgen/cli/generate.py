"""`dispatchgen generate`."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from dispatchgen.errors import CheckFailed, DispatchgenError, LockError, Place, Problem
from dispatchgen.files import write_if_changed
from dispatchgen.lock.compare import stale_settings
from dispatchgen.lock.make import settings_digest
from dispatchgen.lock.schema import Lock
from dispatchgen.lock.store import read_lock, renew_command
from dispatchgen.manifest import DEFAULT_MANIFEST, load_suite
from dispatchgen.manifest.suite import Suite
from dispatchgen.ownership import check_build_file, check_replaceable
from dispatchgen.render.files import (
    BuildFile,
    bazel_file,
    cmake_file,
    generated_systems,
    iree_plugin_file,
    is_iree_plugin,
)

#: Lines of a difference that are shown.
_DIFF_LINES = 40


@click.command()
@click.argument("manifest", type=click.Path(path_type=Path), default=Path(DEFAULT_MANIFEST))
@click.option("--cmake", is_flag=True, help="Write a CMakeLists.txt.")
@click.option("--bazel", is_flag=True, help="Write a BUILD.bazel.")
@click.option(
    "--iree-plugin", is_flag=True, help="Make the folder of the CMakeLists.txt a plug-in of IREE's own build as well."
)
@click.option("--check", is_flag=True, help="Write nothing; fail when a file is not what would be written.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The only file to write. Default: CMakeLists.txt or BUILD.bazel beside the manifest.",
)
@click.option("--force", is_flag=True, help="Replace files that dispatchgen did not write.")
def command(
    manifest: Path, cmake: bool, bazel: bool, iree_plugin: bool, check: bool, output: Path | None, force: bool
) -> None:
    """Write the build files of the suite that MANIFEST (default: benchmarks.yaml) and the lock files describe.

    Without --cmake and --bazel: renew those beside the manifest that dispatchgen wrote. A file that it did not write
    is not replaced, unless with --force.
    """
    if output is not None and cmake == bazel:
        raise click.UsageError("-o names one file: give it with one of --cmake and --bazel.")
    if iree_plugin and not cmake:
        raise click.UsageError("--iree-plugin goes with --cmake.")
    suite = load_suite(manifest)
    if not (cmake or bazel):
        cmake, bazel = generated_systems(suite.root)
        iree_plugin = cmake and is_iree_plugin(suite.root)
        if not (cmake or bazel):
            raise click.UsageError("there is no build file to renew: say which to write, --cmake, --bazel, or both.")
    locks = _read_locks(suite)
    stale = _stale_locks(suite, locks)
    if stale:
        raise (CheckFailed if check else LockError)(*stale)
    files = [cmake_file(suite, locks, output)] if cmake else []
    files += [iree_plugin_file(suite, output)] if iree_plugin else []
    files += [bazel_file(suite, locks, output)] if bazel else []
    if check:
        _check(files, _command_line(manifest, cmake, bazel, iree_plugin, output))
        return
    for file in files:
        (check_replaceable if force else check_build_file)(file.path)
    for file in files:
        written = write_if_changed(file.path, file.text)
        click.echo(f"wrote {file.path}" if written else f"{file.path} is up to date")


def _command_line(manifest: Path, cmake: bool, bazel: bool, iree_plugin: bool, output: Path | None) -> str:
    """The command that writes the files."""
    words = ["dispatchgen", "generate", str(manifest)]
    words += ["--cmake"] if cmake else []
    words += ["--iree-plugin"] if iree_plugin else []
    words += ["--bazel"] if bazel else []
    words += ["-o", str(output)] if output is not None else []
    return shlex.join(words)


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


def _check(files: Sequence[BuildFile], hint: str) -> None:
    """Raises CheckFailed with the differences of all files that do not have their text.

    Args:
      hint: The command that writes them.
    """
    problems = []
    for file in files:
        difference = _difference(file)
        if difference is None:
            click.echo(f"{file.path} is up to date")
        else:
            problems.append(Problem(difference, Place(str(file.path)), hint))
    if problems:
        raise CheckFailed(*problems)


def _difference(file: BuildFile) -> str | None:
    """How the file that is there differs from what would be written; None: not at all."""
    try:
        present = file.path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return "the build file does not exist"
    except (OSError, UnicodeDecodeError) as error:
        return f"cannot read the build file: {error}"
    if present == file.text:
        return None
    lines = list(
        difflib.unified_diff(
            present.splitlines(), file.text.splitlines(), str(file.path), "what would be written", lineterm=""
        )
    )
    shown = lines[:_DIFF_LINES]
    if len(lines) > len(shown):
        shown.append(f"[... {len(lines) - len(shown)} more lines]")
    difference = "\n  ".join(shown)
    return f"the build file is not up to date\n  {difference}"
