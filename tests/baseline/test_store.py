"""Files of baselines: rows are lines, the same rows are the same bytes, and what is damaged is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import made_up_results as made_up
from dispatchgen.baseline.as_results import as_results, noise_of
from dispatchgen.baseline.make import make
from dispatchgen.baseline.schema import Baseline
from dispatchgen.baseline.store import baseline_text, folder, read_baseline, write_baseline
from dispatchgen.errors import BaselineError
from dispatchgen.results import lean
from dispatchgen.results.schema import Compiled, SubstitutedDispatch, SubstitutionResult, WholeModel
from kept_results import dispatches, given


@pytest.fixture
def baseline(tmp_path: Path) -> Baseline:
    """Twenty dispatches and a whole model."""
    return make(given(tmp_path, made_up.results([made_up.call(dispatches())]))).baseline


def test_a_row_is_a_line(baseline: Baseline) -> None:
    lines = baseline_text(baseline).decode().splitlines()
    rows = [json.loads(line.rstrip(",")) for line in lines if '"seconds"' in line]
    assert [row.get("benchmark", "") for row in rows] == [row.benchmark for row in baseline.rows]
    assert list(rows[0])[:5] == ["model", "backend", "device", "call", "kind"]
    assert all(len(row["rounds"]) == 10 for row in rows)


def test_what_is_written_is_read(baseline: Baseline, tmp_path: Path) -> None:
    path = tmp_path / "baselines" / "nightly" / "machine.json"
    assert write_baseline(path, baseline)
    assert read_baseline(path) == baseline
    assert not write_baseline(path, read_baseline(path))
    json.loads(path.read_text())


def test_rows_are_sorted_whatever_the_order_of_the_result(tmp_path: Path) -> None:
    some = dispatches()
    one = make(given(tmp_path, made_up.results([made_up.call(some)]))).baseline
    other = make(given(tmp_path, made_up.results([made_up.call(some[::-1])]))).baseline
    assert baseline_text(one) == baseline_text(other)


def test_results_of_a_baseline_have_the_rows_of_the_result(tmp_path: Path) -> None:
    timed = made_up.timing(made_up.rounds_of(1e-5))
    compiled = Compiled(seconds=1.0, peak_bytes=5, size=100, sha256="ab" * 32)
    own = made_up.dispatch("matmul", made_up.rounds_of(2e-5), count=3)
    own = own.model_copy(
        update={
            "cold": timed,
            "compiled": compiled,
            "workload": (4, 2),
            "constants": (("i32", 7),),
            "data": ("random",),
        }
    )
    substituted = SubstitutedDispatch(
        name="matmul",
        benchmark="matmul",
        operation="matmul",
        kind="source",
        file="fast.mlir",
        sha256=None,
        same=None,
        target_differences=(),
        notes=(),
        count=3,
        original=own.timing,
        timing=timed,
        ratio=0.5,
        cold=timed,
        agreement=None,
        failure=None,
        compiled=compiled,
    )
    variant = SubstitutionResult(
        name="fast one",
        id="fast_one",
        members=(),
        acting=("fast_one",),
        dispatches=(substituted,),
        whole_model=WholeModel(timing=timed, compiled=compiled),
        same=False,
        ratio=0.9,
    )
    cold_only = made_up.dispatch("relu", made_up.rounds_of(2e-5)).model_copy(update={"timing": None, "cold": timed})
    call = made_up.call([own, cold_only], symbols={"B": 2}).model_copy(
        update={"initializers": (made_up.dispatch("fill", made_up.rounds_of(1e-6)),), "substitutions": (variant,)}
    )
    [(path, result)] = given(tmp_path, made_up.results([call]))
    found = as_results(make([(path, result)]).baseline)
    rows, expected = ({row.key: row for row in lean.rows(each)} for each in (found, result))
    assert rows.keys() == expected.keys()
    assert len(rows) == 8
    for key, row in rows.items():
        other = expected[key]
        assert row.timing is not None and other.timing is not None
        assert row.timing.seconds == pytest.approx(other.timing.seconds, rel=1e-5)
        assert row.timing.fastest == pytest.approx(other.timing.fastest, rel=1e-5)
        assert row.count == other.count
        assert (row.dispatch is None) == (other.dispatch is None)
        if row.dispatch is not None and other.dispatch is not None:
            for name in ("name", "operation", "content", "workload", "constants", "bindings", "data"):
                assert getattr(row.dispatch, name) == getattr(other.dispatch, name)
        assert (row.compiled and row.compiled.sha256) == (other.compiled and other.compiled.sha256)
    assert found.calls[0].symbols == {"B": 2}
    assert found.calls[0].settings == result.calls[0].settings


def test_noise_is_what_runs_of_the_same_code_differ_by(tmp_path: Path) -> None:
    factors = (1.0, 1.04, 0.98)
    runs = [
        made_up.results([made_up.call(dispatches(factor, seed=factor))], id=f"run{index}")
        for index, factor in enumerate(factors)
    ]
    made = make(given(tmp_path, *runs))
    noise = noise_of(made.baseline)
    assert len(noise) == 21
    assert all(0.02 < each < 0.045 for each in noise.values())
    rows = {row.benchmark: row for row in made.baseline.rows}
    assert len(rows["matmul_3"].rounds) == 30
    assert rows["matmul_3"].results == ("run0", "run1", "run2")
    assert rows["matmul_3"].seconds == pytest.approx(13e-6, rel=0.03)


def test_one_run_tells_no_noise(baseline: Baseline) -> None:
    assert noise_of(baseline) == {}


def test_a_row_of_two_runs_that_agree_by_chance_has_the_noise_of_the_others(tmp_path: Path) -> None:
    some, other = dispatches(1.0), dispatches(1.05)
    other[0] = some[0]
    runs = [made_up.results([made_up.call(each)], id=name) for each, name in ((some, "a"), (other, "b"))]
    noise = {key.benchmark: each for key, each in noise_of(make(given(tmp_path, *runs)).baseline).items()}
    assert noise["matmul_0"] == pytest.approx(0.0345, abs=0.002)


@pytest.mark.parametrize("name", ["", "..", "a/b", ".hidden", "-x", "a b", "x" * 65])
def test_names_that_are_none_of_a_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="cannot be the name of a baseline"):
        folder(tmp_path, name)


def _damage(text: str, what: str) -> str:
    first = next(line for line in text.splitlines() if '"seconds"' in line)
    return {
        "cut off": text[: len(text) // 2],
        "a conflict": text.replace(first, f"<<<<<<< HEAD\n{first}\n=======\n{first}\n>>>>>>> other"),
        "a row twice": text.replace(first, f"{first}\n{first}"),
        "a word for a number": text.replace('"seconds":', '"seconds":"fast","was":', 1),
        "no rounds": text.replace(first, first.partition('"rounds":')[0] + '"rounds":[],"results":["a"]},'),
        "a count below 0": text.replace('"count":', '"count":-1,"was":', 1),
        "noise below 0": text.replace('"seconds":', '"noise":-1,"seconds":', 1),
        "noise beyond all": text.replace('"seconds":', '"noise":1e308,"seconds":', 1),
        "a time beyond all": text.replace('"seconds":', '"seconds":1e308,"was":', 1),
        "a time below all": text.replace('"seconds":', '"seconds":5e-324,"was":', 1),
        "no run": text.replace('"results":["a"]', '"results":["b"]', 1),
        "a run of no time": text.replace('"started":"', '"started":"yesterday ', 1),
        "no call": text.replace('"call":"static"', '"call":"other"', 1),
        "an older version": text.replace('"version": 1', '"version": 0'),
        "a newer version": text.replace('"version": 1', '"version": 2, "new key": {}'),
        "another machine": text.replace('"cores":8', '"cores":"many"'),
        "no software": text.replace('"runtime":"3.13.0",', ""),
        "no JSON": "slow: yes\n",
    }[what]


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("cut off", "the baseline is damaged: Input data was truncated"),
        ("a conflict", "the baseline has a merge conflict"),
        ("a row twice", "the row `model on cpu, local, static: matmul_0` is there 2 times"),
        ("a word for a number", r"the baseline is damaged: Expected `float`, got `str` - at `\$.rows\[0\].seconds`"),
        ("no rounds", "the row `model on cpu, local, static: matmul_0` has no times"),
        ("a count below 0", "the baseline is damaged: Expected `int` >= 0"),
        ("noise below 0", "the baseline is damaged: Expected `float` >= 0"),
        ("noise beyond all", "the baseline is damaged: Expected `float` <= 100"),
        ("a time beyond all", "the baseline is damaged: Expected `float` <= 1000000000"),
        ("a time below all", "the row `model on cpu, local, static: matmul_0` has no times"),
        ("no run", "the row `model on cpu, local, static: matmul_0` is of a run that is not listed"),
        ("a run of no time", "the run a has no time: 'yesterday 2026"),
        ("no call", "is of a call that is not listed"),
        ("an older version", "its format has version 0, dispatchgen .* reads version 1"),
        ("a newer version", "was written by a newer dispatchgen: its format has version 2"),
        ("another machine", "the baseline is damaged: the machine: cpu.cores: Input should be a valid integer"),
        ("no software", "the baseline is damaged: the software of run a: runtime: Field required"),
        ("no JSON", "the baseline is damaged: JSON is malformed"),
    ],
)
def test_damaged_files_are_told(baseline: Baseline, tmp_path: Path, what: str, message: str) -> None:
    path = tmp_path / "machine.json"
    path.write_text(_damage(baseline_text(baseline).decode(), what))
    with pytest.raises(BaselineError, match=message) as raised:
        read_baseline(path)
    assert raised.value.exit_code == 2


def test_there_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="cannot read the baseline: No such file"):
        read_baseline(tmp_path / "none.json")
