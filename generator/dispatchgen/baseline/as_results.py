"""A baseline as results that comparisons take."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from dispatchgen.baseline import schema
from dispatchgen.baseline.schema import Baseline, BaselineRow
from dispatchgen.results import lean
from dispatchgen.results.lean import Key
from dispatchgen.results.schema import RESULTS_VERSION

#: Rows of one benchmark, by their caches.
_ByCaches = Mapping[str, BaselineRow]


def noise_of(baseline: Baseline) -> dict[Key, float]:
    """What is known of how rows differ from run to run."""
    return {row.key: row.noise for row in baseline.rows if row.noise is not None}


def as_results(baseline: Baseline) -> lean.Results:
    """The results whose rows are those of the baseline. Their session is no other's: nothing was measured with them."""
    rows: dict[tuple[str, ...], list[BaselineRow]] = defaultdict(list)
    for row in baseline.rows:
        rows[row.key[:4]].append(row)
    newest = baseline.results[-1] if baseline.results else schema.Source("", "", {})
    environment = {"machine": baseline.machine, "software": newest.software, "host": None}
    return lean.Results(
        version=RESULTS_VERSION,
        id=newest.id,
        session=f"baseline of {newest.id}",
        started=newest.started,
        finished=newest.started,
        environment=msgspec.Raw(msgspec.json.encode(environment)),
        measuring={},
        calls=tuple(_call(call, rows[call.key]) for call in baseline.calls),
    )


def _call(call: schema.Call, rows: Sequence[BaselineRow]) -> lean.Call:
    found: dict[tuple[str, str, str], dict[str, BaselineRow]] = defaultdict(dict)
    for row in rows:
        found[row.variant, row.kind, row.benchmark][row.caches] = row
    own = {(kind, name): by for (variant, kind, name), by in found.items() if not variant}
    dispatches = tuple(_dispatch(by) for (kind, _), by in own.items() if kind == "dispatch")
    variants = sorted({row.variant for row in rows if row.variant})
    return lean.Call(
        model=call.model,
        backend=call.backend,
        device=lean.Device(call.device, call.uri, call.run_flags),
        call=call.call,
        function=call.function,
        shape=call.shape,
        symbols=call.symbols,
        overrides=call.overrides,
        settings=call.settings,
        dispatches=dispatches,
        initializers=tuple(_dispatch(by) for (kind, _), by in own.items() if kind == "initializer"),
        skipped=(),
        uncounted=(),
        whole_model=_whole_model(own.get(("model", ""), {})),
        coverage=lean.Coverage(len(dispatches), len(dispatches), 0, 0),
        substitutions=tuple(_substitution(name, found) for name in variants),
        whole=_is_whole(call, own),
    )


def _is_whole(call: schema.Call, own: Mapping[tuple[str, str], _ByCaches]) -> bool:
    """Whether one run measured the dispatches that there are, and had no others.

    Rows of several runs may be of several versions: what one has in place of others stands beside these.
    """
    warm = [by["warm"] for (kind, _), by in own.items() if kind == "dispatch" and "warm" in by]
    return any(all(run in row.results for row in warm) for run in call.whole)


def _substitution(variant: str, rows: Mapping[tuple[str, str, str], _ByCaches]) -> lean.Substitution:
    replaced = [by for (of, kind, _), by in rows.items() if of == variant and kind == "dispatch"]
    return lean.Substitution(
        name=variant,
        id=variant,
        members=(),
        dispatches=tuple(map(_substituted, replaced)),
        whole_model=_whole_model(rows.get((variant, "model", ""), {})),
        same=False,
    )


def _substituted(by_caches: _ByCaches) -> lean.Substituted:
    row = next(iter(by_caches.values()))
    return lean.Substituted(
        name=row.name or row.benchmark,
        benchmark=row.benchmark,
        operation=row.operation,
        kind="",
        file="",
        count=row.count,
        timing=_timing(by_caches.get("warm")),
        cold=_timing(by_caches.get("cold")),
        compiled=_compiled(by_caches),
    )


def _dispatch(by_caches: _ByCaches) -> lean.Dispatch:
    row = next(iter(by_caches.values()))
    return lean.Dispatch(
        name=row.name,
        benchmark=row.benchmark,
        operation=row.operation,
        executable="",
        export="",
        content=row.content,
        workload=row.workload,
        constants=row.constants,
        bindings=row.bindings,
        count=row.count,
        data=row.data,
        timing=_timing(by_caches.get("warm")),
        cold=_timing(by_caches.get("cold")),
        compiled=_compiled(by_caches),
    )


def _whole_model(by_caches: _ByCaches) -> lean.WholeModel:
    if not by_caches:
        return lean.WholeModel(left_out=True)
    return lean.WholeModel(_timing(by_caches.get("warm")), None, _compiled(by_caches))


def _timing(row: BaselineRow | None) -> lean.Timing | None:
    if row is None:
        return None
    return lean.Timing(
        seconds=row.seconds,
        cpu_seconds=row.cpu_seconds,
        rounds=tuple(range(len(row.rounds))),
        fastest=row.rounds,
    )


def _compiled(by_caches: _ByCaches) -> lean.Compiled | None:
    found = next((row for row in by_caches.values() if row.sha256 is not None), None)
    return None if found is None or found.sha256 is None else lean.Compiled(found.size or 0, found.sha256)
