"""`dispatchgen merge-results`."""

from __future__ import annotations

from pathlib import Path

import click

from dispatchgen.cli.outputs import check_files, result_file
from dispatchgen.errors import CheckFailed, DispatchgenError, Place, Problem, ResultsError


@click.command("merge-results")
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RESULT...")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    callback=result_file,
    metavar="FILE",
    help="The result file to write; -: to stdout.",
)
@click.option("--partial", is_flag=True, help="Allow that shards are missing.")
@click.option("--force", is_flag=True, help="Allow that machines differ.")
def command(results: tuple[Path, ...], output: Path, *, partial: bool, force: bool) -> None:
    """Write one result file of those that the shards of a suite left.

    It has what one run would have recorded. Where results have the same rows, of the same modules, their rounds are put
    together. The exit code is 1 where shards are missing, or nothing was measured.
    """
    check_files(results, {"--output": output})
    from dispatchgen.files import write_if_changed
    from dispatchgen.results.load import load_full
    from dispatchgen.results.merge import merge
    from dispatchgen.results.write import text_of

    problems: list[Problem] = []
    files = []
    for path in results:
        try:
            files.append((str(path), load_full(path)))
        except DispatchgenError as error:
            problems += error.problems
    if problems:
        raise ResultsError(*problems)
    merged = merge(files, force=force)
    to_stdout = str(output) == "-"
    if to_stdout:
        click.echo(text_of(merged.results), nl=False)
    else:
        write_if_changed(output, text_of(merged.results))
        click.echo(f"wrote {output}", err=True)
    covered = [call.coverage for call in merged.results.calls]
    measured, dispatches = sum(each.measured for each in covered), sum(each.dispatches for each in covered)
    click.echo(f"{measured} of {dispatches} dispatches measured, in {len(covered)} calls", err=to_stdout)
    if not any(call.whole_model.timing for call in merged.results.calls) and not measured:
        raise CheckFailed(Problem("nothing was measured", Place(str(output))))
    if merged.missing:
        missing = ", ".join(f"{shard.index}/{shard.count}" for shard in merged.missing)
        click.echo(f"missing: shards {missing}", err=True)
        if not partial:
            raise CheckFailed(Problem(f"shards are missing: {missing}", hint="--partial"))
