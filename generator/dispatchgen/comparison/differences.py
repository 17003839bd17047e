"""What differs between two results besides the code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from dispatchgen.comparison.match import Pair
from dispatchgen.comparison.schema import Run
from dispatchgen.results.environment_schema import Environment
from dispatchgen.results.lean import Results


def environment_of(results: Results) -> Environment:
    """Where and with what it was measured."""
    return Environment.model_validate_json(bytes(results.environment))


def run_of(results: Results, environment: Environment) -> Run:
    """What a comparison tells of one of its results."""
    software = environment.software
    return Run(results.id, results.started, results.finished, software.compiler, software.commit, software.dirty)


def measuring_differences(pairs: Sequence[Pair]) -> tuple[str, ...]:
    """Differences of settings and of what buffers held, with how many rows have each."""
    found = Counter(each for pair in pairs for each in _differences(pair))
    return tuple(f"{what} ({number} {'benchmark' if number == 1 else 'benchmarks'})" for what, number in found.items())


def _differences(pair: Pair) -> Iterator[str]:
    if pair.base is None or pair.new is None:
        return
    old, new = pair.base.call.settings, pair.new.call.settings
    if old is not new and old != new:
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) != new.get(name):
                yield f"{name}: {_shown(old.get(name))} and {_shown(new.get(name))}"
    if pair.base.dispatch and pair.new.dispatch and pair.base.dispatch.data != pair.new.dispatch.data:
        texts = ("; ".join(side.data) or "zeros" for side in (pair.base.dispatch, pair.new.dispatch))
        yield "data: " + " and ".join(texts)


def _shown(value: object) -> str:
    return "none" if value is None else str(value)
