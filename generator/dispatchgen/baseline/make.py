"""A baseline of results, and results of a baseline, which can be compared as those of a run."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from dispatchgen.baseline import schema
from dispatchgen.baseline.schema import BASELINE_VERSION, Baseline, BaselineRow
from dispatchgen.errors import BaselineError, Place, Problem
from dispatchgen.results import lean
from dispatchgen.results.environment_schema import Machine
from dispatchgen.results.estimate import FEWEST
from dispatchgen.results.lean import Key

#: A result and the file that it is from, for messages.
Given = tuple[Path, lean.Results]


@dataclass(frozen=True)
class Made:
    """A baseline, and what results have that is not in it."""

    baseline: Baseline
    left_out: Mapping[Key, str]  #: Why each is not in it.


def machine_of(results: lean.Results) -> Machine:
    """The machine that results are of."""
    return Machine.model_validate_json(msgspec.json.encode(_environment(results)["machine"]))


def make(given: Sequence[Given]) -> Made:
    """The baseline of one result, or of several of the same code on one machine, which also tell how runs differ.

    Raises BaselineError: they are of several machines, one is given twice, or nothing in them can be a baseline.
    """
    _check_given(given)
    measured: dict[Key, list[tuple[str, lean.Row]]] = defaultdict(list)
    left_out: dict[Key, str] = {}
    for _, result in given:
        for row in lean.rows(result):
            if row.timing is None:
                left_out.setdefault(row.key, row.failure or "it was not measured")
            elif len(row.timing.rounds) < FEWEST:
                left_out.setdefault(row.key, f"measured in {len(row.timing.rounds)} rounds, {FEWEST} are needed")
            else:
                measured[row.key].append((result.id, row))
    if not measured:
        what = next(iter(left_out.values()), "the results have no benchmarks")
        message = f"nothing in the results can be a baseline: {what}"
        raise BaselineError(Problem(message, Place(str(given[0][0])), "dispatchgen run --rounds 10"))
    noise = _noise({key: [row.timing.seconds for _, row in rows if row.timing] for key, rows in measured.items()})
    rows = [_row(key, found, noise.get(key)) for key, found in measured.items()]
    results = [result for _, result in given]
    machine = _environment(results[0])["machine"]
    baseline = assemble(machine, rows, calls_of(results), map(source_of, results))
    return Made(baseline, {key: why for key, why in left_out.items() if key not in measured})


def assemble(
    machine: dict[str, Any],
    rows: Iterable[BaselineRow],
    calls: Iterable[schema.Call],
    sources: Iterable[schema.Source],
) -> Baseline:
    """A baseline of these rows, with those of the calls and sources that they name.

    Args:
      machine: A `results.environment_schema.Machine`.
      calls: Of several with one key, the last counts.
    """
    kept = tuple(sorted(rows, key=lambda row: row.key))
    used = {row.key[:4] for row in kept}
    named = {name for row in kept for name in row.results}
    by_id = {source.id: source for source in sources if source.id in named}
    by_key = {call.key: _with_whole(call, filter(by_id.__contains__, call.whole)) for call in calls if call.key in used}
    return Baseline(
        version=BASELINE_VERSION,
        machine=machine,
        results=tuple(sorted(by_id.values(), key=lambda each: (each.started, each.id))),
        calls=tuple(by_key[key] for key in sorted(by_key)),
        rows=kept,
    )


def source_of(result: lean.Results) -> schema.Source:
    """What a baseline says of a result that rows are from."""
    return schema.Source(result.id, result.started, _environment(result)["software"])


def calls_of(results: Iterable[lean.Results]) -> list[schema.Call]:
    """What a baseline says of the calls of results: each once, as the last of the results has it."""
    found: dict[tuple[str, str, str, str], schema.Call] = {}
    for result in results:
        for call in result.calls:
            new = _call_of(call)
            before = found[new.key].whole if new.key in found else ()
            found[new.key] = _with_whole(new, (*before, result.id) if _is_whole(call) else before)
    return list(found.values())


def row_of(result: lean.Results, row: lean.Row, noise: float | None) -> BaselineRow:
    """The row of a baseline that a measured row becomes; `noise` is what is known of how it differs from run to run."""
    return _row(row.key, [(result.id, row)], noise)


def _call_of(call: lean.Call) -> schema.Call:
    return schema.Call(
        model=call.model,
        backend=call.backend,
        device=call.device.id,
        call=call.call,
        uri=call.device.uri,
        run_flags=call.device.run_flags,
        function=call.function,
        shape=call.shape,
        symbols=call.symbols,
        overrides=call.overrides,
        settings=call.settings,
    )


def _with_whole(call: schema.Call, runs: Iterable[str]) -> schema.Call:
    return msgspec.structs.replace(call, whole=tuple(runs))


def _is_whole(call: lean.Call) -> bool:
    """Whether all dispatches of a call were measured so that they can be in a baseline."""
    timings = (each.timing for each in call.dispatches)
    return call.coverage.left_out == 0 and all(each is not None and len(each.rounds) >= FEWEST for each in timings)


def _check_given(given: Sequence[Given]) -> None:
    from dispatchgen.results.environment import differences

    problems = []
    first = machine_of(given[0][1])
    ids: dict[str, Path] = {}
    for path, result in given:
        if result.id in ids:
            problems.append(Problem(f"this is the same run as {ids[result.id]}", Place(str(path)), "give it once"))
        ids.setdefault(result.id, path)
        for difference in differences(first, machine_of(result)):
            message = f"the results are of several machines: {difference}"
            problems.append(Problem(message, Place(str(path)), "one baseline per machine"))
    if problems:
        raise BaselineError(*problems)


def _noise(seconds: Mapping[Key, Sequence[float]]) -> dict[Key, float]:
    """How much rows differ from run to run; nothing where there is one run.

    A few runs tell little of one row, and two may agree by chance: at least what rows differ by on the whole is taken.
    """
    logs = {key: list(map(math.log, times)) for key, times in seconds.items() if len(times) > 1 and min(times) > 0}
    own = {key: _deviation(each) for key, each in logs.items()}
    whole = statistics.median(own.values()) if own else 0.0
    return {key: max(each, whole) for key, each in own.items()}


def _deviation(values: Sequence[float]) -> float:
    """Standard deviation, estimated from a sample."""
    middle = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((each - middle) ** 2 for each in values) / (len(values) - 1))


def _row(key: Key, measured: Sequence[tuple[str, lean.Row]], noise: float | None) -> BaselineRow:
    """The row of a benchmark that was measured in runs: all of their rounds, and the median of their times."""
    last = measured[-1][1]
    timings = [row.timing for _, row in measured if row.timing is not None]
    rounds = list(chain.from_iterable(timing.fastest for timing in timings))
    seconds = statistics.median(timing.seconds for timing in timings)
    cpu_seconds = sum(timing.cpu_seconds for timing in timings) / len(timings)
    dispatch: dict[str, Any] = {}
    if last.dispatch is not None:
        names = ("name", "operation", "content", "workload", "constants", "bindings", "data")
        dispatch = {name: getattr(last.dispatch, name) for name in names}
    return BaselineRow(
        **key._asdict(),
        seconds=_short(seconds),
        cpu_seconds=_short(cpu_seconds),
        noise=None if noise is None else _short(noise),
        rounds=tuple(map(_short, rounds)),
        results=tuple(each for each, _ in measured),
        count=last.count,
        **dispatch,
        size=None if last.compiled is None else last.compiled.size,
        sha256=None if last.compiled is None else last.compiled.sha256,
    )


def _short(value: float) -> float:
    """Six significant digits: more than any clock tells, and lines that can be read."""
    return float(f"{value:.6g}")


def _environment(results: lean.Results) -> dict[str, Any]:
    environment = msgspec.json.decode(results.environment)
    assert isinstance(environment, dict)
    return environment
