"""`dispatchgen report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dispatchgen.cli.memory import collect_nothing
from dispatchgen.cli.options import manifest_option
from dispatchgen.cli.outputs import check_files, result_file

if TYPE_CHECKING:
    from dispatchgen.comparison.schema import Comparison
    from dispatchgen.report.over_time import OverTime
    from dispatchgen.results.lean import Results


@click.command("report")
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RESULT...")
@click.option("--base", type=click.Path(path_type=Path), metavar="RESULT", help="Compare with these results.")
@click.option("--baseline", metavar="NAME", help="Compare with this baseline, of the machine of the results.")
@manifest_option
@click.option("--history", type=click.Path(path_type=Path), metavar="FILE", help="Show benchmarks over time.")
@click.option("--force", is_flag=True, help="Compare results of different machines all the same.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    default="report.html",
    show_default=True,
    callback=result_file,
    metavar="FILE",
    help="The page; -: to stdout.",
)
@click.option(
    "--markdown",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=result_file,
    metavar="FILE",
    help="Write the most important of it as Markdown; -: to stdout.",
)
def command(
    results: tuple[Path, ...],
    base: Path | None,
    baseline: str | None,
    manifest: Path,
    history: Path | None,
    force: bool,
    output: Path,
    markdown: Path | None,
) -> None:
    """Write results as a page that opens offline.

    RESULT is a result file of `dispatchgen run`, or what an interrupted run left; several stand in one page. The page
    is one file that loads nothing. With --base or --baseline it tells what became faster or slower; then there is one
    RESULT.

    \b
      dispatchgen report results.json --base before.json -o report.html --markdown summary.md
    """
    if base is not None and baseline is not None:
        raise click.UsageError("--base and --baseline exclude each other.")
    if (base is not None or baseline is not None) and len(results) > 1:
        raise click.UsageError("only one RESULT can be compared; `dispatchgen merge-results` makes one of shards.")
    if str(output) == "-" and str(markdown) == "-":
        raise click.UsageError("only one of --output and --markdown can go to standard output.")
    check_files((*results, *filter(None, (base, history))), {"--output": output, "--markdown": markdown})
    collect_nothing()
    from dispatchgen.files import write_if_changed
    from dispatchgen.report.markdown import markdown as markdown_text
    from dispatchgen.report.report import report
    from dispatchgen.results.load import load

    loaded = [load(path) for path in results]
    if len({each.id for each in loaded}) < len(loaded):
        raise click.UsageError("the same results were given more than once.")
    before, comparison = _comparison(loaded[0], base, baseline, manifest, force=force)
    over_time = _over_time(history, loaded)
    texts = {output: report(loaded, comparison=comparison, base=before, over_time=over_time)}
    if markdown is not None:
        texts[markdown] = markdown_text(loaded, comparison=comparison, base=before)
    for path, text in texts.items():
        if str(path) == "-":
            click.echo(text, nl=False)
        else:
            write_if_changed(path, text)


def _comparison(
    results: Results, base: Path | None, baseline: str | None, manifest: Path, *, force: bool
) -> tuple[Results, Comparison] | tuple[None, None]:
    """What results are compared with, and how they compare; None: with nothing."""
    if base is not None:
        from dispatchgen.comparison.compare import compare
        from dispatchgen.comparison.options import Options
        from dispatchgen.results.load import load

        before = load(base)
        if before.id == results.id:
            raise click.UsageError("--base: RESULT is the same run: there is nothing to compare.")
        return before, compare(before, results, Options(force=force))
    if baseline is not None:
        from dispatchgen.baseline.as_results import as_results
        from dispatchgen.baseline.find import find_baseline
        from dispatchgen.baseline.job import compare_with
        from dispatchgen.manifest import load_suite

        suite = load_suite(manifest)
        found = find_baseline(suite.root, baseline, results).baseline
        return as_results(found), compare_with(suite, found, results)
    return None, None


def _over_time(history: Path | None, results: Sequence[Results]) -> list[OverTime]:
    """What a history holds of the results' benchmarks; nothing without a history."""
    if history is None:
        return []
    from dispatchgen.report.from_history import from_history

    return from_history(history, results)
