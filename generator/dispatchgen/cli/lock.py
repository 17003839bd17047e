"""`dispatchgen lock`: writes the lock files, or checks them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import click
from rich.console import Console

from dispatchgen.cli.options import host_bin_dir_option, timeout_option
from dispatchgen.cli.progress import say, showing
from dispatchgen.errors import CheckFailed, DispatchgenError, Place, Problem
from dispatchgen.iree.process import end_as_interrupted
from dispatchgen.iree.tools import CompilerTools, find_compiler_tools, other_build_note
from dispatchgen.lock.store import locks_of_no_model, renew_command
from dispatchgen.lock.update import Change, Check, Update, check_locks, check_origins, coverage, update_locks
from dispatchgen.manifest import DEFAULT_MANIFEST, load_suite
from dispatchgen.manifest.select import select
from dispatchgen.manifest.suite import Model, Suite

_Outcome = TypeVar("_Outcome", Update, Check)


@dataclass(frozen=True)
class _Arguments:
    """What was given on the command line."""

    manifest: Path
    models: tuple[str, ...]
    check: bool
    compile: bool
    force: bool
    jobs: int | None
    timeout: float
    iree_host_bin_dir: Path | None


@click.command("lock")
@click.argument("manifest", type=click.Path(path_type=Path), default=DEFAULT_MANIFEST)
@click.option("--model", "models", multiple=True, metavar="M", help="Only this model; may be given more than once.")
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 when a lock is stale or has drifted.")
@click.option(
    "--no-compile",
    "compile_",
    flag_value=False,
    default=True,
    help="With --check: only compare what the locks were made from, source and manifest; needs no compiler.",
)
@click.option("--force", is_flag=True, help="Make also the locks whose inputs have not changed.")
@click.option(
    "--jobs", "-j", type=click.IntRange(min=1), metavar="N", help="Models at a time. Default: one per processor."
)
@timeout_option("Time limit of each process of the compiler or the importer.")
@host_bin_dir_option
def command(
    manifest: Path,
    models: tuple[str, ...],
    check: bool,
    compile_: bool,
    force: bool,
    jobs: int | None,
    timeout: float,
    iree_host_bin_dir: Path | None,
) -> None:
    """Write or check the lock files: which dispatches each model has.

    MANIFEST is the manifest or its folder. A lock whose source, settings and compiler have not changed is left alone.
    """
    if not compile_ and not check:
        raise click.UsageError("--no-compile is for --check: a lock is made by compiling.")
    arguments = _Arguments(manifest, models, check, compile_, force, jobs, timeout, iree_host_bin_dir)
    end_as_interrupted()
    suite = load_suite(manifest)
    selected = select(suite, models).models
    for path in [] if models else locks_of_no_model(suite):
        click.echo(f"note: {path} belongs to no model of {suite.manifest}", err=True)
    if check:
        _check(suite, selected, arguments)
    else:
        _update(suite, selected, arguments)


def _tools(arguments: _Arguments) -> CompilerTools:
    """IREE's programs; says where the Python bindings do not belong to them."""
    tools = find_compiler_tools(arguments.iree_host_bin_dir)
    note = other_build_note(tools.compiler_version, tools.bindings_version)
    if note is not None:
        click.echo(f"note: {note}", err=True)
    return tools


def _update(suite: Suite, models: tuple[Model, ...], arguments: _Arguments) -> None:
    tools = _tools(arguments)
    start = partial(
        update_locks, tools, suite, models, force=arguments.force, jobs=arguments.jobs, timeout=arguments.timeout
    )
    updates = _follow("locking", models, start, partial(_sentence, suite))
    problems = [problem for update in updates for problem in update.problems]
    if problems:
        raise DispatchgenError(*problems)


def _check(suite: Suite, models: tuple[Model, ...], arguments: _Arguments) -> None:
    checks = _compiled_checks(suite, models, arguments) if arguments.compile else list(check_origins(suite, models))
    problems = [problem for check in checks for problem in check.problems]
    failures = [_failure(suite, check, arguments) for check in checks if check.stale or check.drift]
    if problems:
        raise DispatchgenError(*problems, *failures)
    if failures:
        raise CheckFailed(*failures)


def _compiled_checks(suite: Suite, models: tuple[Model, ...], arguments: _Arguments) -> list[Check]:
    tools = _tools(arguments)
    start = partial(check_locks, tools, suite, models, jobs=arguments.jobs, timeout=arguments.timeout)
    return _follow("checking", models, start, lambda check: "as locked" if check.ok else _verdict(check))


def _follow(
    title: str,
    models: Sequence[Model],
    start: Callable[..., Generator[_Outcome, None, None]],
    describe: Callable[[_Outcome], str],
) -> list[_Outcome]:
    """Shows the work on the locks of models while it goes on, then the coverage; the outcomes, in the models' order."""
    done: dict[str, _Outcome] = {}
    console = Console(stderr=True)
    with (
        showing(console, title) as show,
        closing(start(on_start=lambda model: show(len(done), len(models), model.name))) as outcomes,
    ):
        for outcome in outcomes:
            done[outcome.model.id] = outcome
            say(console, f"{outcome.model.name}: {describe(outcome)}")
    in_order = [done[model.id] for model in models]
    for outcome in in_order:
        if outcome.lock is not None:
            for line in coverage(outcome.model, outcome.lock):
                click.echo(line)
    return in_order


def _sentence(suite: Suite, update: Update) -> str:
    path = suite.lock_path(update.model)
    text = {
        Change.WRITTEN: f"wrote {path}",
        Change.SAME: f"{path} is as it was",
        Change.CURRENT: f"{path} is current",
        Change.FAILED: "failed",
    }[update.change]
    if update.unreadable:
        reasons = "; ".join(problem.message for problem in update.unreadable)
        text += f"; the names in the lock that was there are not kept: {reasons}"
    return text


def _verdict(check: Check) -> str:
    if check.problems:
        return "failed"
    return "drifted" if check.drift else "stale"


def _failure(suite: Suite, check: Check, arguments: _Arguments) -> Problem:
    """What to say of a lock that is stale or drifted: what changed, and the command that renews it."""
    reasons = "; ".join(check.stale)
    if check.drift:
        lines = [
            f"model {check.model.name}: its dispatches have drifted from its lock"
            + (f" ({reasons})" if reasons else "")
        ]
        lines += [f"  {difference.backend}: {line}" for difference in check.drift for line in difference.lines()]
    else:
        lines = [f"model {check.model.name}: its lock is stale: {reasons}"]
        if check.lock is not None:
            lines.append("  its dispatches are as locked")
    place = Place(str(suite.lock_path(check.model)))
    return Problem("\n".join(lines), place, renew_command(suite.lock_path(check.model), arguments.manifest))
