from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import made_up_results
from dispatchgen.errors import ResultsError
from dispatchgen.results.load import load, load_full
from dispatchgen.results.write import text_of

_READERS = pytest.mark.parametrize("read", [load, load_full])


def test_both_readers_read_the_same(tmp_path: Path) -> None:
    results = made_up_results.results([made_up_results.call([made_up_results.dispatch("a", [1e-3] * 3)])])
    file = tmp_path / "r.json"
    file.write_text(text_of(results))
    assert load_full(file) == results
    lean = load(file)
    assert lean.calls[0].dispatches[0].timing is not None
    assert list(lean.calls[0].dispatches[0].timing.fastest) == [1e-3] * 3


@_READERS
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this is no result file of dispatchgen"),
        ("[]", "this is no result file of dispatchgen"),
        ('{"version": 2}', "the result file is damaged: Object missing required field `id`"),
        ('{"version": 2, "id": NaN}', "this is no result file of dispatchgen: JSON is malformed"),
        ('\ufeff{"version": 2}', "begins with a byte order mark(.|\n)*try: save it as UTF-8 without"),
        ('{"version": 1, "calls": []}', "format has version 1, this dispatchgen reads version 2"),
        ('{"version": 99}', "format has version 99"),
        ('{"journal":', "this is no journal of dispatchgen"),
        ('{"journal": 1, "results": {}, "tasks": []}\n', "this is no journal of dispatchgen"),
    ],
)
def test_what_is_no_result_file_is_refused(
    tmp_path: Path, read: Callable[[Path], object], text: str, message: str
) -> None:
    file = tmp_path / "r.json"
    file.write_text(text)
    with pytest.raises(ResultsError, match=message) as error:
        read(file)
    assert str(file) in str(error.value)


@_READERS
def test_a_file_that_is_not_there(tmp_path: Path, read: Callable[[Path], object]) -> None:
    with pytest.raises(ResultsError, match="cannot read the results: No such file or directory"):
        read(tmp_path / "none.json")


@_READERS
def test_an_environment_that_is_none_is_refused(tmp_path: Path, read: Callable[[Path], object]) -> None:
    file = tmp_path / "r.json"
    file.write_text(text_of(made_up_results.results([])).replace('"cores"', '"kernels"'))
    with pytest.raises(ResultsError, match=r"damaged: `environment`: Field required - at `machine\.cpu\.cores`"):
        read(file)


def test_what_an_interrupted_run_left_is_hinted_at(tmp_path: Path) -> None:
    (tmp_path / "r.json.partial").touch()
    with pytest.raises(ResultsError, match=r"No such file or directory(.|\n)*try: .*r\.json\.partial, which an inter"):
        load(tmp_path / "r.json")


def _timing(**update: object) -> dict[str, Any]:
    return {"calls": [{"dispatches": [{"timing": update}]}]}


#: What to replace in results with one dispatch in one call, and what is said of it. `TWICE` stands for an item that is
#: there twice.
_TWICE = "TWICE"
_DAMAGED: list[tuple[dict[str, Any], str]] = [
    (_timing(fastest=[1e-3]), "a: 3 rounds have 1 times"),
    (_timing(rounds=[], fastest=[]), "a: 0 rounds have 0 times"),
    (_timing(seconds=-1e-3), "Expected `float` >= 0"),
    (_timing(fastest=[1e-3, 1e308, 1e-3]), "Expected `float` <= 1000000000"),
    (_timing(fastest=[1e-3, 0, 5e-324]), "a: a time is shorter than 1e-15 s"),
    (_timing(low=2.0, high=1.0), "a: the ends of its interval"),
    (_timing(noise=-1.0), "Expected `float` >= 0"),
    ({"calls": [{"dispatches": [{"count": 10**400}]}]}, "Expected `int` <= 9223372036854775807"),
    ({"calls": [{"dispatches": [{"count": -1}]}]}, "Expected `int` >= 0"),
    ({"calls": [{"dispatches": _TWICE}]}, "model on cpu, local, static: a is there more than once"),
    ({"calls": _TWICE}, "the call model on cpu, local, static is there more than once"),
    ({"calls": [{"settings": {"rounds": "many"}}]}, "`settings`: .* at `rounds`"),
    ({"measuring": {"shard": 1}}, "`measuring`: .* at `shard`"),
    ({"build": [{}]}, "`build`: Field required - at `step`"),
    ({"started": "yesterday"}, "`started` is no time: 'yesterday'"),
    ({"started": "2026-01-01T00:00:00"}, "`started` is no time"),
    ({"finished": "0001-01-01T00:00:00+14:00"}, "`finished` is no time"),
]


def _replaced(data: Any, update: Any) -> Any:
    if update == _TWICE:
        return [*data, *data]
    if isinstance(update, dict):
        return {**data, **{key: _replaced(data.get(key), value) for key, value in update.items()}}
    if isinstance(update, list) and update and isinstance(update[0], dict):
        return [_replaced(old, new) for old, new in zip(data or [{}], update, strict=True)]
    return update


@_READERS
@pytest.mark.parametrize(("update", "message"), _DAMAGED)
def test_what_no_run_writes_is_damage(
    tmp_path: Path, read: Callable[[Path], object], update: dict[str, Any], message: str
) -> None:
    results = made_up_results.results([made_up_results.call([made_up_results.dispatch("a", [1e-3] * 3)])])
    file = tmp_path / "r.json"
    file.write_text(json.dumps(_replaced(json.loads(results.model_dump_json()), update)))
    with pytest.raises(ResultsError, match=f"the result file is damaged: .*{message}") as error:
        read(file)
    assert str(file) in str(error.value)


@pytest.mark.parametrize("update", [{"real": [[1e-3]]}, {"at": []}, {"cpu": [[1e-3], [1e-3], []]}, {"at": [0, 1, -1]}])
def test_damage_of_what_only_whole_results_have(tmp_path: Path, update: dict[str, Any]) -> None:
    results = made_up_results.results([made_up_results.call([made_up_results.dispatch("a", [1e-3] * 3)])])
    file = tmp_path / "r.json"
    file.write_text(json.dumps(_replaced(json.loads(results.model_dump_json()), _timing(**update))))
    with pytest.raises(ResultsError, match="a: `at`, `real` and `cpu` are not those of 3 rounds"):
        load_full(file)
