"""`dispatchgen nightly`: a preset from locks to report, with one exit code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.console import Console

from dispatchgen.cli.comparison_options import fail_on_option
from dispatchgen.cli.options import host_bin_dir_option, timeout_option
from dispatchgen.cli.outputs import print_tables
from dispatchgen.cli.progress import ConsoleObserver
from dispatchgen.cli.run_options import build_dir_option, checked_settings, measuring_options, parsed_by, rounds_options
from dispatchgen.errors import CheckFailed
from dispatchgen.iree.process import end_as_interrupted
from dispatchgen.manifest import DEFAULT_MANIFEST, load_suite
from dispatchgen.manifest.select import select
from dispatchgen.results.shard import parse_shard

if TYPE_CHECKING:
    from dispatchgen.comparison.conditions import Condition
    from dispatchgen.nightly.night import Judged, Night

_F = TypeVar("_F", bound=Callable[..., Any])

_TOOLS = ("iree-compile", "iree-benchmark-module", "iree-run-module")


def _tool_options(command: _F) -> _F:
    """The options by which builds name the tools that they found."""
    for name in reversed(_TOOLS):
        text = f"The {name} to use. Default: that of --iree-host-bin-dir."
        command = click.option(f"--{name}", type=click.Path(path_type=Path), metavar="PROGRAM", help=text)(command)
    return command


@click.command("nightly")
@click.argument("manifest", type=click.Path(path_type=Path), default=DEFAULT_MANIFEST)
@click.option("--preset", metavar="P", help="What to measure, and as the manifest says how. Default: everything.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where results, comparison and report go. Default: .dispatchgen/nightly/<preset> beside the manifest.",
)
@click.option("--baseline", metavar="NAME", help="Compare with this baseline. Default: the preset's.")
@partial(fail_on_option, default=())
@click.option(
    "--built",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="Measure what is built there, by CMake, Bazel or an earlier run. Default: it is built.",
)
@build_dir_option
@click.option("--jobs", "-j", type=click.IntRange(min=1), metavar="N", help="Processes of the build at a time.")
@rounds_options
@measuring_options("benchmark", finds_batches=True)
@click.option("--resume", is_flag=True, help="Go on where the last night was interrupted; anew where none was.")
@click.option(
    "--shard",
    callback=parsed_by(parse_shard),
    metavar="I/N",
    help="Measure only this part of N, and compare nothing: --results takes the parts.",
)
@click.option(
    "--results",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="RESULT",
    help="Measure nothing: compare and report these results, all parts of one night. May be given more than once.",
)
@timeout_option("Time limit of each process, and of the build without progress.")
@host_bin_dir_option
@_tool_options
@click.option("--renew", metavar="COMMAND", help="What renews the locks, for messages.")
@click.option("--save", metavar="COMMAND", help="What saves the baseline, for messages.")
def command(
    manifest: Path,
    preset: str | None,
    output: Path | None,
    baseline: str | None,
    conditions: tuple[Condition, ...],
    results: tuple[Path, ...],
    renew: str | None,
    save: str | None,
    **measuring: Any,
) -> None:
    """Check the locks, build, measure, compare with the baseline and report: one preset, one exit code.

    MANIFEST is the manifest or its folder. The exit code is 1 where a lock is stale, a benchmark cannot be built or
    measured, or is worse than the baseline allows; what can be measured is, and reported.

    In DIR are then results.json, report.html and report.md and, where there is a baseline, comparison.json,
    comparison.md and junit.xml.
    """
    from dispatchgen.nightly.night import judge, measure, take

    if results and (measuring["resume"] or measuring["shard"] is not None):
        raise click.UsageError("--results measures nothing: it excludes --resume and --shard.")
    end_as_interrupted()
    night = _night(manifest, preset, output, baseline, conditions)
    if results:
        problems = take(night, results)
    else:
        problems = measure(night, _options(night, **measuring), ConsoleObserver(Console(stderr=True)), renew)
    judged = judge(night, save)
    _print(judged)
    problems += judged.problems
    if problems:
        raise CheckFailed(*problems)


def _night(
    manifest: Path, name: str | None, output: Path | None, baseline: str | None, conditions: tuple[Condition, ...]
) -> Night:
    """What is to be done. Raises ManifestError."""
    from dispatchgen.baseline.job import FAIL_ON
    from dispatchgen.comparison.conditions import parse
    from dispatchgen.nightly.night import ALL, Night
    from dispatchgen.nightly.outputs import Outputs

    whole = load_suite(manifest)
    selected = select(whole, preset=name)
    preset = next((each for each in whole.presets if name in (each.name, each.id)), ALL)
    if baseline is not None:
        preset = replace(preset, baseline=baseline)
    if not conditions:
        conditions = FAIL_ON if preset.fail_on is None else tuple(map(parse, preset.fail_on))
    own = (whole.root / ".dispatchgen").absolute()
    outputs = Outputs(output.absolute()) if output is not None else Outputs(own / "nightly" / preset.id, own)
    return Night(whole, selected, preset, outputs, conditions)


def _options(
    night: Night,
    *,
    built: Path | None,
    build_dir: Path | None,
    jobs: int | None,
    budget: float | None,
    pin: Any,
    resume: bool,
    shard: Any,
    timeout: float,
    iree_host_bin_dir: Path | None,
    iree_compile: Path | None,
    iree_benchmark_module: Path | None,
    iree_run_module: Path | None,
    **run_settings: Any,
) -> Any:
    """How it is measured."""
    from dispatchgen.iree.tools import tools_at
    from dispatchgen.job import Options
    from dispatchgen.results.run import RunOptions

    programs = (iree_compile, iree_benchmark_module, iree_run_module)
    named = {name: path for name, path in zip(_TOOLS, programs, strict=True) if path is not None}
    folder = night.outputs.work if built is not None and build_dir is None else build_dir
    return Options(
        build_dir=folder,
        jobs=jobs,
        timeout=timeout,
        iree_host_bin_dir=iree_host_bin_dir,
        tools=tools_at(named, iree_host_bin_dir) if named else None,
        keep_locks=True,
        run_settings=checked_settings(run_settings),
        measuring=RunOptions(budget=budget, resume=resume, shard=shard),
        pin=pin,
        built=built,
    )


def _print(judged: Judged) -> None:
    """The comparison, where there is one, and what came out."""
    if judged.comparison is not None:
        from dispatchgen.comparison import table

        print_tables(table.render(judged.comparison), stderr=False)
    click.echo(judged.summary)
