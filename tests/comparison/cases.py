"""Pairs of results for the golden cases, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import made_up_results as made_up
from dispatchgen.results.schema import (
    CallResult,
    Compiled,
    DispatchResult,
    NotRun,
    Results,
    Settings,
    SubstitutedDispatch,
    SubstitutionResult,
    WholeModel,
)

Pair = tuple[Results, Results]
_HOSTILE = 'a|b`c``<b>&"x"</b>\x01\x1b[31m\u2028\u202e@team #1 *x* _y_ ]]> \\| end'


def _dispatch(
    name: str,
    milliseconds: float | None,
    run: str,
    *,
    noise: float = 0.005,
    rounds: int = 10,
    count: int = 1,
    content: str = "",
    code: str | None = None,
) -> DispatchResult:
    times = None
    if milliseconds is not None:
        times = made_up.rounds_of(milliseconds * 1e-3, noise=noise, rounds=rounds, seed=(name, run))
    found = made_up.dispatch(name, times, count=count, content=content)
    compiled = None if code is None else Compiled(seconds=1.0, peak_bytes=None, size=1, sha256=code)
    return found.model_copy(update={"compiled": compiled})


def _unchanged(run: str, number: int = 12, *, factor: float = 1.0) -> list[DispatchResult]:
    """Dispatches whose code is the same in both runs."""
    return [_dispatch(f"unchanged_{index}", factor * (1 + index), run, code=f"{index}") for index in range(number)]


def _results(run: str, calls: Sequence[CallResult], **more: object) -> Results:
    found = made_up.results(calls, id=run)
    return found.model_copy(update=more)


def _whole(milliseconds: float, run: str) -> WholeModel:
    times = made_up.rounds_of(milliseconds * 1e-3, noise=0.002, seed=("whole", run))
    return WholeModel(timing=made_up.timing(times))


def _substitution(milliseconds: float, run: str) -> SubstitutionResult:
    times = made_up.rounds_of(milliseconds * 1e-3, noise=0.005, seed=("tuned", run))
    dispatch = SubstitutedDispatch(
        name="slower",
        benchmark="slower",
        operation="slower",
        kind="source",
        file="tuned.mlir",
        sha256="1",
        same=None,
        target_differences=(),
        notes=(),
        count=1,
        original=None,
        timing=made_up.timing(times),
        ratio=None,
        agreement=None,
        failure=None,
    )
    return SubstitutionResult(
        name="tuned",
        id="tuned",
        members=(),
        acting=("tuned",),
        dispatches=(dispatch,),
        whole_model=WholeModel(timing=None),
        same=False,
        ratio=None,
    )


def verdicts() -> Pair:
    """Every verdict."""
    base = [
        *_unchanged("base"),
        _dispatch("slower", 2, "base", code="a", count=3),
        _dispatch("faster", 2, "base", code="b"),
        _dispatch("fails_now", 1, "base"),
        _dispatch("fails_always", None, "base"),
        _dispatch("works_now", None, "base"),
        _dispatch("only_before", 1, "base"),
        _dispatch("noisy", 1, "base", noise=0.2, code="c"),
        _dispatch("old_name", 5, "base", content="renamed", code="d"),
        _dispatch("same_code_slower", 4, "base", code="e"),
        _dispatch("once", 1, "base", rounds=1),
        _dispatch("tiny", 0.0002, "base", code="f"),
    ]
    new = [
        *_unchanged("new"),
        _dispatch("slower", 2.3, "new", code="A", count=3),
        _dispatch("faster", 1.6, "new", code="B"),
        _dispatch("fails_now", None, "new"),
        _dispatch("fails_always", None, "new"),
        _dispatch("works_now", 1, "new"),
        _dispatch("only_now", 1, "new"),
        _dispatch("noisy", 1.02, "new", noise=0.2, code="C"),
        _dispatch("new_name", 5.6, "new", content="renamed", code="D"),
        _dispatch("same_code_slower", 4.5, "new", code="e"),
        _dispatch("once", 1.2, "new", rounds=1),
        _dispatch("tiny", 0.00028, "new", code="F"),
    ]
    calls = [
        made_up.call(rows, whole_model=_whole(time, run)).model_copy(
            update={"substitutions": (_substitution(tuned, run),)}
        )
        for rows, time, tuned, run in ((base, 100, 1.5, "base"), (new, 101, 1.8, "new"))
    ]
    absent = made_up.call([_dispatch("on_gpu", 1, "base")], model="other")
    missing = NotRun(model="other", backend="cpu", device=absent.device, cause="absent-device", reason="no such device")
    return _results("base", [calls[0], absent]), _results("new", [calls[1]], not_run=(missing,))


def at_once() -> Pair:
    """Measured in turns: a machine that gets slower meanwhile does not matter."""

    def run(name: str, factor: float) -> Results:
        drift = [1 + 0.03 * number for number in range(10)]
        rows = [
            made_up.dispatch(f"kernel_{index}", [1e-3 * each * (factor if index == 0 else 1) for each in drift])
            for index in range(4)
        ]
        return _results(name, [made_up.call(rows)], session="together")

    return run("base", 1.0), run("new", 1.06)


def all_moved() -> Pair:
    """All slower by a tenth, with other code."""
    rows = [
        [_dispatch(f"kernel_{index}", factor * (1 + index), run) for index in range(12)]
        for run, factor in (("base", 1.0), ("new", 1.1))
    ]
    return _results("base", [made_up.call(rows[0])]), _results("new", [made_up.call(rows[1])])


def same_code_moved() -> Pair:
    """All slower by a tenth, with the same code."""
    return _results("base", [made_up.call(_unchanged("base"))]), _results(
        "new", [made_up.call(_unchanged("new", factor=1.1))]
    )


def other_machine() -> Pair:
    """Two machines, compilers and settings."""
    machine = made_up.MACHINE.model_copy(
        update={"memory_bytes": 1 << 33, "cpu": made_up.MACHINE.cpu.model_copy(update={"model": "Another CPU"})}
    )
    software = made_up.SOFTWARE.model_copy(update={"compiler": "IREE compiler version 3.14.0"})
    base = made_up.results([made_up.call(_unchanged("base"))], id="base")
    settings = Settings(min_time="1s", repetitions=3, batch_size=1, rounds=10)
    call = made_up.call(_unchanged("new")).model_copy(update={"settings": settings})
    return base, made_up.results([call], id="new", machine=machine, software=software)


def nothing_in_common() -> Pair:
    """Other models."""
    return tuple(  # type: ignore[return-value]
        _results(run, [made_up.call(_unchanged(run, 2), model=run)]) for run in ("base", "new")
    )


def other_sizes() -> Pair:
    """A label that stands for another size: it is another problem."""
    return tuple(  # type: ignore[return-value]
        _results(run, [made_up.call(_unchanged(run, 2), call="small", symbols={"B": size})])
        for run, size in (("base", 8), ("new", 16))
    )


def hostile_names() -> Pair:
    """Names and reasons that hold markup."""

    def run(name: str, factor: float) -> Results:
        rows = [*_unchanged(name), _dispatch(_HOSTILE, factor, name)]
        failing = _dispatch("failing", 1 if name == "base" else None, name)
        if name == "new":
            failing = failing.model_copy(update={"failure": f"it said: {_HOSTILE}\nand more"})
        return _results(name, [made_up.call([*rows, failing], model=_HOSTILE)])

    return run("base", 1.0), run("new", 1.5)


CASES: dict[str, Callable[[], Pair]] = {
    each.__name__: each
    for each in (
        verdicts,
        at_once,
        all_moved,
        same_code_moved,
        other_machine,
        nothing_in_common,
        other_sizes,
        hostile_names,
    )
}
