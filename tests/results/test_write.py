from __future__ import annotations

import json

import made_up_results
from dispatchgen.results.schema import Results
from dispatchgen.results.write import text_of


def _results(slow: float = 2e-3) -> Results:
    rows = [made_up_results.dispatch("fast", [1e-3] * 3), made_up_results.dispatch("slow", [slow] * 3)]
    return made_up_results.results([made_up_results.call(rows)])


def test_the_text_is_the_results() -> None:
    results = _results()
    text = text_of(results)
    assert Results.model_validate_json(text) == results
    assert json.loads(text) == results.model_dump(mode="json")
    assert text.endswith("}\n")


def test_a_row_takes_a_line() -> None:
    before, after = text_of(_results()).splitlines(), text_of(_results(3e-3)).splitlines()
    assert len(before) == len(after)
    changed = [line for line, other in zip(before, after, strict=True) if line != other]
    assert [line.strip().split(":")[0] for line in changed] == ['{"name"', '"whole_model"', '"sum_seconds"']
    assert '"benchmark":"slow"' in changed[0]
