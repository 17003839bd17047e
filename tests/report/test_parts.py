"""Summary, ranking, variants, compile statistics: what the page says besides its table."""

from __future__ import annotations

import re
import shlex

import msgspec
import pytest

import made_up_results as made_up
import reported
from dispatchgen.comparison.compare import compare
from dispatchgen.report import compiled, format, ranking, summary, variants
from dispatchgen.report.commands import command
from dispatchgen.report.markdown import markdown
from dispatchgen.report.modules import changed_modules
from dispatchgen.report.report import report
from dispatchgen.report.table import as_mapping, table_rows
from dispatchgen.results import lean
from dispatchgen.results.schema import BuildFailure, Compiled, DeviceUsed, Measuring, NotRun, Shard, Timing, WholeModel


def test_where_and_how(new: lean.Results) -> None:
    run = summary.run_of(new)
    assert dict(run.machine)["processor"] == "Made-up CPU, x86_64, 8 in use, 2 threads per core"
    assert dict(run.machine)["device local"] == "local-sync: default"
    assert dict(run.software)["compiler"] == "IREE compiler version 3.13.0"
    assert run.uncontrolled == ("the machine is virtual",)
    assert run.started == "2026-01-01 00:00 UTC"
    assert "10 rounds of 3 repetitions, each of at least 0.01s. Runs per timed call: 1." in run.method


def test_how_a_shard_with_a_budget_was_measured() -> None:
    found = made_up.results([made_up.call([])])
    measuring = Measuring(budget_seconds=600, spent_seconds=590, rounds=12, shard=Shard(index=2, count=4), merged=2)
    run = summary.run_of(reported.as_lean(found.model_copy(update={"measuring": measuring, "finished": None})))
    assert run.method[0] == "12 rounds were begun, in 9.8 min of a budget of 10.0 min."
    assert "This is shard 2 of 4: a part of the suite." in run.method
    assert "It is merged of 2 result files." in run.method
    assert run.finished is None


def test_coverage_and_equal_reasons_are_told_once(new: lean.Results) -> None:
    assert summary.covered(new.calls) == summary.Covered(34, 24, 8, 2, 0)
    failed, skipped = summary.reasons([new])
    assert (failed.kind, failed.text, failed.count) == ("failed", reported.FAILURE, 2)
    assert failed.first_line == "it crashed: signal 11"
    assert failed.places[0] == "gather_10xf32 of mlp on cpu, local, B64"
    assert (skipped.kind, skipped.text, skipped.count) == ("skipped", "no size", 8)


def test_reasons_of_what_was_not_run_or_built() -> None:
    device = DeviceUsed(id="gpu", uri="vulkan", run_flags=())
    absent = NotRun(model="m", backend="b", device=device, cause="absent-device", reason="no driver")
    failure = BuildFailure(step="compile", model="m", backend="b", dispatch="d", reason="out of memory")
    found = made_up.results([]).model_copy(update={"not_run": (absent,), "build_failures": (failure,)})
    not_run, not_built = summary.reasons([reported.as_lean(found)])
    assert (not_run.kind, not_run.text, not_run.places) == ("not run", "no driver", ["m on b, gpu"])
    assert (not_built.text, not_built.places) == ("compile: out of memory", ["m, b, d"])


def test_many_places_of_one_reason_are_counted() -> None:
    reason = summary.Reason("failed", "why")
    for number in range(1000):
        reason.add(str(number))
    assert (reason.count, len(reason.places)) == (1000, 50)


def test_ranking(new: lean.Results) -> None:
    first, *others = ranking.ranked([new], table_rows([new], None))
    assert (first.call.call, first.share_of) == ("B64", "the whole model's time")
    assert [row.benchmark for row in first.rows] == [
        f"{name}_f32__B64" for name in ("matmul_Dx512x784", "reduce_D", "add_D")
    ]
    assert first.others == 0
    assert len(others) == 7
    assert first.seconds == max(each.seconds or 0.0 for each in (first, *others))


def test_what_is_not_shown_of_a_call_is_summed() -> None:
    many = [made_up.dispatch(f"d{number}", [1e-5] * 3) for number in range(20)]
    call = made_up.call([each.model_copy(update={"share": 0.05}) for each in many])
    result = reported.as_lean(made_up.results([call]))
    [found] = ranking.ranked([result], table_rows([result], None))
    assert (len(found.rows), found.others) == (12, 8)
    assert found.others_share == pytest.approx(0.4)


def test_variants_are_compared_round_by_round(new: lean.Results) -> None:
    first, whole = variants.variants([new])[:2]
    assert (first.benchmark, first.substitution, first.file) == (
        "matmul_Dx512x784_f32__B1",
        "by hand",
        "kernels/matmul.c",
    )
    assert first.ratio is not None and first.ratio.low is not None and first.ratio.high is not None
    assert 0.79 < first.ratio.low < first.ratio.value < first.ratio.high < 0.81
    assert whole.benchmark == ""
    assert variants.count([new]) == 16


