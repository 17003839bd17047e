"""`dispatchgen run`: the main job in one command."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError
from rich.console import Console

from dispatchgen.buildtree.build import BuildReport, build, check_paths, configure, write_sources
from dispatchgen.buildtree.exclusive import exclusive
from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.buildtree.programs import BuildPrograms, find_build_programs
from dispatchgen.buildtree.state import state_after
from dispatchgen.cli.progress import say, showing
from dispatchgen.errors import CheckFailed, DispatchgenError, ManifestError, Place, Problem
from dispatchgen.files import write_if_changed
from dispatchgen.iree.configure import DEFAULT_TIMEOUT
from dispatchgen.iree.tools import HOST_BIN_DIR, Tools, explicit_folder, find_tools, wheel_version
from dispatchgen.lock.schema import Lock
from dispatchgen.lock.update import Change, raise_all, update_locks
from dispatchgen.manifest import DEFAULT_MANIFEST, load_suite
from dispatchgen.manifest.names import did_you_mean
from dispatchgen.manifest.names import show as show_name
from dispatchgen.manifest.schema import RunSection
from dispatchgen.manifest.select import select
from dispatchgen.manifest.suite import Suite
from dispatchgen.render.cmake import render_cmake
from dispatchgen.results import table
from dispatchgen.results.collect import Plan, Programs, collect
from dispatchgen.results.schema import BuildFailure, Results
from dispatchgen.results.verdict import verdict

#: Aggregate target of all suites that the generated CMakeLists.txt holds.
_TARGET = "iree-dispatch-benchmarks"
#: Width of tables that do not go to a terminal, in characters: names are not to be broken.
_PLAIN_WIDTH = 240


@dataclass(frozen=True)
class _Request:
    """What was given on the command line."""

    manifest: Path
    models: tuple[str, ...]
    backends: tuple[str, ...]
    preset: str | None
    shapes: tuple[str, ...]
    devices: tuple[str, ...]
    json: Path | None
    build_dir: Path | None
    jobs: int | None
    min_time: str | None
    repetitions: int | None
    batch_size: int | None
    timeout: float
    iree_host_bin_dir: Path | None


@click.command("run")
@click.argument("manifest", type=click.Path(path_type=Path), default=DEFAULT_MANIFEST)
@click.option("--model", "models", multiple=True, metavar="M", help="Only this model; may be given more than once.")
@click.option(
    "--backend", "backends", multiple=True, metavar="B", help="Only this backend; may be given more than once."
)
@click.option("--preset", metavar="P", help="Only what this preset of the manifest selects.")
@click.option("--shape", "shapes", multiple=True, metavar="LABEL", help="Only this shape; may be given more than once.")
@click.option(
    "--device", "devices", multiple=True, metavar="D", help="Only this device of the manifest, by key or URI."
)
@click.option(
    "--json", type=click.Path(path_type=Path), metavar="FILE", help="Write the results as data; -: to stdout."
)
@click.option(
    "--build-dir", type=click.Path(path_type=Path), metavar="DIR", help="Default: .dispatchgen beside MANIFEST."
)
@click.option("--jobs", "-j", type=click.IntRange(min=1), metavar="N", help="Processes of the build at a time.")
@click.option("--min-time", metavar="T", help="At least this long per benchmark: 0.5s, or 100x for 100 runs.")
@click.option("--repetitions", type=click.IntRange(min=1), metavar="N", help="Repeat each benchmark; take the median.")
@click.option("--batch-size", type=click.IntRange(min=1), metavar="N", help="Dispatches per timed call.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=DEFAULT_TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of each process, and of the build without progress.",
)
@click.option(
    "--iree-host-bin-dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help=f"Folder of IREE's programs. Default: {HOST_BIN_DIR}, this Python's wheels, PATH.",
)
def command(**options: Any) -> None:
    """Lock, build and run the benchmarks and print a table of the results.

    MANIFEST is the manifest or its folder. A dispatch that does not compile or run is listed with the reason and makes
    the exit code 1; the rest is measured.
    """
    # A CI system that cancels a job sends SIGTERM: to be handled as Ctrl-C is, so that no process is left behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _run(_Request(**options), Console(stderr=True))


def _run(request: _Request, console: Console) -> None:
    """Does it all; `console` is for what is neither a table nor data.

    Raises:
      DispatchgenError: the input is wrong; where that is true of some models only, after the others were run.
      CheckFailed: something did not compile or run, or nothing was measured.
    """
    whole = load_suite(request.manifest)
    settings = _settings(request)
    suite = _with_devices(
        select(whole, request.models, request.backends, request.preset, request.shapes), request.devices
    )
    tools, programs = _find_programs(request)
    locks, unlocked = _lock(request, console, tools, whole, suite)
    problems = [problem for of_model in unlocked.values() for problem in of_model]
    suite = replace(suite, models=tuple(model for model in suite.models if model.id in locks))
    if not suite.models:
        raise DispatchgenError(*problems)
    timed = replace(suite, models=tuple(replace(m, run=replace(m.run, **settings)) for m in suite.models))
    folder = (request.build_dir or suite.root / ".dispatchgen").absolute()
    tree = BuildTree(folder / "build")
    try:
        check_paths(folder, suite.root.absolute())
        with exclusive(folder):
            report = _build(request, console, programs, suite, locks, tree)
            state = state_after(programs, tree, report, locks)
            with showing(console, "running") as show:
                results = collect(Plan(timed, locks), _runner(tools, request.timeout), tree, state, show)
    except DispatchgenError as error:
        raise_all([*([DispatchgenError(*problems)] if problems else []), error])
        raise
    results = results.model_copy(update={"build_failures": tuple(_build_failures(report, unlocked))})
    _print(results, request)
    if problems:
        raise DispatchgenError(*problems)
    failures = [Problem(text) for text in verdict(results, devices_named=bool(request.devices))]
    if failures:
        raise CheckFailed(*failures)


def _settings(request: _Request) -> dict[str, Any]:
    """The run settings that replace the manifest's. Raises BadParameter by the manifest's own rules."""
    given = {"min_time": request.min_time, "repetitions": request.repetitions, "batch_size": request.batch_size}
    settings = {name: value for name, value in given.items() if value is not None}
    try:
        RunSection.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        option = str(first["loc"][0]).replace("_", "-")
        raise click.BadParameter(first["msg"].removeprefix("Value error, "), param_hint=f"--{option}") from None
    return settings


def _with_devices(suite: Suite, wanted: Sequence[str]) -> Suite:
    """The suite with these devices (by key or URI) only, and the backends and models that run on them.

    Raises ManifestError for a device that there is not.
    """
    if not wanted:
        return suite
    known = {name for backend in suite.backends for device in backend.devices for name in (device.id, device.uri)}
    place = Place(str(suite.manifest))
    unknown = [
        Problem(f"there is no device {show_name(name)} among those selected", place, did_you_mean(name, sorted(known)))
        for name in dict.fromkeys(wanted)
        if name not in known
    ]
    if unknown:
        raise ManifestError(*unknown)
    narrowed = (
        replace(backend, devices=tuple(d for d in backend.devices if d.id in wanted or d.uri in wanted))
        for backend in suite.backends
    )
    backends = tuple(backend for backend in narrowed if backend.devices)
    ids = {backend.id for backend in backends}
    models = (replace(model, backends=tuple(b for b in model.backends if b in ids)) for model in suite.models)
    return replace(suite, backends=backends, models=tuple(model for model in models if model.backends))


def _find_programs(request: _Request) -> tuple[Tools, BuildPrograms]:
    """IREE's programs, and CMake and Ninja. Raises ToolError with all that is missing."""
    errors: list[DispatchgenError] = []
    tools = programs = None
    try:
        tools = find_tools(request.iree_host_bin_dir)
    except DispatchgenError as error:
        errors.append(error)
    try:
        programs = find_build_programs()
    except DispatchgenError as error:
        errors.append(error)
    raise_all(errors)
    assert tools is not None and programs is not None
    return tools, programs


