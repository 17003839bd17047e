"""`dispatchgen compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dispatchgen.cli.comparison_options import check_and_report, fail_on_option, file_options, floor_options
from dispatchgen.cli.memory import collect_nothing
from dispatchgen.cli.outputs import check_files

if TYPE_CHECKING:
    from dispatchgen.comparison.conditions import Condition


@click.command("compare")
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@fail_on_option
@floor_options
@click.option("--force", is_flag=True, help="Compare results of different machines all the same.")
@click.option("--all", "every", is_flag=True, help="Show all benchmarks, also those that did not change.")
@file_options
def command(
    base: Path,
    new: Path,
    conditions: tuple[Condition, ...],
    floor: float,
    absolute_floor: float,
    force: bool,
    every: bool,
    json: Path | None,
    markdown: Path | None,
    junit: Path | None,
) -> None:
    """Compare two results: which benchmarks became faster or slower, as far as that can be told.

    BASE and NEW are result files of `dispatchgen run`. A benchmark is called faster or slower only where a test of its
    rounds says so, corrected for the number of benchmarks, and the difference is above the floors and above what runs
    of the same code differ by; the same only where its confidence interval lies within the floor. Else it is too noisy
    to say.

    \b
      dispatchgen compare before.json after.json --fail-on slower:5% --markdown comment.md
    """
    check_files([base, new], {"--json": json, "--markdown": markdown, "--junit": junit})
    from dispatchgen.comparison.compare import compare
    from dispatchgen.comparison.conditions import floor_of
    from dispatchgen.comparison.options import Options
    from dispatchgen.results.load import load

    collect_nothing()
    options = Options(floor=floor_of(floor, conditions), absolute_floor=absolute_floor, force=force)
    before, after = load(base), load(new)
    if before.id == after.id:
        raise click.UsageError("BASE and NEW are the same run: there is nothing to compare.")
    comparison = compare(before, after, options)
    check_and_report(comparison, conditions, every=every, json=json, markdown=markdown, junit=junit)
