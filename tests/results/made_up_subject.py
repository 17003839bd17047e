"""Models on a device whose builds are made up: only what is read of them is there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dispatchgen.agreement.run import Checker
from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.buildtree.state import BuildState
from dispatchgen.extract.schema import BackendDispatches, Benchmark, Call, Dispatch, Skipped
from dispatchgen.lock.schema import Lock, MadeFrom
from dispatchgen.manifest.suite import Backend, Device, Model, Source, Suite
from dispatchgen.results.benchmark import Runner
from dispatchgen.results.fill import fill
from dispatchgen.results.frame import call_frame
from dispatchgen.results.measurements import Measured, Measurements, RoundSample
from dispatchgen.results.plan import Plan
from dispatchgen.results.proof import Built, Examined, ExaminedModel, Proofs
from dispatchgen.results.schema import CallResult, Compiled, Results, Settings, Timing
from dispatchgen.results.subject import Subject
from dispatchgen.results.task import Sample, Target
from dispatchgen.selection.variants import Variant
from made_up_results import results

CALL = Call(name="B2", function="main", shape="B2", symbols={"B": 2}, inputs=("2x4xf32",))
DEVICE = Device("sync", "local-sync")
SETTINGS = Settings(min_time=None, repetitions=1, batch_size=1)
COMPILED = Compiled(seconds=None, peak_bytes=None, size=1, sha256="0" * 64)


def timing(seconds: float) -> Timing:
    """The timing of one round."""
    return Timing(
        seconds=seconds,
        cpu_seconds=seconds,
        rounds=(0,),
        at=(0.0,),
        fastest=(seconds,),
        real=((seconds,),),
        cpu=((seconds,),),
        iterations=1,
    )


def dispatch(name: str, **counts: Mapping[str, int | None]) -> Dispatch:
    """A dispatch with a benchmark `<name>__<suffix>` for each keyword, with these counts per call."""
    return Dispatch(
        name=name,
        operation=f"{name}_f32",
        executable=f"main_{name}",
        variant="cpu",
        export=f"main_{name}_f32",
        content="0" * 64,
        written=(True,),
        benchmarks=tuple(
            Benchmark(name=f"{name}__{suffix}", workload=(2,), constants=(), bindings=(32,), counts=dict(of_calls))
            for suffix, of_calls in counts.items()
        ),
    )


def subject(
    dispatches: tuple[Dispatch, ...],
    *,
    calls: tuple[Call, ...] = (CALL,),
    skipped: tuple[Skipped, ...] = (),
    uncounted: tuple[Skipped, ...] = (),
    variants: tuple[Variant, ...] = (),
    examined: Mapping[tuple[str, str], Examined] | None = None,
    examined_models: Mapping[str, ExaminedModel] | None = None,
    failures: Mapping[str | None, str] | None = None,
    only_variants: bool = False,
    tree: BuildTree | None = None,
    program: Path = Path("/nonexistent/iree-benchmark-module"),
    timeout: float | None = None,
) -> Subject:
    """Model `m` on backend `cpu`.

    Args:
      examined: What substitutes are found to be; those that are not named differ from the original.
      examined_models: The same of whole models.
      failures: Why modules cannot be run, by the dispatch's name; None: the whole model.
    """
    tree = tree or BuildTree(Path("/nonexistent/build"))
    model = Model("m", "m", Source("m.mlir", "mlir"), backends=("cpu",))
    suite = Suite(Path("/nonexistent/benchmarks.yaml"), (Backend("cpu", "cpu", "local", devices=(DEVICE,)),), (model,))
    index = BackendDispatches(backend="cpu", dispatches=dispatches, skipped=skipped, uncounted=uncounted)
    made_from = MadeFrom(source="", settings={}, compiler="")
    lock = Lock(model="m", made_from=made_from, entry=None, calls=calls, backends={"cpu": index})
    broken = failures or {}
    state = BuildState(modules={("m", "cpu", name): reason for name, reason in broken.items()})
    different = {(each.id, target.dispatch.name): Examined() for each in variants for target in each.targets}
    return Subject(
        plan=Plan(suite, {"m": lock}, {("m", "cpu"): variants}, variants_only=only_variants),
        built=Built(tree, state, "m", "cpu"),
        model=model,
        index=index,
        proofs=Proofs(
            {**different, **(examined or {})},
            {**{each.id: ExaminedModel() for each in variants}, **(examined_models or {})},
        ),
        runner=Runner(program, DEVICE, SETTINGS, timeout),
        checker=Checker(program, DEVICE.uri),
        compiled=lambda name, variant: None if variant is None and name in broken else COMPILED,
        work=tree,
    )


#: Seconds, or why there are none, by kind, variant and benchmark; of whole models, the call stands for the benchmark.
Times = Mapping[tuple[str, str, str], float | str]


def measurements(times: Times) -> Measurements:
    """What one round measured of `subject`."""

    def measured(time: float | str) -> Measured:
        if isinstance(time, str):
            return Measured(failure=time)
        return Measured((RoundSample(0, 0.0, 1, Sample((time,), (time,), 1)),))

    return Measurements(
        {
            (Target("m", "cpu", "sync", "model" if kind == "model" else "dispatch", variant), name): measured(time)
            for (kind, variant, name), time in times.items()
        }
    )


def filled(subject: Subject, times: Times, call: Call = CALL) -> CallResult:
    """The result of a call."""
    (found,) = whole(subject, times, call).calls
    return found


def whole(subject: Subject, times: Times, call: Call = CALL) -> Results:
    """The results of a call alone."""
    return fill(results([call_frame(subject, call)]), measurements(times))


def result(
    dispatches: tuple[Dispatch, ...],
    timings: Mapping[str, float],
    *,
    failures: Mapping[str, str] | None = None,
    model: float | None = 10.0,
    skipped: tuple[Skipped, ...] = (),
    uncounted: tuple[Skipped, ...] = (),
    call: Call = CALL,
) -> CallResult:
    """A call of these dispatches without substitutions, by the benchmark's name."""
    times: dict[tuple[str, str, str], float | str] = {("dispatch", "", name): time for name, time in timings.items()}
    times |= {("dispatch", "", name): reason for name, reason in (failures or {}).items()}
    times["model", "", call.name] = "crashed" if model is None else model
    return filled(subject(dispatches, calls=(call,), skipped=skipped, uncounted=uncounted), times, call)
