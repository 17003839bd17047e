"""`dispatchgen baseline save|show|check|update`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dispatchgen.cli.comparison_options import check_and_report, fail_on_option, file_options
from dispatchgen.cli.options import manifest_option
from dispatchgen.cli.outputs import check_files

if TYPE_CHECKING:
    from dispatchgen.comparison.conditions import Condition

_F = TypeVar("_F", bound=Callable[..., Any])

_name = click.argument("name")
_result = click.argument("result", type=click.Path(path_type=Path))
_check_fail_on = partial(fail_on_option, default=("slower", "failed", "gone"))


def _option(name: str, variable: str, **settings: Any) -> Callable[[_F], _F]:
    """An option that a variable of the environment gives as well: the targets of builds take no arguments."""
    return click.option(name, envvar=variable, show_envvar=True, **settings)


@click.group("baseline")
def command() -> None:
    """Keep results in the repository, to compare others with.

    A baseline has a name and a file per machine, `baselines/<name>/<machine>.json` beside the manifest. RESULT is a
    result file of `dispatchgen run`; the baseline of its machine is meant.
    """


@command.command("save")
@_name
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RESULT...")
@manifest_option
@_option(
    "--force",
    "DISPATCHGEN_REPLACE_BASELINE",
    is_flag=True,
    help="Replace the baseline that there is, and take results that differ.",
)
def save_command(name: str, results: tuple[Path, ...], manifest: Path, force: bool) -> None:
    """Save results as the baseline NAME of their machine.

    Of several results, which are of the same code, the rounds are put together, and by what they differ is kept: a
    later difference is to be well above that.
    """
    from dispatchgen.baseline.job import save
    from dispatchgen.baseline.table import saved_lines
    from dispatchgen.manifest import load_suite
    from dispatchgen.results.load import load

    saved = save(load_suite(manifest), name, [(path, load(path)) for path in results], force=force)
    for line in saved_lines(saved):
        click.echo(line)


@command.command("show")
@click.argument("name", required=False)
@manifest_option
@click.option("--machine", metavar="M", help="Only of this machine, by the name of its file.")
def show_command(name: str | None, manifest: Path, machine: str | None) -> None:
    """List the baselines that there are, or the benchmarks of one."""
    from dispatchgen.baseline import table
    from dispatchgen.baseline.find import files_of
    from dispatchgen.baseline.store import read_baseline
    from dispatchgen.cli.outputs import print_tables
    from dispatchgen.manifest import load_suite

    files = files_of(load_suite(manifest).root, name, machine)
    if not files:
        click.echo("there is no baseline")
    for path in files:
        baseline = read_baseline(path)
        click.echo(table.summary(path, baseline))
        if name is not None:
            print_tables(table.render(baseline), stderr=False)


@command.command("check")
@_name
@_result
@manifest_option
@_check_fail_on
@click.option("--all", "every", is_flag=True, help="Show all benchmarks, also those that did not change.")
@file_options
def check_command(
    name: str,
    result: Path,
    manifest: Path,
    conditions: tuple[Condition, ...],
    every: bool,
    json: Path | None,
    markdown: Path | None,
    junit: Path | None,
) -> None:
    """Compare a result with the baseline NAME of its machine, by the thresholds of the manifest.

    The exit code is 1 where a benchmark is slower than its threshold allows, fails or is gone; also where there is no
    baseline for the machine.
    """
    check_files([result], {"--json": json, "--markdown": markdown, "--junit": junit})
    from dispatchgen.baseline.job import check
    from dispatchgen.manifest import load_suite
    from dispatchgen.results.load import load

    checked = check(load_suite(manifest), name, load(result), conditions)
    check_and_report(checked.comparison, conditions, every=every, json=json, markdown=markdown, junit=junit)


@command.command("update")
@_name
@_result
@manifest_option
@_option(
    "--accept-slower",
    "DISPATCHGEN_ACCEPT_SLOWER",
    multiple=True,
    metavar="PATTERN",
    help="Take slower times of benchmarks of this name or pattern; '*': of all. May be given more than once.",
)
@_option(
    "--remove-gone",
    "DISPATCHGEN_REMOVE_GONE",
    is_flag=True,
    help="Remove benchmarks that the result does not have.",
)
@click.option("--dry-run", is_flag=True, help="Show what would change, and write nothing.")
def update_command(
    name: str, result: Path, manifest: Path, accept_slower: tuple[str, ...], remove_gone: bool, dry_run: bool
) -> None:
    """Take into the baseline NAME what is new in a result or faster, and show how it differs first.

    What is slower stays as it is, unless --accept-slower names it; so does what is the same or too noisy to say: many
    small steps would lower the bar as well.
    """
    from dispatchgen.baseline.job import propose_update
    from dispatchgen.baseline.table import update_lines
    from dispatchgen.baseline.update import Policy
    from dispatchgen.cli.outputs import print_tables
    from dispatchgen.comparison import table
    from dispatchgen.manifest import load_suite
    from dispatchgen.results.load import load

    policy = Policy(accept_slower, remove_gone)
    update = propose_update(load_suite(manifest), name, load(result), policy)
    print_tables(table.render(update.comparison), stderr=False)
    for line in update_lines(update):
        click.echo(line)
    if dry_run:
        click.echo("nothing was written: --dry-run")
    else:
        click.echo(f"wrote {update.path}" if update.write() else f"nothing changed in {update.path}")