def test_ratios_of_few_or_other_rounds() -> None:
    base, new = (lean_timing(made_up.timing([seconds] * 2)) for seconds in (2e-6, 1e-6))
    elsewhere = lean_timing(made_up.timing([2e-6] * 2).model_copy(update={"rounds": (7, 8)}))
    for other in (base, elsewhere):
        found = variants.ratio_of(new, other)
        assert found is not None
        assert found.value == pytest.approx(0.5)
        assert (found.low, found.high) == (None, None)
    assert variants.ratio_of(None, base) is None


def lean_timing(timing: Timing) -> lean.Timing:
    return msgspec.json.decode(timing.model_dump_json(), type=lean.Timing)


def test_compile_statistics(new: lean.Results) -> None:
    mlp, attention = compiled.compiled_models([new])
    assert (mlp.model, mlp.backend, mlp.dispatches, mlp.size) == ("mlp", "cpu", 3, 3 * 12_345)
    assert (mlp.seconds, mlp.peak_bytes) == (0.4, 1 << 26)
    assert (attention.seconds, attention.peak_bytes) == (None, None)
    [step] = compiled.build_steps([new, new])
    assert (step.name, step.what, step.seconds) == ("compile", reported.FAILED, 0.4)


def test_commands_of_rows() -> None:
    result = reported.as_lean(reported.results(models=("m n",)))
    found = {(row.kind, row.variant): command(as_mapping(row)) for row in table_rows([result], None)}
    place = "--backend cpu --device local"
    name = "matmul_Dx512x784_f32"
    assert found["dispatch", "by_hand"] == (
        f"dispatchgen repro 'm n' --dispatch {name} --benchmark {name}__B1 --substitution by_hand {place}"
    )
    assert found["model", ""] == f"dispatchgen run --model 'm n' --shape B=1 {place}"
    cold = {
        "kind": "dispatch",
        "caches": "cold",
        "model": "m",
        "dispatch": "d",
        "benchmark": "d__B1",
        "variant": "",
        "backend": "",
        "device": "",
    }
    assert command(cold) == "dispatchgen repro m --dispatch d --benchmark d__B1__cold"
    assert shlex.split(found["model", "by_hand"])[-6:-4] == ["--substitution", "by_hand"]


def test_modules_of_another_size() -> None:
    """One line each, however many sizes it is measured at; also of what was renamed. The same size is none."""

    def run(id: str, sizes: dict[str, int], names: str) -> lean.Results:
        contents = dict(zip(names, "xyz", strict=True))
        dispatches = [
            made_up.dispatch(name, [1e-5] * 3, content=contents[name]).model_copy(
                update={"benchmark": f"{name}__{size}", "workload": (size,), "compiled": compiled_to(id, sizes[name])}
            )
            for name in names
            for size in (1, 2)
        ]
        whole = WholeModel(timing=made_up.timing([1e-4] * 3), compiled=compiled_to(id, sizes["model"]))
        return reported.as_lean(made_up.results([made_up.call(dispatches, whole_model=whole)], id=id))

    def compiled_to(id: str, size: int) -> Compiled:
        return Compiled(seconds=None, peak_bytes=None, size=size, sha256=id)

    base = run("base", {"model": 10_000, "a": 2000, "b": 500, "c": 7}, "abc")
    new = run("new", {"model": 9000, "a": 6000, "d": 501, "c": 7}, "adc")
    comparison = compare(base, new)
    found = changed_modules(base, new, comparison)
    assert [(each.dispatch, each.base, each.new) for each in found] == [
        ("a", 2000, 6000),
        ("", 10_000, 9000),
        ("d", 500, 501),
    ]
    page = report([new], comparison=comparison, base=base)
    row = page.partition("the whole model of model on cpu</th>")[2].partition("</tr>")[0]
    assert re.findall(r">([^<]+)</td>", row) == ["9.8 KiB", "8.8 KiB", "\N{MINUS SIGN}1000 B"]
    assert "| `a of model on cpu` | 2.0 KiB | 5.9 KiB | +3.9 KiB |" in markdown([new], comparison=comparison, base=base)
    assert "another size" not in report([new], comparison=compare(new, new), base=new)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (format.size(None), "-"),
        (format.size(0), "0 B"),
        (format.size(1023), "1023 B"),
        (format.size(1024), "1.0 KiB"),
        (format.size(150 << 20), "150 MiB"),
        (format.size(1 << 50), "1048576 GiB"),
        (format.difference(2048), "+2.0 KiB"),
        (format.difference(-1), "\N{MINUS SIGN}1 B"),
        (format.count(1234567), "1\u202f234\u202f567"),
        (format.count(None), "?"),
        (format.ratio(1.0), "1.000"),
        (format.interval(0.001, 1e4), "<0.01 to >100"),
        (format.plus_minus(2.0), "± >100 %"),
        (format.interval(0.9, None), ""),
        (format.plus_minus(0.0123), "± 1.2 %"),
        (format.at(1.0), 60.0),
        (format.at(1e9), 114.0),
        (format.at(0.0), 6.0),
    ],
)
def test_numbers_as_they_are_shown(text: object, expected: object) -> None:
    assert text == expected
