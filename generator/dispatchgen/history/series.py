"""What a history has of each benchmark, in the order of time, also under names that it had before."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dispatchgen.history.database import opened
from dispatchgen.results.lean import Key

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]
#: Rows that are taken out of SQLite at a time.
_BLOCK = 100_000
#: What people call the benchmark of a whole model.
WHOLE_MODEL = "whole_model"
#: In place of a number that is null.
_NONE = -1


@dataclass(frozen=True)
class Run:
    """A run that measured something."""

    id: str
    started: str  #: ISO 8601, UTC.
    commit: str | None  #: Of the repository that the manifest is in.
    dirty: bool | None  #: Whether files of it were edited and not committed.
    compiler: str
    runtime: str | None


@dataclass(frozen=True)
class Series:
    """The times of a benchmark on a machine, in the order of time; all arrays are by run."""

    key: Key  #: As it is called last.
    symbols: Mapping[str, int]  #: Sizes of its call.
    machine: str  #: Name of the machine.
    former_names: tuple[str, ...]  #: What it was called before, the oldest first: found by its content.
    runs: tuple[Run, ...]
    seconds: _Floats
    low: _Floats  #: Lower end of the 95 % confidence interval; NaN: too few rounds.
    high: _Floats
    modules: _Ints  #: Equal numbers: the same `.vmfb`, byte for byte; below zero: not known.

    @property
    def names(self) -> tuple[str, ...]:
        """What it is and was called, for people; a whole model is `whole_model`."""
        return (WHOLE_MODEL,) if self.key.kind == "model" else (*self.former_names, self.key.benchmark)

    def is_called(self, pattern: str) -> bool:
        """Whether a pattern fits one of its names."""
        return any(fnmatchcase(name, pattern) for name in self.names)


class _Benchmark(NamedTuple):
    key: Key
    symbols: str  #: JSON: the sizes of the call, and those that only the device computes.

    @property
    def place(self) -> tuple[Key, str]:
        """What stays when it is renamed."""
        return self.key._replace(benchmark=""), self.symbols


@dataclass(frozen=True)
class _Measured:
    """The measurements of a machine, by benchmark and then by time; arrays of one length."""

    benchmark: _Ints
    run: _Ints  #: Index into the runs, which are in the order of time.
    kernel: _Ints
    module: _Ints
    times: _Floats  #: Seconds, and the ends of the interval.


def read_series(history: Path, machine: str | None = None) -> list[Series]:
    """All benchmarks that were measured, by machine, sorted.

    Args:
      machine: Only of the machine of this name.

    Raises HistoryError where there is no history, or it cannot be read.
    """
    with opened(history) as connection:
        benchmarks = _benchmarks(connection)
        found: list[Series] = []
        for number, name in connection.execute("SELECT number, name FROM machines ORDER BY name").fetchall():
            if machine in (None, name):
                found += sorted(_of_machine(connection, number, name, benchmarks), key=lambda each: each.key)
    return found


def _benchmarks(connection: sqlite3.Connection) -> dict[int, _Benchmark]:
    columns = "number, symbols, model, backend, device, call, kind, name, variant, caches"
    rows = connection.execute(f"SELECT {columns} FROM benchmarks")
    return {number: _Benchmark(Key(*key), symbols) for number, symbols, *key in rows}


def _of_machine(
    connection: sqlite3.Connection, machine: int, name: str, benchmarks: Mapping[int, _Benchmark]
) -> Iterator[Series]:
    runs = _runs(connection, machine)
    measured = _measured(connection, {number: index for index, number in enumerate(runs)})
    bounds = np.flatnonzero(np.diff(measured.benchmark, prepend=_NONE, append=_NONE))
    spans = {int(measured.benchmark[at]): slice(at, end) for at, end in pairwise(bounds)}
    every = list(runs.values())
    for chain in _chains(benchmarks, spans, measured):
        rows = np.concatenate([np.arange(spans[each].start, spans[each].stop) for each in chain])
        last = benchmarks[chain[-1]]
        yield Series(
            key=last.key,
            symbols={key: value for each in json.loads(last.symbols) for key, value in each.items()},
            machine=name,
            former_names=tuple(benchmarks[each].key.benchmark for each in chain[:-1]),
            runs=tuple(every[index] for index in measured.run[rows]),
            seconds=measured.times[rows, 0],
            low=measured.times[rows, 1],
            high=measured.times[rows, 2],
            modules=measured.module[rows],
        )


def _runs(connection: sqlite3.Connection, machine: int) -> dict[int, Run]:
    """The runs of a machine by number, in the order of time."""
    columns = "number, id, started, commit_id, dirty, compiler, runtime"
    rows = connection.execute(f"SELECT {columns} FROM runs WHERE machine = ? ORDER BY started, id", (machine,))
    return {
        number: Run(id, started, commit, None if dirty is None else bool(dirty), compiler, runtime)
        for number, id, started, commit, dirty, compiler, runtime in rows
    }


def _measured(connection: sqlite3.Connection, order: Mapping[int, int]) -> _Measured:
    """What the runs measured.

    Args:
      order: Their places in the order of time, by their numbers.
    """
    numbers, times = [np.empty((0, 4), dtype=np.int64)], [np.empty((0, 3))]
    for run, index in order.items():
        cursor = connection.execute(
            f"SELECT benchmark, {index}, ifnull(kernel, {_NONE}), ifnull(module, {_NONE}), seconds, low, high "
            "FROM measurements WHERE run = ? AND seconds IS NOT NULL",
            (run,),
        )
        while block := cursor.fetchmany(_BLOCK):
            rows = np.array(block, dtype=np.float64)  # whole numbers up to 2^53; None becomes NaN
            numbers.append(rows[:, :4].astype(np.int64))
            times.append(rows[:, 4:])
    every = np.concatenate(numbers)
    sorting = np.lexsort((every[:, 1], every[:, 0]))
    benchmark, at, kernel, module = every[sorting].T
    return _Measured(benchmark, at, kernel, module, np.concatenate(times)[sorting])


def _chains(
    benchmarks: Mapping[int, _Benchmark], spans: Mapping[int, slice], measured: _Measured
) -> list[Sequence[int]]:
    """The benchmarks that there are, each after those that it was before.

    A benchmark was another one before where that other one was measured last before this one was first, in the same
    place, with the same kernel at the same sizes.
    """
    before: dict[int, int] = {}
    ended: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    for number, span in spans.items():
        if benchmarks[number].key.kind != "model":
            last = span.stop - 1
            ended[(*benchmarks[number].place, int(measured.kernel[last]))].append((int(measured.run[last]), number))
    followed: set[int] = set()
    for number, span in sorted(spans.items(), key=lambda item: int(measured.run[item[1].start])):
        first = int(measured.run[span.start])
        there = ended.get((*benchmarks[number].place, int(measured.kernel[span.start])), ())
        earlier = [(last, other) for last, other in there if last < first and other not in followed]
        if earlier:
            before[number] = max(earlier)[1]
            followed.add(before[number])
    chains: list[Sequence[int]] = []
    for number in spans:
        if number not in followed:
            chain = [number]
            while chain[0] in before:
                chain.insert(0, before[chain[0]])
            chains.append(chain)
    return chains
