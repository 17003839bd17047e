"""Results to report: two models at four batches, with substitutes, failures and what compiling took; and a browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Browser, Error, sync_playwright

import made_up_results as made_up
from dispatchgen.results import lean
from dispatchgen.results.schema import (
    BuildStep,
    CallResult,
    Compiled,
    DispatchResult,
    Results,
    SkippedDispatch,
    SubstitutedDispatch,
    SubstitutionResult,
    Timing,
    WholeModel,
)

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
BATCHES = (1, 4, 16, 64)
#: Seconds of one run at a batch of one, and runs per call.
DISPATCHES = {"matmul_Dx512x784_f32": (3e-5, 1), "reduce_D_f32": (7e-7, 12), "add_D_f32": (2e-6, 3)}
FAILED = "gather_10xf32"
FAILURE = "it crashed: signal 11\nthe second line of the reason"


def as_lean(results: Results) -> lean.Results:
    """The results as they are read."""
    return msgspec.json.decode(results.model_dump_json(), type=lean.Results)


def results(
    *, models: tuple[str, ...] = ("mlp", "attention"), slower: float = 1.0, id: str = "new", device: str = "local"
) -> Results:
    """Results in which the matrix products are slower by a factor."""
    calls = [call(model, batch, slower, id, device) for model in models for batch in BATCHES]
    found = made_up.results(calls, id=id)
    environment = found.environment.model_copy(update={"uncontrolled": ("the machine is virtual",)})
    step = BuildStep(step="compile", model=models[0], backend="cpu", dispatch=FAILED, seconds=0.4, peak_bytes=1 << 26)
    return found.model_copy(update={"environment": environment, "build": (step,)})


def call(model: str, batch: int, slower: float, run: str, device: str) -> CallResult:
    """A call at one batch; the last one has a dispatch that fails."""
    dispatches = [_dispatch(name, batch, slower if name.startswith("matmul") else 1.0, run) for name in DISPATCHES]
    total = sum(each.total_seconds or 0.0 for each in dispatches)
    dispatches = [each.model_copy(update={"share": (each.total_seconds or 0.0) / total / 1.05}) for each in dispatches]
    if batch == BATCHES[-1]:
        dispatches.append(made_up.dispatch(FAILED, None).model_copy(update={"failure": FAILURE}))
    whole = WholeModel(timing=_timing(total * 1.05, (model, batch, run)))
    found = made_up.call(dispatches, model=model, call=f"B{batch}", symbols={"B": batch}, whole_model=whole)
    skipped = SkippedDispatch(
        executable="main_dispatch_9", export="main_dispatch_9", operation="sort", reason="no size"
    )
    coverage = found.coverage.model_copy(update={"skipped": 1, "dispatches": found.coverage.dispatches + 1})
    return found.model_copy(
        update={
            "device": found.device.model_copy(update={"id": device}),
            "skipped": (skipped,),
            "coverage": coverage,
            "substitutions": (_substitution(dispatches[0], total),),
        }
    )


def _dispatch(name: str, batch: int, factor: float, run: str) -> DispatchResult:
    seconds, count = DISPATCHES[name]
    rounds = made_up.rounds_of(seconds * (0.5 + batch**0.8) * factor, noise=0.005, seed=(name, batch, run))
    code = f"{round(factor * 100):064}"  # what is slower is other code
    compiled = Compiled(seconds=0.4, peak_bytes=1 << 27, size=12_345, sha256=code)
    update = {"benchmark": f"{name}__B{batch}", "workload": (batch, 512), "compiled": compiled}
    return made_up.dispatch(name, rounds, count=count).model_copy(update=update)


def _substitution(original: DispatchResult, total: float) -> SubstitutionResult:
    assert original.timing is not None
    substitute = SubstitutedDispatch(
        name=original.name,
        benchmark=original.benchmark,
        operation=original.operation,
        kind="object",
        file="kernels/matmul.c",
        sha256=None,
        same=None,
        target_differences=(),
        notes=(),
        count=1,
        original=original.timing,
        timing=_timing(original.timing.seconds * 0.8, original.benchmark),
        ratio=0.8,
        agreement=None,
        failure=None,
    )
    return SubstitutionResult(
        name="by hand",
        id="by_hand",
        members=(),
        acting=("by_hand",),
        dispatches=(substitute,),
        whole_model=WholeModel(timing=_timing(total * 0.9, total)),
        same=False,
        ratio=0.9,
    )


def _timing(seconds: float, seed: object) -> Timing:
    return made_up.timing(made_up.rounds_of(seconds, noise=0.005, seed=seed))


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's browser. Skips the test where it is missing, with the reason."""
    if not CHROMIUM.exists():
        pytest.skip(f"no {CHROMIUM}: install Debian's chromium")
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        except Error as error:
            pytest.skip(f"chromium does not start: {error}")
        try:
            yield browser
        finally:
            browser.close()