def _lock(
    request: _Request, console: Console, tools: Tools, whole: Suite, suite: Suite
) -> tuple[dict[str, Lock], dict[str, Sequence[Problem]]]:
    """The locks of the models to run and the problems of those that have none, both by the model's id.

    A lock is of a whole model: it is made for all backends of the manifest, not only for those that are run.
    """
    locks: dict[str, Lock] = {}
    problems: dict[str, Sequence[Problem]] = {}
    wanted = {model.id for model in suite.models}
    models = [model for model in whole.models if model.id in wanted]
    present = {model.id for model in models if whole.lock_path(model).exists()}
    with showing(console, "locking") as show:
        updates = update_locks(
            tools,
            whole,
            models,
            jobs=request.jobs,
            timeout=request.timeout,
            on_start=lambda model: show(len(locks), len(models), model.name),
        )
        with closing(updates):
            for update in updates:
                for problem in update.unreadable:
                    say(console, f"{update.model.name}: the names in the lock are lost: {problem.message}")
                if update.lock is None:
                    problems[update.model.id] = update.problems
                else:
                    locks[update.model.id] = update.lock
                if update.change in (Change.WRITTEN, Change.SAME):
                    verb = "renewed the stale lock" if update.model.id in present else "wrote"
                    say(console, f"{update.model.name}: {verb} {whole.lock_path(update.model)}")
    return locks, problems


