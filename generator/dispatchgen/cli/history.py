"""`dispatchgen history import|show|changes`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

_F = TypeVar("_F", bound=Callable[..., Any])


def _options(command: _F) -> _F:
    """`--history FILE`."""
    option = click.option(
        "--history",
        type=click.Path(path_type=Path, dir_okay=False),
        default="history.sqlite",
        show_default=True,
        metavar="FILE",
        help="The history, an SQLite file.",
    )
    return option(command)


def _machine_option(command: _F) -> _F:
    """`--machine M`."""
    return click.option("--machine", metavar="M", help="Only of this machine, by its name.")(command)


@click.group("history")
def command() -> None:
    """Results over time: when did which benchmark change?"""


@command.command("import")
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RESULT...")
@_options
def import_command(results: tuple[Path, ...], history: Path) -> None:
    """Import result files of `dispatchgen run`; each run once, however often it is imported."""
    from dispatchgen.history.importing import import_results
    from dispatchgen.history.table import imported_lines

    for line in imported_lines(import_results(history, results)):
        click.echo(line)


@command.command("show")
@click.argument("benchmark")
@_options
@_machine_option
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the newest N runs.")
def show_command(benchmark: str, history: Path, machine: str | None, last: int | None) -> None:
    """Show the times of a benchmark, run by run.

    BENCHMARK is a name, also one that it had before, or a pattern ('matmul_*'); whole_model: the whole models.
    """
    from dispatchgen.cli.outputs import print_tables
    from dispatchgen.history.changes import find_changes
    from dispatchgen.history.moves import find_moves
    from dispatchgen.history.series import called, read_series
    from dispatchgen.history.table import render_series

    every = read_series(history, machine)
    wanted = called(every, benchmark, history)
    changes = find_changes(every)  # of all: what is noise is known from all benchmarks
    print_tables(render_series(wanted, changes, find_moves(changes, every), last), stderr=False)


@command.command("changes")
@click.argument("benchmark", required=False)
@_options
@_machine_option
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="Only changes since then: 2026-01-31.")
def changes_command(benchmark: str | None, history: Path, machine: str | None, since: Any) -> None:
    """List where benchmarks became faster or slower for good, with the commits between which they did.

    BENCHMARK is a name or pattern. Default: all benchmarks.
    """
    from dispatchgen.cli.outputs import print_tables
    from dispatchgen.history.changes import FEWEST_RUNS, find_changes
    from dispatchgen.history.moves import find_moves
    from dispatchgen.history.series import called, read_series
    from dispatchgen.history.table import render_changes

    every = read_series(history, machine)
    found = find_changes(every)
    moves = find_moves(found, every)
    if benchmark is not None:
        moves = []  # what is asked for is told one by one
        every = called(every, benchmark, history)
        found = [change for change in found if change.series.is_called(benchmark)]
    if since is not None:
        found = [change for change in found if change.at.started >= since.strftime("%Y-%m-%d")]
    print_tables(render_changes(found, moves), stderr=False)
    few = sum(len(series.runs) < FEWEST_RUNS for series in every)
    click.echo(f"{_number(len(found), 'change')} of {_number(len(every), 'benchmark')}")
    if few:
        click.echo(f"{few} of them were measured in fewer than {FEWEST_RUNS} runs: too few to tell")


def _number(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
