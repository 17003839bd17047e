"""The JSON schema of result files; tests/cli/test_run_substitutions.py checks those of a run against it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import support
from dispatchgen.results.json_schema import json_schema
from dispatchgen.results.write import text_of
from made_up_results import call, dispatch, results
from schema_check import problems


def _data() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text_of(results([call([dispatch("a", [1e-3, 1.1e-3]), dispatch("b", None)])])))
    return found


def test_a_result_fits() -> None:
    assert problems(json_schema(), _data()) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 1),
        (("version",), "2"),
        (("more",), 1),
        (("calls", 0, "dispatches", 0, "timing", "seconds"), None),
        (("calls", 0, "dispatches", 0, "count"), True),
        (("calls", 0, "settings", "caches"), "hot"),
        (("environment", "software", "flags"), {"m/cpu": 1}),
    ],
)
def test_what_is_no_result_does_not_fit(path: tuple[str | int, ...], value: object) -> None:
    data = _data()
    place: Any = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert len(problems(json_schema(), data)) == 1


def test_each_key_is_described() -> None:
    schema = json_schema()
    keys = [
        (name, key, rule)
        for name, each in {"Results": schema, **schema["$defs"]}.items()
        for key, rule in each["properties"].items()
    ]
    assert len(keys) > 100
    # A description that is that of the data itself stands there alone.
    bare = [(name, key) for name, key, rule in keys if not rule.keys() & {"description", "$ref"}]
    assert bare == []
    assert [(name, key) for name, key, rule in keys if "title" in rule] == []


def test_the_command_prints_the_schema(run_cli: support.RunCli) -> None:
    assert json.loads(run_cli("schema", "results").stdout) == json_schema()
