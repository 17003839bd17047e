"""`dispatchgen run`: the main job in one command."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from dispatchgen.cli.options import host_bin_dir_option, timeout_option
from dispatchgen.cli.progress import ConsoleObserver
from dispatchgen.cli.run_options import (
    build_dir_option,
    checked_settings,
    json_option,
    measuring_options,
    print_tables,
)
from dispatchgen.errors import CheckFailed, DispatchgenError, Problem
from dispatchgen.files import write_if_changed
from dispatchgen.job import Options, run_job
from dispatchgen.manifest import DEFAULT_MANIFEST, load_suite
from dispatchgen.manifest.select import select, select_devices
from dispatchgen.results import table
from dispatchgen.results.schema import Results
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
@measuring_options("benchmark")
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
    timeout: float,
    iree_host_bin_dir: Path | None,
    **run_settings: Any,
) -> None:
    """Lock, build and run the benchmarks and print a table of the results.

    MANIFEST is the manifest or its folder. A dispatch that does not compile or run is listed with the reason and makes
    the exit code 1; the rest is measured.
    """
    # A CI system that cancels a job sends SIGTERM: to be handled as Ctrl-C is, so that no process is left behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    whole = load_suite(manifest)
    settings = checked_settings(run_settings)
    selected = select_devices(select(whole, models, backends, preset, shapes), devices)
    if substitutions and any(model.sizes for model in selected.models):
        raise click.UsageError("--substitution: substitutes run at listed shapes only; give labels with --shape.")
    options = Options(build_dir, jobs, timeout, iree_host_bin_dir, settings, substitutions=substitutions)
    outcome = run_job(whole, selected, options, ConsoleObserver(Console(stderr=True)))
    _print(outcome.results, json)
    if outcome.problems:
        raise DispatchgenError(*outcome.problems)
    failures = [Problem(text) for text in verdict(outcome.results, devices_named=bool(devices))]
    if failures:
        raise CheckFailed(*failures)


def _print(results: Results, file: Path | None) -> None:
    """Writes the data where it was asked for, and prints the tables, which may fail."""
    data = results.model_dump_json(indent=2) + "\n"
    data_to_stdout = str(file) == "-"
    if file is not None and not data_to_stdout:
        write_if_changed(file, data)
    print_tables(table.render(results), stderr=data_to_stdout)
    if data_to_stdout:
        click.echo(data, nl=False)
