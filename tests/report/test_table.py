"""The rows of the page's table, and its columns."""

from __future__ import annotations

import json
import re

import pytest

import made_up_results as made_up
import reported
from dispatchgen.comparison.compare import compare
from dispatchgen.comparison.schema import Comparison
from dispatchgen.report.columns import columns, same_for_all
from dispatchgen.report.report import report
from dispatchgen.report.table import data_json, half_width, table_rows
from dispatchgen.results import lean
from dispatchgen.results.lean import rows
from dispatchgen.results.schema import NotRun


def test_all_rows_are_there(new: lean.Results) -> None:
    assert len(table_rows([new], None)) == len(list(rows(new)))


def test_without_a_comparison_failures_come_first_then_shares(new: lean.Results) -> None:
    found = table_rows([new], None)
    assert [row.benchmark for row in found[:3]] == [reported.FAILED, reported.FAILED, "matmul_Dx512x784_f32__B64"]
    shares = [row.share for row in found if row.share is not None]
    assert shares == sorted(shares, reverse=True)


def test_with_a_comparison_what_costs_most_comes_before_what_is_the_same(
    comparison: Comparison, new: lean.Results
) -> None:
    found = table_rows([new], comparison)
    verdicts = [row.verdict for row in found]
    assert verdicts[0] == "failing" and found[0].failure
    slower = [row for row in found if row.verdict == "slower"]
    assert found[2] == slower[0]
    added = [(row.seconds or 0.0) - (row.base or 0.0) for row in slower]
    assert added == sorted(added, reverse=True)
    assert "slower" not in verdicts[2 + len(slower) :]


def test_what_is_gone_is_a_row() -> None:
    both = [made_up.dispatch(name, [1e-5] * 10) for name in "ab"]
    base = reported.as_lean(made_up.results([made_up.call(both)], id="base"))
    new = reported.as_lean(made_up.results([made_up.call(both[:1])], id="new"))
    found = {row.benchmark: row for row in table_rows([new], compare(base, new))}
    assert (found["b"].state, found["b"].verdict, found["b"].seconds) == ("gone", "gone", None)
    assert found["b"].base == pytest.approx(1e-5)
    assert found["a"].state == "measured"


def test_what_is_gone_may_have_the_name_of_another() -> None:
    """`b` was renamed to `a`, which is gone; both rows are there, and each has a link of its own."""
    before = [made_up.dispatch("a", [1e-5] * 10, content="x"), made_up.dispatch("b", [2e-5] * 10, content="y")]
    base = reported.as_lean(made_up.results([made_up.call(before)], id="base"))
    now = [made_up.dispatch("a", [2e-5] * 10, content="y")]
    new = reported.as_lean(made_up.results([made_up.call(now)], id="new"))
    comparison = compare(base, new)
    found = [row for row in table_rows([new], comparison) if row.kind == "dispatch"]
    measured, gone = sorted(found, key=lambda row: row.state, reverse=True)
    assert (measured.state, gone.state, gone.verdict) == ("measured", "gone", "gone")
    assert [measured.base, gone.base] == pytest.approx([2e-5, 1e-5])
    assert len({row.link for row in found}) == 2
    ids = re.findall(r'<tr id="([^"]*)"', report([new], comparison=comparison))
    assert len(ids) == len(set(ids)) == 3


def test_what_was_not_run_is_a_row_with_the_reason() -> None:
    base = made_up.results([made_up.call([made_up.dispatch("a", [1e-5] * 10)])], id="base")
    missing = NotRun(model="model", backend="cpu", device=None, cause="absent-device", reason="no such device")
    new = reported.as_lean(made_up.results([], id="new").model_copy(update={"not_run": (missing,)}))
    found = table_rows([new], compare(reported.as_lean(base), new))
    assert {(row.benchmark, row.state, row.verdict, row.failure) for row in found} == {
        (name, "gone", "failed", "no such device") for name in ("a", "")
    }


def test_shapes_are_sizes_or_labels() -> None:
    calls = [
        made_up.call([], call=label, model=label, symbols=symbols)
        for label, symbols in (("B8_S1_128", {"B": 8, "S1": 128}), ("large", {"B": 8}), ("static", {}))
    ]
    result = reported.as_lean(made_up.results(calls))
    assert {row.model: row.shape for row in table_rows([result], None)} == {
        "B8_S1_128": "B=8,S1=128",
        "large": "large",
        "static": "static",
    }


def test_cold_caches_have_rows_of_their_own() -> None:
    dispatch = made_up.dispatch("d", [1e-5] * 3).model_copy(update={"cold": made_up.timing([3e-5] * 3), "share": 0.5})
    found = table_rows([reported.as_lean(made_up.results([made_up.call([dispatch])]))], None)
    warm, cold = (row for row in found if row.kind == "dispatch")
    assert (warm.caches, warm.share) == ("warm", 0.5)
    assert (cold.caches, cold.share) == ("cold", None)
    assert cold.seconds == pytest.approx(3e-5)


def test_links_are_unique_and_the_same_in_the_next_report(base: lean.Results, new: lean.Results) -> None:
    links = [row.link for row in table_rows([new], None)]
    assert len(set(links)) == len(links)
    assert set(links) == {row.link for row in table_rows([base], None)}
    together = [row.link for row in table_rows([base, new], None)]
    assert len(set(together)) == 2 * len(links)


def test_links_hold_any_name() -> None:
    result = reported.as_lean(made_up.results([made_up.call([], model="a/b c%&=#\u05d0", call="(x!)*'~")]))
    [row] = table_rows([result], None)
    assert row.link == "row=a%2Fb%20c%25%26%3D%23%D7%90/cpu/local/(x!)*'~/model///warm"


def test_the_data_cannot_end_the_script_element() -> None:
    evil = "</script><!--<script>&\u2028\u202e"
    result = reported.as_lean(made_up.results([made_up.call([], model=evil)]))
    found = table_rows([result], None)
    text = data_json(found, columns(found))
    assert not set(text) & set("<>&\u2028")
    assert json.loads(text)["texts"]["model"] == [evil]


def test_the_data_is_what_the_rows_are(comparison: Comparison, new: lean.Results) -> None:
    found = table_rows([new], comparison)
    data = json.loads(data_json(found, columns(found)))
    assert data["rows"] == len(found)
    assert [column[0] for column in data["shown"]] == [column.id for column in columns(found)]
    for number, row in enumerate(found):
        for name, value in row._asdict().items():
            values = data["columns"][name]
            if name in data["texts"]:
                assert data["texts"][name][values[number] if values else 0] == value
            else:
                assert values[number] == (None if value is None else pytest.approx(value, rel=5e-4))


def test_columns_are_those_that_tell_rows_apart(comparison: Comparison, new: lean.Results) -> None:
    alone = [column.id for column in columns(table_rows([new], None))]
    assert alone == ["benchmark", "model", "call", "variant", "seconds", "per_call", "total", "share", "failure"]
    compared = [column.id for column in columns(table_rows([new], comparison))]
    assert set(compared) - set(alone) == {"verdict", "ratio", "base"}
    assert same_for_all(table_rows([new], None)) == "backend cpu, device local"
    assert columns([])  # nothing was run: no rows, and a table all the same


def test_half_width() -> None:
    assert half_width(0.99, 1.01) == pytest.approx(0.01, rel=0.01)
    assert half_width(None, None) is None
    assert half_width(0.0, 1.0) is None
