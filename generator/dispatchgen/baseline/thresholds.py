"""Which rows the manifest's thresholds and the patterns of commands mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase

from dispatchgen.baseline.text import benchmark_of
from dispatchgen.errors import BaselineError, LockError, ManifestError, Place, Problem
from dispatchgen.lock.store import read_lock
from dispatchgen.manifest.names import did_you_mean, nearest, show
from dispatchgen.manifest.suite import Suite, Threshold
from dispatchgen.results.lean import Key

_WORD = re.compile("[A-Za-z0-9]+")


def fits(pattern: str, key: Key) -> bool:
    """Whether a pattern means a row, by the name of its benchmark."""
    return fnmatchcase(benchmark_of(key), pattern)


def limits(thresholds: Sequence[Threshold]) -> Callable[[Key], float | None]:
    """How much slower each row may get: as the first threshold says that fits it; None: none does."""
    known: dict[tuple[str, str], float | None] = {}

    def limit(key: Key) -> float | None:
        name = (key.model, benchmark_of(key))
        if name not in known:
            known[name] = next((each.limit for each in thresholds if _fits(each, key)), None)
        return known[name]

    return limit


def check_thresholds(suite: Suite, keys: Iterable[Key]) -> None:
    """Raises ManifestError for each threshold that fits no row, and no benchmark of the suite's locks either."""
    rows = {(key.model, benchmark_of(key)): key for key in keys}
    unmatched = [each for each in suite.thresholds if not any(_fits(each, key) for key in rows.values())]
    if not unmatched:
        return
    # Results may be of a part of the suite: what a threshold is for need not be in them.
    rows |= {(key.model, benchmark_of(key)): key for key in _locked(suite)}
    problems = []
    for threshold in unmatched:
        if not any(_fits(threshold, key) for key in rows.values()):
            there = sorted({name for model, name in rows if threshold.model in (None, model)})
            of_model = "" if threshold.model is None else f" of model {show(threshold.model)}"
            message = f"the threshold fits no benchmark{of_model}: {show(threshold.benchmarks)}"
            hint = _hint(threshold.benchmarks, there)
            problems.append(Problem(message, Place(str(suite.manifest), threshold.line, key="thresholds"), hint))
    if problems:
        raise ManifestError(*problems)


def check_patterns(option: str, patterns: Sequence[str], keys: Iterable[Key]) -> None:
    """Raises BaselineError for each pattern of an option that fits none of the rows."""
    names = sorted({benchmark_of(key) for key in keys})
    problems = [
        Problem(f"{option} {show(pattern)} fits no benchmark", hint=_hint(pattern, names))
        for pattern in patterns
        if not any(fnmatchcase(name, pattern) for name in names)
    ]
    if problems:
        raise BaselineError(*problems)


def _hint(pattern: str, names: Sequence[str]) -> str:
    """What a pattern that fits none of the names may have meant."""
    words = sorted({word for name in names for word in name.split("_")})

    def spelled(match: re.Match[str]) -> str:
        word = match[0]
        return word if any(word in name for name in names) else nearest(word, words) or word

    guess = _WORD.sub(spelled, pattern)
    return show(guess) if any(fnmatchcase(name, guess) for name in names) else did_you_mean(pattern, names)


def _fits(threshold: Threshold, key: Key) -> bool:
    return threshold.model in (None, key.model) and fits(threshold.benchmarks, key)


def _locked(suite: Suite) -> Iterable[Key]:
    """Rows that the suite's locks tell of, as far as they can be read: models and names only."""
    for model in suite.models:
        try:
            lock = read_lock(suite.lock_path(model))
        except LockError:
            continue
        if lock.is_called:
            yield Key(model.id, "", "", "", "model", "", "", "warm")
        for backend in lock.backends.values():
            for dispatch in backend.dispatches:
                for benchmark in dispatch.benchmarks:
                    yield Key(model.id, "", "", "", "dispatch", benchmark.name, "", "warm")
