"""The job of `dispatchgen sweep`: evaluate, compile once, measure every point."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from dispatchgen import __version__
from dispatchgen.errors import DispatchgenError, ModelError, Place, ToolError
from dispatchgen.extract.data import DataPlan
from dispatchgen.extract.program import Program
from dispatchgen.extract.schema import BackendDispatches
from dispatchgen.files import work_folder, write_if_changed
from dispatchgen.iree import ir
from dispatchgen.iree.configure import configure, import_source, source_path
from dispatchgen.iree.tools import Tools, find_programs, find_tools, program_version
from dispatchgen.lock.chosen import with_locked_shapes
from dispatchgen.lock.make import raise_all
from dispatchgen.lock.store import read_lock
from dispatchgen.manifest.suite import Backend, Device, Model, Shape, Suite
from dispatchgen.observer import Observer, Show
from dispatchgen.ownership import IGNORE_ALL, check_build_folder
from dispatchgen.results.benchmark import Runner
from dispatchgen.results.frame import device_used
from dispatchgen.results.settings import settings_of_one_round
from dispatchgen.sweep.compiled import Compiler
from dispatchgen.sweep.data import DataKind, plan_of
from dispatchgen.sweep.dims import Grid, grid_of, parse_dims
from dispatchgen.sweep.executable import Runnable, prepare
from dispatchgen.sweep.measure import Measured, Measurer, measure_all, sizes
from dispatchgen.sweep.points import Sized, Track, evaluate_points, track
from dispatchgen.sweep.schema import Curve, LeftOut, Sweep
from dispatchgen.workbench.session import Subject


@dataclass(frozen=True)
class Options:
    """What is swept, and how."""

    dispatches: Sequence[str]  #: Names, operations or patterns.
    dims: Sequence[str]  #: As `parse_dims` takes them.
    data: DataKind = "zeros"
    budget: float | None = None  #: Seconds of measuring, shared by all points; None: as the run settings say.
    run_settings: Mapping[str, Any] | None = None  #: Fields of RunSettings that replace the manifest's.
    build_dir: Path | None = None  #: None: `.dispatchgen` in the suite's folder.
    timeout: float = 600.0  #: Of each process, in seconds.
    iree_host_bin_dir: Path | None = None


def run_sweep(suite: Suite, device: Device, options: Options, observer: Observer) -> Sweep:
    """Measures dispatches of a model at all points.

    Args:
      suite: One model on one backend.
      device: Where to run.
      options: The rest.
      observer: Is told how far it is.

    Raises:
      DispatchgenError: the arguments are wrong, nothing can be compiled, or the device is not there. A point that
        cannot be measured is in the result with the reason.
    """
    (model,), (backend,) = suite.models, suite.backends
    dims, place = parse_dims(options.dims), Place(str(suite.manifest), model.line)
    if model.auto is None:
        grid_of(model, dims, place)  # what is wrong is said before anything is compiled
    path = suite.lock_path(model)
    lock = read_lock(path) if path.exists() else None
    cache = (options.build_dir or suite.root / ".dispatchgen").absolute()
    check_build_folder(cache)
    write_if_changed(cache / ".gitignore", IGNORE_ALL)
    tools = find_tools(options.iree_host_bin_dir)
    program = find_programs(["iree-benchmark-executable"], options.iree_host_bin_dir)["iree-benchmark-executable"]
    with work_folder() as folder:
        with observer.stage("configuring") as show_progress:
            show_progress(0, None, model.name)
            source = import_source(tools, suite, model, folder, options.timeout)
            subject = Subject(tools, suite, model, backend, source, folder, options.timeout)
            configured = configure(tools, suite, model, backend, folder, options.timeout, source)
        with ir.read_module(configured, tools.compiler_version) as module:
            parts = Program(module)
            subject = replace(subject, model=with_locked_shapes(parts, model, source_path(suite, model), lock))
            grid = grid_of(subject.model, dims, place)
            locked = lock.backends.get(backend.id) if lock is not None else None
            data = plan_of(options.data, subject, parts)
            job = _Job(subject, tools, program, parts, grid, locked, data, device, options, cache / "sweep")
            return job.run(observer)


@dataclass(frozen=True)
class _Job:
    """A sweep of a configured module."""

    subject: Subject
    tools: Tools
    iree_benchmark_executable: Path
    program: Program
    grid: Grid
    locked: BackendDispatches | None  #: Dispatches have its names.
    data: DataPlan | None
    device: Device
    options: Options
    cache: Path

    @property
    def model(self) -> Model:
        return self.subject.model

    @property
    def backend(self) -> Backend:
        return self.subject.backend

    def run(self, observer: Observer) -> Sweep:
        """Does it all."""
        with observer.stage("evaluating") as show_progress:
            show_progress(0, None, self.model.name)
            evaluated = evaluate_points(
                self.program,
                self.model,
                self.backend.id,
                self.grid.shapes,
                self.locked,
                with_fills=self.options.data == "manifest",
            )
            tracks = [track(evaluated, dispatch) for dispatch in evaluated.select(self.options.dispatches)]
        with observer.stage("compiling") as show_progress:
            prepared = self._prepare(tracks, show_progress)
        started = datetime.datetime.now(datetime.timezone.utc)
        measurer = self._measurer(sum(each.distinct for each in prepared), self.subject.folder)
        with observer.stage("measuring") as show_progress:
            measured = _measure(measurer, prepared, show_progress)
        hosts = [each.host for of_track in measured for each in of_track if each.host is not None]
        return Sweep(
            dispatchgen=__version__,
            compiler=self.tools.compiler_version,
            runtime=program_version(self.iree_benchmark_executable),
            started=started.isoformat(timespec="seconds"),
            host=hosts[0] if hosts else None,
            model=self.model.id,
            backend=self.backend.id,
            device=device_used(self.device),
            settings=measurer.runner.settings,
            dims={dim.symbol: dim.sizes for dim in self.grid.dims},
            fixed=dict(self.grid.fixed),
            curves=tuple(_curve(each, points) for each, points in zip(prepared, measured, strict=True)),
            rejected=_left_out(evaluated.rejected),
        )

    def _prepare(self, tracks: Sequence[Track], show_progress: Show) -> list[_Prepared]:
        """Compiles the executables. Raises DispatchgenError where none of them can be run."""
        subject = self.subject
        root = subject.suite.root
        compiler = Compiler(self.tools, self.model, self.backend, subject.flags(), root, self.cache, subject.timeout)
        prepared: list[_Prepared] = []
        errors: list[DispatchgenError] = []
        for number, each in enumerate(tracks):
            show_progress(number, len(tracks), each.dispatch.name)
            try:
                prepared.append(_Prepared(each, prepare(compiler, self.program, each)))
            except (ModelError, ToolError) as error:
                prepared.append(_Prepared(each, failure=error.problems[0].message))
                errors.append(error)
        if len(errors) == len(tracks):
            raise_all(errors)
        return prepared

    def _measurer(self, distinct: int, folder: Path) -> Measurer:
        settings = settings_of_one_round(replace(self.model.run, **dict(self.options.run_settings or {})))
        if self.options.budget is not None:
            seconds = self.options.budget / max(distinct, 1) / settings.repetitions
            settings = settings.model_copy(update={"min_time": f"{seconds:.4f}s"})
        runner = Runner(self.iree_benchmark_executable, self.device, settings, self.options.timeout)
        return Measurer(runner, self.tools.iree_run_module, self.data, folder)


@dataclass(frozen=True)
class _Prepared:
    """A dispatch at all points, and what runs it or why nothing can."""

    track: Track
    runnable: Runnable | None = None
    failure: str | None = None

    @property
    def distinct(self) -> int:
        """How many measurements there are to make."""
        benchmarks = [sized.benchmark for sized in self.track.sized]
        return len({sizes(each) for each in benchmarks if self.runnable and self.runnable.may_run(each.workload)})


def _measure(measurer: Measurer, prepared: Sequence[_Prepared], show_progress: Show) -> list[list[Measured]]:
    """The points of each dispatch that can be run; none of the others."""
    total, started = sum(len(each.track.sized) for each in prepared if each.runnable), 0

    def on_start(track: Track, sized: Sized) -> None:
        nonlocal started
        show_progress(started, total, f"{track.dispatch.name} at {sized.shape.label}")
        started += 1

    return [
        measure_all(measurer, each.runnable, each.track.sized, partial(on_start, each.track)) if each.runnable else []
        for each in prepared
    ]


def _curve(prepared: _Prepared, measured: Sequence[Measured]) -> Curve:
    dispatch = prepared.track.dispatch
    return Curve(
        dispatch=dispatch.name,
        operation=dispatch.operation,
        executable=dispatch.executable,
        variant=dispatch.variant,
        export=dispatch.export,
        content=dispatch.content,
        points=tuple(each.point for each in measured),
        left_out=_left_out(prepared.track.left_out),
        failure=prepared.failure,
    )


def _left_out(points: Sequence[tuple[Shape, str]]) -> tuple[LeftOut, ...]:
    return tuple(LeftOut(symbols=dict(shape.symbols), reason=reason) for shape, reason in points)
