"""`dispatchgen run`: the main job in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from dispatchgen.cli.options import host_bin_dir_option, timeout_option
from dispatchgen.cli.outputs import check_files, json_option, print_tables, result_file
from dispatchgen.cli.progress import ConsoleObserver
from dispatchgen.cli.run_options import (
    build_dir_option,
    caches_option,
    checked_settings,
    measuring_options,
    parsed_by,
    rounds_options,
)
from dispatchgen.errors import CheckFailed, DispatchgenError, Problem
from dispatchgen.iree.process import end_as_interrupted
from dispatchgen.job import Options, run_job
from dispatchgen.manifest import DEFAULT_MANIFEST, load_suite
from dispatchgen.manifest.select import select, select_devices
from dispatchgen.results import table
from dispatchgen.results.pin import Pin
from dispatchgen.results.run import RunOptions
from dispatchgen.results.schema import Shard
from dispatchgen.results.shard import parse_shard
from dispatchgen.results.verdict import verdict


@click.command("run")
@click.argument("manifest", type=click.Path(path_type=Path), default=DEFAULT_MANIFEST)
@click.option("--model", "models", multiple=True, metavar="M", help="Only this model; may be given more than once.")
@click.option(
    "--backend", "backends", multiple=True, metavar="B", help="Only this backend; may be given more than once."
)
@click.option("--preset", metavar="P", help="Only what this preset of the manifest selects.")
@click.option(
    "--shape",
    "shapes",
    multiple=True,
    metavar="SHAPE",
    help="Only this shape: a label, or sizes that need not be listed (B=77,S=128); may be given more than once.",
)
@click.option(
    "--device", "devices", multiple=True, metavar="D", help="Only this device of the manifest, by key or URI."
)
@click.option(
    "--substitution",
    "substitutions",
    multiple=True,
    metavar="S",
    help="Only this substitution or combination, beside the original; may be given more than once.",
)
@json_option
@build_dir_option
@click.option("--jobs", "-j", type=click.IntRange(min=1), metavar="N", help="Processes of the build at a time.")
@rounds_options
@measuring_options("benchmark", finds_batches=True)
@caches_option
@click.option("--resume", is_flag=True, help="Go on with a run that was interrupted.")
@click.option("--no-whole-models", is_flag=True, help="Measure dispatches only.")
@click.option(
    "--shard",
    callback=parsed_by(parse_shard),
    metavar="I/N",
    help="Only the I-th of N parts; `merge-results` puts their results together.",
)
@click.option(
    "--built",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Lock and build nothing: run what is built in this binary folder of CMake or Bazel, or build folder.",
)
@click.option(
    "--beside",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Measure also the last build of another build folder, round by round in turns.",
)
@click.option(
    "--beside-json",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=result_file,
    metavar="FILE",
    help="Where results of --beside go. Default: results.json in that folder.",
)
@click.option("--with-host-name", is_flag=True, help="Name the machine in the results.")
@timeout_option("Time limit of each process, and of the build without progress.")
@host_bin_dir_option
def command(
    manifest: Path,
    models: tuple[str, ...],
    backends: tuple[str, ...],
    preset: str | None,
    shapes: tuple[str, ...],
    devices: tuple[str, ...],
    substitutions: tuple[str, ...],
    json: Path | None,
    build_dir: Path | None,
    jobs: int | None,
    budget: float | None,
    pin: Pin,
    resume: bool,
    no_whole_models: bool,
    shard: Shard | None,
    built: Path | None,
    beside: Path | None,
    beside_json: Path | None,
    with_host_name: bool,
    timeout: float,
    iree_host_bin_dir: Path | None,
    **run_settings: Any,
) -> None:
    """Lock, build and run the benchmarks and print a table of the results.

    MANIFEST is the manifest or its folder. A dispatch that does not compile or run is listed with the reason and makes
    the exit code 1; the rest is measured.

    Everything is measured in rounds, each time by a process of its own. The results are in `.dispatchgen/results.json`,
    and until the end, what is measured in `results.json.partial`.
    """
    end_as_interrupted()
    whole = load_suite(manifest)
    settings = checked_settings(run_settings)
    selected = select_devices(select(whole, models, backends, preset, shapes), devices)
    if beside_json is not None and beside is None:
        raise click.UsageError("--beside-json: there is nothing --beside.")
    if substitutions and any(model.sizes for model in selected.models):
        raise click.UsageError("--substitution: substitutes run at listed shapes only; give labels with --shape.")
    check_files([whole.manifest], {"--json": json, "--beside-json": beside_json})
    to_stdout = str(json) == "-"
    options = Options(
        build_dir=build_dir,
        jobs=jobs,
        timeout=timeout,
        iree_host_bin_dir=iree_host_bin_dir,
        run_settings=settings,
        substitutions=substitutions,
        measuring=RunOptions(budget, resume=resume, shard=shard, whole_models=not no_whole_models),
        file=None if to_stdout else json,
        pin=pin,
        with_host_name=with_host_name,
        built=built,
        beside=beside,
        beside_file=beside_json,
    )
    outcome = run_job(whole, selected, options, ConsoleObserver(Console(stderr=True)))
    for number, measured in enumerate(outcome.measured):
        if number:
            print_tables(Text(f"beside it, {beside}:\n", style="bold"), stderr=to_stdout)
        print_tables(table.render(measured.results), stderr=to_stdout)
    if to_stdout:
        click.echo(outcome.measured[0].text, nl=False)
    if outcome.problems:
        raise DispatchgenError(*outcome.problems)
    failures = [
        Problem(text) for each in outcome.measured for text in verdict(each.results, devices_named=bool(devices))
    ]
    if failures:
        raise CheckFailed(*dict.fromkeys(failures))
