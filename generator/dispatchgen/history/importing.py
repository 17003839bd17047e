"""Results into a history: each run once, all of it or nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

import msgspec

from dispatchgen.errors import DispatchgenError, HistoryError, Place, Problem
from dispatchgen.files import sha256_of
from dispatchgen.history.database import opened, transaction
from dispatchgen.results import lean
from dispatchgen.results.environment import differences, slug
from dispatchgen.results.environment_schema import Environment, Machine
from dispatchgen.results.load import load

#: `there`: the run was imported before. `replaced`: less of it was. `kept`: as much of it or more was, from another
#: file.
Outcome = Literal["imported", "there", "replaced", "kept"]


@dataclass(frozen=True)
class Imported:
    """What became of a result file."""

    path: Path
    outcome: Outcome
    measured: int  #: Benchmarks with a time in the file.


def import_results(history: Path, paths: Sequence[Path]) -> list[Imported]:
    """Imports result files, each in one transaction. A file that is imported again changes nothing.

    Raises HistoryError with what is wrong with the history, or with files; the others are imported all the same.
    """
    problems: list[Problem] = []
    found = []
    with opened(history, create=True) as connection:
        for path in paths:
            try:
                results, digest = load(path), sha256_of(path)
                found.append(_import(connection, path, results, digest))
            except DispatchgenError as error:
                problems += error.problems
    if problems:
        raise HistoryError(*problems)
    return found


def _import(connection: sqlite3.Connection, path: Path, results: lean.Results, digest: str) -> Imported:
    rows = list(lean.rows(results))
    measured = sum(row.timing is not None for row in rows)
    run = _run(path, results)
    with transaction(connection):
        there = connection.execute("SELECT number, measured, sha256 FROM runs WHERE id = ?", (results.id,)).fetchone()
        outcome: Outcome = "imported"
        if there is not None:
            number, before, sha256 = there
            if sha256 == digest or before >= measured:
                return Imported(path, "there" if sha256 == digest else "kept", measured)
            connection.execute("DELETE FROM runs WHERE number = ?", (number,))
            outcome = "replaced"
        environment = Environment.model_validate_json(bytes(results.environment))
        run |= _software(environment) | {"measured": measured, "sha256": digest}
        run["machine"] = _machine(connection, environment.machine)
        _insert(connection, _added(connection, "runs", run), rows)
    return Imported(path, outcome, measured)


def _run(path: Path, results: lean.Results) -> dict[str, Any]:
    try:
        started, finished = (each and _utc(each) for each in (results.started, results.finished))
    except ValueError as error:
        raise HistoryError(Problem(f"the result file states no time: {error}", Place(str(path)))) from None
    return {"id": results.id, "session": results.session, "started": started, "finished": finished}


def _utc(text: str) -> str:
    """A time so that texts sort as times do."""
    time = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return time.astimezone(timezone.utc).isoformat(timespec="seconds")


def _software(environment: Environment) -> dict[str, Any]:
    software = environment.software
    return {
        "compiler": software.compiler,
        "runtime": software.runtime,
        "dispatchgen": software.dispatchgen,
        "commit_id": software.commit,
        "dirty": software.dirty,
    }


def _machine(connection: sqlite3.Connection, machine: Machine) -> int:
    """The number of a machine: of one without differences, where there is one."""
    number: int
    for number, text in connection.execute("SELECT number, description FROM machines"):
        if not differences(Machine.model_validate_json(text), machine):
            return number
    return _added(connection, "machines", {"name": slug(machine), "description": machine.model_dump_json()})


def _added(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> int:
    marks = ", ".join(f":{name}" for name in row)
    cursor = connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", row)
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def _insert(connection: sqlite3.Connection, run: int, rows: Sequence[lean.Row]) -> None:
    benchmarks = _Numbers(
        connection,
        "benchmarks",
        ("model", "backend", "device", "call", "symbols", "kind", "name", "variant", "caches"),
    )
    kernels = _Numbers(connection, "kernels", ("content", "sizes"))
    modules = _Numbers(connection, "modules", ("sha256",))

    symbols: dict[tuple[str, ...], str] = {}

    def measurements() -> Iterator[tuple[Any, ...]]:
        for row in rows:
            key, timing = row.key, row.timing
            call = key[:4]
            if call not in symbols:
                symbols[call] = _compact([row.call.symbols, row.call.overrides])
            yield (
                benchmarks[(*call, symbols[call], *key[4:])],
                run,
                None if row.dispatch is None else kernels[(row.dispatch.content, _sizes(row.dispatch))],
                None if row.compiled is None else modules[(row.compiled.sha256,)],
                *((timing.seconds, timing.low, timing.high, timing.noise) if timing else (None,) * 4),
                len(timing.rounds) if timing else 0,
                row.count,
                row.failure,
            )

    marks = ", ".join("?" * 11)
    connection.executemany(f"INSERT INTO measurements VALUES ({marks})", measurements())


def _sizes(dispatch: lean.Dispatch) -> str:
    return _compact([dispatch.workload, dispatch.constants, dispatch.bindings])


def _compact(value: object) -> str:
    return msgspec.json.encode(value, order="sorted").decode()


class _Numbers:
    """The numbers of a table's rows by what the rows are; rows that are not there are added."""

    def __init__(self, connection: sqlite3.Connection, table: str, columns: Sequence[str]):
        marks = ", ".join("?" * len(columns))
        self._connection = connection
        self._insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"
        rows = connection.execute(f"SELECT number, {', '.join(columns)} FROM {table}")
        self._numbers: dict[tuple[str, ...], int] = {tuple(row[1:]): row[0] for row in rows}

    def __getitem__(self, row: tuple[str, ...]) -> int:
        number = self._numbers.get(row)
        if number is None:
            number = self._connection.execute(self._insert, row).lastrowid
            assert number is not None
            self._numbers[row] = number
        return number
