"""`dispatchgen sweep`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from dispatchgen.cli.options import host_bin_dir_option, timeout_option
from dispatchgen.cli.outputs import check_files, json_option, print_tables, result_file
from dispatchgen.cli.progress import ConsoleObserver
from dispatchgen.cli.run_options import (
    build_dir_option,
    checked_settings,
    measuring_options,
    one_backend_options,
    suite_of_one_backend,
)
from dispatchgen.errors import CheckFailed, ManifestError, Place, Problem
from dispatchgen.files import write_if_changed
from dispatchgen.iree.process import end_as_interrupted
from dispatchgen.manifest.names import show
from dispatchgen.sweep import plot, table
from dispatchgen.sweep.schema import Sweep
from dispatchgen.sweep.sweep import Options, run_sweep


@click.command("sweep")
@click.argument("model", metavar="MODEL")
@click.option(
    "--dispatch",
    "dispatches",
    multiple=True,
    required=True,
    metavar="D",
    help="Dispatches of this name, IREE symbol, operation or pattern; may be given more than once.",
)
@click.option(
    "--dims",
    multiple=True,
    required=True,
    metavar="S=SIZES",
    help="Sizes of a symbol: 1..4096:x2, 16..256:+16, 1..8 or 64,128,200; may be given more than once.",
)
@one_backend_options
@click.option(
    "--data",
    type=click.Choice(["zeros", "random", "manifest"]),
    default="zeros",
    show_default=True,
    help="What the bindings hold; manifest: what it says, where that fits. Positions are in bounds.",
)
@json_option
@click.option(
    "--svg",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=result_file,
    metavar="FILE",
    help="Draw the curves; needs matplotlib.",
)
@measuring_options("point")
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Time of measuring for all points together, shared equally; instead of --min-time.",
)
@build_dir_option
@timeout_option("Time limit of each process.")
@host_bin_dir_option
def command(
    model: str,
    dispatches: tuple[str, ...],
    dims: tuple[str, ...],
    manifest: Path,
    backend: str | None,
    device: str | None,
    data: Any,
    json: Path | None,
    svg: Path | None,
    budget: float | None,
    build_dir: Path | None,
    timeout: float,
    iree_host_bin_dir: Path | None,
    **run_settings: Any,
) -> None:
    """Measure dispatches at many sizes without recompiling.

    MODEL is a model of the manifest. Each dispatch is compiled once; its sizes at each point come from evaluating the
    program, its workgroup count from the compiled executable. Symbols that no --dims names keep the size of the model's
    first shape. Points that the program rejects are named and left out.

    \b
      dispatchgen sweep mlp --dispatch matmul_Dx512x784_f32 --dims B=1..4096:x2 --svg matmul.svg
    """
    end_as_interrupted()
    if budget is not None and run_settings["min_time"] is not None:
        raise click.UsageError("--budget and --min-time exclude each other")
    if svg is not None:
        plot.check_available()
    settings = checked_settings(run_settings)
    check_files([manifest], {"--json": json, "--svg": svg})
    suite = suite_of_one_backend(manifest, model, backend, device)
    devices = suite.backends[0].devices
    if not devices:
        message = f"backend {show(suite.backends[0].name)} has no devices in the manifest: there is nothing to run on"
        raise ManifestError(Problem(message, Place(str(suite.manifest)), "`devices` of the backend"))
    options = Options(dispatches, dims, data, budget, settings, build_dir, timeout, iree_host_bin_dir)
    sweep = run_sweep(suite, devices[0], options, ConsoleObserver(Console(stderr=True)))
    _print(sweep, json, svg)
    failures = list(_failures(sweep))
    if failures:
        raise CheckFailed(*failures)


def _print(sweep: Sweep, json: Path | None, svg: Path | None) -> None:
    """Writes the files that were asked for, and prints the tables."""
    data = sweep.model_dump_json(indent=2) + "\n"
    files = {json: data}
    if svg is not None:
        files[svg] = plot.svg(sweep)
    for file, content in files.items():
        if file is not None and str(file) != "-":
            write_if_changed(file, content)
    to_stdout = [content for file, content in files.items() if str(file) == "-"]
    print_tables(table.render(sweep), stderr=bool(to_stdout))
    for content in to_stdout:
        click.echo(content, nl=False)


def _failures(sweep: Sweep) -> Iterator[Problem]:
    points = [point for curve in sweep.curves for point in curve.points]
    failed = sum(point.failure is not None for point in points)
    dispatches = sum(curve.failure is not None for curve in sweep.curves)
    if all(point.timing is None for point in points):
        yield Problem("nothing was measured")
        return
    if dispatches:
        yield Problem(f"{dispatches} of {len(sweep.curves)} dispatches could not be compiled")
    if failed:
        yield Problem(f"{failed} of {len(points)} points could not be measured")