def _build(
    request: _Request,
    console: Console,
    programs: BuildPrograms,
    suite: Suite,
    locks: Mapping[str, Lock],
    tree: BuildTree,
) -> BuildReport:
    """Configures and builds the benchmarks, as far as they can be built."""
    folder = tree.binary_dir.parent
    write_sources(folder, render_cmake(suite, locks))
    definitions = [f"DISPATCHGEN_PACKAGE_DIR={suite.root.absolute()}", f"Python3_EXECUTABLE={sys.executable}"]
    host_bin_dir = explicit_folder(request.iree_host_bin_dir)
    if host_bin_dir is not None:
        definitions.append(f"IREE_HOST_BIN_DIR={host_bin_dir.absolute()}")
    with showing(console, "configuring the build") as show:
        show(0, None, "")
        configure(programs, folder, tree, definitions, request.timeout)
    with showing(console, "building") as show:
        return build(
            programs,
            tree,
            [_TARGET],
            jobs=request.jobs,
            timeout=request.timeout,
            on_progress=lambda event: show(event.finished, event.total, event.description),
        )


def _runner(tools: Tools, timeout: float) -> Programs:
    """What runs the benchmarks. iree-benchmark-module does not say its version: only its wheel does."""
    from_wheel = tools.iree_benchmark_module.parent.name == "_runtime_libs"
    return Programs(
        iree_benchmark_module=tools.iree_benchmark_module,
        compiler_version=tools.compiler_version,
        runtime_version=wheel_version("iree._runtime_libs") if from_wheel else None,
        timeout=timeout,
    )


def _build_failures(report: BuildReport, unlocked: Mapping[str, Sequence[Problem]]) -> Iterator[BuildFailure]:
    for model, problems in unlocked.items():
        for problem in problems:
            yield BuildFailure(step="lock", model=model, backend=None, dispatch=None, reason=problem.message)
    for failure in report.failures:
        step = failure.step
        yield BuildFailure(
            step=step.step, model=step.model, backend=step.backend, dispatch=step.dispatch, reason=failure.reason
        )


def _print(results: Results, request: _Request) -> None:
    """Prints the tables, and writes the data where it was asked for."""
    data = results.model_dump_json(indent=2) + "\n"
    data_to_stdout = str(request.json) == "-"
    tables = Console(stderr=data_to_stdout)
    if not tables.is_terminal and "COLUMNS" not in os.environ:
        tables = Console(stderr=data_to_stdout, width=_PLAIN_WIDTH)
    tables.print(table.render(results), highlight=False)
    if data_to_stdout:
        click.echo(data, nl=False)
    elif request.json is not None:
        write_if_changed(request.json, data)
