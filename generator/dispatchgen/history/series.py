"""What a history has of each benchmark, in the order of time, also under names that it had before."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dispatchgen.errors import HistoryError, Place, Problem
from dispatchgen.history.chains import NONE, Benchmark, Measured, chains
from dispatchgen.history.database import opened
from dispatchgen.manifest.names import did_you_mean, show
from dispatchgen.results.lean import Key

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]
#: Rows that are taken out of SQLite at a time.
_BLOCK = 100_000
#: What people call the benchmark of a whole model.
WHOLE_MODEL = "whole_model"


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
    former_names: tuple[str, ...]  #: What it was called before, the oldest first: `chains.py`.
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


def read_series(history: Path, machine: str | None = None) -> list[Series]:
    """All benchmarks that were measured, by machine, sorted.

    Args:
      machine: Only of the machine of this name.

    Raises HistoryError where there is no history, or it cannot be read, or it has no such machine.
    """
    with opened(history) as connection:
        benchmarks = _benchmarks(connection)
        found: list[Series] = []
        machines = connection.execute("SELECT number, name FROM machines ORDER BY name").fetchall()
        names = sorted({name for _, name in machines})
        if machine is not None and machine not in names:
            raise _nothing(f"the history has no machine {show(machine)}", history, machine, names)
        for number, name in machines:
            if machine in (None, name):
                found += sorted(_of_machine(connection, number, name, benchmarks), key=lambda each: each.key)
    return found


def called(every: Sequence[Series], pattern: str, history: Path) -> list[Series]:
    """The series that are or were called so. Raises HistoryError where there is none."""
    found = [series for series in every if series.is_called(pattern)]
    if not found:
        names = sorted({name for series in every for name in series.names})
        raise _nothing(f"nothing was measured of {show(pattern)}", history, pattern, names)
    return found


def _nothing(message: str, history: Path, wanted: str, names: Sequence[str]) -> HistoryError:
    hint = did_you_mean(wanted, names) if names else "nothing is in it: dispatchgen history import RESULT"
    return HistoryError(Problem(message, Place(str(history)), hint))


def _benchmarks(connection: sqlite3.Connection) -> dict[int, Benchmark]:
    columns = "number, symbols, model, backend, device, call, kind, name, variant, caches"
    rows = connection.execute(f"SELECT {columns} FROM benchmarks")
    return {number: Benchmark(Key(*key), symbols) for number, symbols, *key in rows}


def _of_machine(
    connection: sqlite3.Connection, machine: int, name: str, benchmarks: Mapping[int, Benchmark]
) -> Iterator[Series]:
    runs = _runs(connection, machine)
    measured = _measured(connection, {number: index for index, number in enumerate(runs)})
    every = list(runs.values())
    for chain in chains(benchmarks, measured):
        rows = np.concatenate([np.arange(each.start, each.stop) for each in chain])
        names = [benchmarks[each.benchmark].key.benchmark for each in chain]
        last = benchmarks[chain[-1].benchmark]
        yield Series(
            key=last.key,
            symbols={key: value for each in json.loads(last.symbols) for key, value in each.items()},
            machine=name,
            former_names=tuple(dict.fromkeys(each for each in names if each != names[-1])),
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


def _measured(connection: sqlite3.Connection, order: Mapping[int, int]) -> Measured:
    """What the runs measured.

    Args:
      order: Their places in the order of time, by their numbers.
    """
    numbers, times = [np.empty((0, 4), dtype=np.int64)], [np.empty((0, 3))]
    for run, index in order.items():
        cursor = connection.execute(
            f"SELECT benchmark, {index}, ifnull(kernel, {NONE}), ifnull(module, {NONE}), seconds, low, high "
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
    return Measured(benchmark, at, kernel, module, np.concatenate(times)[sorting])
