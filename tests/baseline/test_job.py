"""Saving, checking and updating baselines, with results that no run gave."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import made_up_results as made_up
from dispatchgen.baseline.find import MissingBaselineError
from dispatchgen.baseline.job import Update, check, save, update
from dispatchgen.baseline.make import Given
from dispatchgen.baseline.store import machines, read_baseline
from dispatchgen.baseline.table import saved_lines, update_lines
from dispatchgen.baseline.update import Policy
from dispatchgen.comparison.conditions import Condition
from dispatchgen.errors import BaselineError, DispatchgenError, ManifestError
from dispatchgen.manifest.suite import Suite
from dispatchgen.results.schema import Compiled, DispatchResult, Measuring, Shard, WholeModel
from kept_results import call, dispatches, given, suite_in

OTHER_MACHINE = made_up.MACHINE.model_copy(update={"memory_bytes": 1 << 36})


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    """A suite whose baseline `nightly` has twenty dispatches."""
    suite = suite_in(tmp_path)
    save(suite, "nightly", given(tmp_path, made_up.results([call(dispatches())], id="base")))
    return suite


def changed(dispatch: DispatchResult, factor: float) -> DispatchResult:
    """The dispatch, so much as slow."""
    assert dispatch.timing is not None
    return made_up.dispatch(dispatch.name, [each[0] * factor for each in dispatch.timing.real])


def run(suite: Suite, found: Sequence[DispatchResult], *, id: str = "new") -> Path:
    """The file of a run that gave these dispatches."""
    [(path, _)] = given(suite.root, made_up.results([call(found)], id=id))
    return path


def updated(suite: Suite, found: Sequence[DispatchResult], policy: Policy = Policy(), *, id: str = "new") -> Update:  # noqa: B008
    """The update by a run that gave these dispatches."""
    [(_, result)] = given(suite.root, made_up.results([call(found)], id=id))
    return update(suite, "nightly", result, policy)


def checked(suite: Suite, found: Sequence[DispatchResult]) -> list[str]:
    """The failures of the check of a run that gave these dispatches."""
    [(_, result)] = given(suite.root, made_up.results([call(found)], id="new"))
    return [problem.message for problem in check(suite, "nightly", result).failures]


def seconds(suite: Suite) -> dict[str, float]:
    """The times of the dispatches in the baseline."""
    [path] = machines(suite.root, "nightly")
    return {row.benchmark: row.seconds for row in read_baseline(path).rows if row.kind == "dispatch"}


def test_the_file_is_named_after_the_machine(suite: Suite) -> None:
    [path] = machines(suite.root, "nightly")
    assert path.relative_to(suite.root).parts[:2] == ("baselines", "nightly")
    assert path.name.startswith("made_up_8x")


def test_a_baseline_is_not_replaced_by_accident(suite: Suite) -> None:
    results = given(suite.root, made_up.results([call(dispatches(2.0))], id="new"))
    before = seconds(suite)
    with pytest.raises(BaselineError, match="there is a baseline `nightly` for this machine already"):
        save(suite, "nightly", results)
    assert seconds(suite) == before
    save(suite, "nightly", results, force=True)
    assert seconds(suite) != before


def test_results_of_two_machines_are_no_baseline(tmp_path: Path) -> None:
    runs = [made_up.results([call(dispatches())], id="a")]
    runs.append(made_up.results([call(dispatches())], id="b", machine=OTHER_MACHINE))
    with pytest.raises(BaselineError, match="of several machines: memory"):
        save(suite_in(tmp_path), "nightly", given(tmp_path, *runs))


def test_one_run_twice_is_no_repetition(tmp_path: Path) -> None:
    result = given(tmp_path, made_up.results([call(dispatches())]))
    with pytest.raises(BaselineError, match="this is the same run as"):
        save(suite_in(tmp_path), "nightly", [*result, *result])


def test_runs_of_other_code_are_no_repetition(tmp_path: Path) -> None:
    """What they differ by would be taken for noise."""
    coded = [
        each.model_copy(update={"compiled": Compiled(seconds=1, peak_bytes=1, size=1, sha256="a" * 64)})
        for each in dispatches()
    ]
    base = made_up.results([call(coded)], id="base")
    other_code = [
        each.model_copy(update={"compiled": Compiled(seconds=1, peak_bytes=1, size=1, sha256="b" * 64)})
        for each in coded[:2]
    ]
    settings = call(coded)
    settings = settings.model_copy(update={"settings": settings.settings.model_copy(update={"repetitions": 9})})
    software = made_up.SOFTWARE.model_copy(update={"compiler": "IREE compiler version 3.14.0"})
    suite = suite_in(tmp_path)
    for other, message in (
        (made_up.results([call([*other_code, *coded[2:]])], id="code"), "2 of 20 modules are others"),
        (made_up.results([settings], id="settings"), "repetitions: 3 and 9"),
        (made_up.results([call(coded)], id="software", software=software), "compiler: .*3.13.0.* and .*3.14.0"),
        (made_up.results([call(coded)], id="turns", session="base"), "measured in turns"),
    ):
        with pytest.raises(BaselineError, match=message):
            save(suite, "nightly", given(tmp_path, base, other))
        [note] = save(suite, "nightly", given(tmp_path, base, other), force=True).notes
        assert f"{other.id}.json: it " in note
    like = made_up.results([call(coded)], id="like", software=made_up.SOFTWARE.model_copy(update={"commit": "c" * 40}))
    assert save(suite, "nightly", given(tmp_path, base, like), force=True).notes == ()


def test_a_baseline_that_is_blind_is_told(tmp_path: Path) -> None:
    runs = [made_up.results([call(dispatches(factor))], id=str(factor)) for factor in (1.0, 2.0)]
    lines = list(saved_lines(save(suite_in(tmp_path), "nightly", given(tmp_path, *runs))))
    assert any("a slowdown of 20 % is not seen: runs differ too much" in line for line in lines), lines


def test_what_was_not_measured_is_told(tmp_path: Path) -> None:
    found = [*dispatches(names=["a"]), made_up.dispatch("b", None), made_up.dispatch("c", [1e-5, 1e-5])]
    saved = save(suite_in(tmp_path), "nightly", given(tmp_path, made_up.results([call(found)])))
    assert {key.benchmark: why for key, why in saved.left_out.items()} == {
        "b": "it crashed",
        "c": "measured in 2 rounds, 3 are needed",
    }
    assert [row.benchmark for row in saved.baseline.rows if row.kind == "dispatch"] == ["a"]


def test_what_was_measured_once_is_no_baseline(tmp_path: Path) -> None:
    once = made_up.call([made_up.dispatch("a", [1e-5])], whole_model=WholeModel(timing=made_up.timing([1e-4])))
    with pytest.raises(BaselineError, match="nothing in the results can be a baseline: measured in 1 rounds"):
        save(suite_in(tmp_path), "nightly", given(tmp_path, made_up.results([once])))


def test_the_same_again_holds(suite: Suite) -> None:
    assert checked(suite, dispatches(seed="again")) == []


def test_a_slower_one_fails(suite: Suite) -> None:
    found = dispatches(seed="again")
    found[4] = changed(found[4], 1.2)
    [failure] = checked(suite, found)
    assert failure.startswith("1 benchmark is slower:")
    assert "matmul_4" in failure


def test_what_is_gone_and_what_fails_fail(suite: Suite) -> None:
    found = [*dispatches(seed="again")[:-1]]
    found[2] = made_up.dispatch("matmul_2", None)
    failures = checked(suite, found)
    assert {failure.split(":")[0] for failure in failures} == {
        "1 benchmark fails that was measured before",
        "1 benchmark is gone",
    }


def test_only_what_is_asked_for_fails(suite: Suite) -> None:
    [(_, result)] = given(suite.root, made_up.results([call(dispatches(seed="again")[:-1])], id="new"))
    assert check(suite, "nightly", result, [Condition("slower")]).failures == ()


def test_nothing_in_common_fails(suite: Suite) -> None:
    found = call(dispatches(names=["other"]), model="other")
    [(_, result)] = given(suite.root, made_up.results([found], id="new"))
    assert any("nothing was compared" in each.message for each in check(suite, "nightly", result, []).failures)


def test_another_machine_has_no_baseline(suite: Suite) -> None:
    [(_, result)] = given(suite.root, made_up.results([call(dispatches())], id="new", machine=OTHER_MACHINE))
    with pytest.raises(MissingBaselineError, match="there is no baseline `nightly` for this machine") as raised:
        check(suite, "nightly", result)
    assert raised.value.exit_code == 1
    assert "memory: 16 GiB and 64 GiB" in str(raised.value)


def test_a_misspelled_name_is_told(suite: Suite) -> None:
    [(_, result)] = given(suite.root, made_up.results([call(dispatches())], id="new"))
    with pytest.raises(MissingBaselineError, match="there is no baseline `nihgtly`") as raised:
        check(suite, "nihgtly", result)
    assert raised.value.problems[0].hint == "`nightly`"


def test_thresholds_allow_so_much(tmp_path: Path) -> None:
    suite = suite_in(
        tmp_path,
        'thresholds:\n- {benchmarks: "matmul_4", slower: 30%}\n- {benchmarks: "matmul_[45]", ignore: true}\n'
        '- {benchmarks: "*", model: model, slower: 10%}\n',
    )
    save(suite, "nightly", given(tmp_path, made_up.results([call(dispatches())], id="base")))
    found = dispatches(seed="again")
    found[4] = changed(found[4], 1.25)
    found[5] = changed(found[5], 5.0)
    found[6] = changed(found[6], 1.08)
    assert checked(suite, found) == []
    found[4] = changed(found[4], 1.5)
    found[7] = changed(found[7], 1.2)
    [failure] = checked(suite, found)
    assert failure.startswith("2 benchmarks are slower:")
    assert "matmul_4" in failure
    assert "matmul_7" in failure


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("mtamul_*", "`matmul_*`"),
        ("matmul_33", "`matmul_3`"),
        ("Matmul_4", "`matmul_4`"),
        ("*model*wohle", "one of `matmul_0`"),
        ("wholemodel", "`whole_model`"),
    ],
)
def test_a_threshold_that_fits_nothing_is_told(tmp_path: Path, pattern: str, hint: str) -> None:
    suite = suite_in(tmp_path, f'thresholds:\n- {{benchmarks: "{pattern}", slower: 30%}}\n')
    [(path, result)] = given(tmp_path, made_up.results([call(dispatches())], id="base"))
    save(suite, "nightly", [(path, result)])
    with pytest.raises(ManifestError, match="the threshold fits no benchmark") as raised:
        check(suite, "nightly", result)
    [problem] = raised.value.problems
    assert problem.hint is not None
    assert problem.hint.startswith(hint)
    assert problem.place is not None
    assert problem.place.line == 5


def test_an_update_takes_what_is_faster_and_keeps_what_is_slower(suite: Suite) -> None:
    before = seconds(suite)
    found = [*dispatches(seed="again"), made_up.dispatch("added", made_up.rounds_of(1e-5))]
    found[3] = changed(found[3], 0.7)
    found[4] = changed(found[4], 1.3)
    found[5] = made_up.dispatch("matmul_5", None)
    del found[6]
    done = updated(suite, found)
    assert {change.row.benchmark: change.action for change in done.changes} == {
        "matmul_3": "faster",
        "matmul_4": "kept",
        "matmul_5": "kept",
        "matmul_6": "kept",
        "added": "added",
    }
    after = seconds(suite)
    assert after["matmul_3"] == pytest.approx(before["matmul_3"] * 0.7, rel=0.02)
    assert after["added"] == pytest.approx(1e-5, rel=0.05)
    del after["matmul_3"], after["added"], before["matmul_3"]
    assert after == before
    [path] = machines(suite.root, "nightly")
    assert [each.id for each in read_baseline(path).results] == ["base", "new"]


def test_slower_ones_are_taken_by_pattern_only(suite: Suite) -> None:
    before = seconds(suite)
    found = dispatches(seed="again")
    found[3] = changed(found[3], 1.3)
    found[14] = changed(found[14], 1.3)
    done = updated(suite, found, Policy(accept_slower=["matmul_?"]))
    assert {change.row.benchmark: change.action for change in done.changes} == {
        "matmul_3": "accepted",
        "matmul_14": "kept",
    }
    after = seconds(suite)
    assert after["matmul_3"] > before["matmul_3"] * 1.2
    assert after["matmul_14"] == before["matmul_14"]
    with pytest.raises(BaselineError, match="--accept-slower `matmull_3` fits no benchmark"):
        updated(suite, found, Policy(accept_slower=["matmull_3"]))


def test_the_bar_does_not_creep(suite: Suite) -> None:
    before = seconds(suite)
    for night in range(8):
        updated(suite, [changed(each, 1.01**night) for each in dispatches(seed="again")], id=f"night{night}")
    assert seconds(suite) == before


def test_an_update_by_the_same_changes_no_byte(suite: Suite) -> None:
    [path] = machines(suite.root, "nightly")
    before = path.read_bytes()
    done = updated(suite, dispatches(seed="again"))
    assert done.changes == ()
    assert path.read_bytes() == before


def test_a_renamed_one_keeps_its_time(suite: Suite) -> None:
    before = seconds(suite)
    found = dispatches(seed="again")
    timing = found[3].timing
    assert timing is not None
    found[3] = made_up.dispatch("renamed", [each[0] for each in timing.real], content="matmul_3")
    done = updated(suite, found)
    assert [(change.action, change.row.benchmark) for change in done.changes] == [("renamed", "renamed")]
    after = seconds(suite)
    assert after.pop("renamed") == before.pop("matmul_3")
    assert after == before


def test_a_row_whose_name_another_has_now_is_removed(suite: Suite) -> None:
    before = seconds(suite)
    found = dispatches(seed="again")
    timing = found[4].timing
    assert timing is not None
    found[3:5] = [made_up.dispatch("matmul_3", timing.fastest, content="matmul_4")]
    done = updated(suite, found)
    assert [(change.action, change.row.benchmark, change.row.renamed_from) for change in done.changes] == [
        ("renamed", "matmul_3", "matmul_4"),
        ("replaced", "matmul_3", None),
    ]
    assert "removed, another has the name now: 1 benchmark" in list(update_lines(done))
    before["matmul_3"] = before.pop("matmul_4")
    assert seconds(suite) == before


@pytest.mark.parametrize(("rounds", "action"), [(10, "replaced"), (2, "kept"), (0, "kept")])
def test_a_row_stays_until_the_one_of_its_name_is_in_the_baseline(suite: Suite, rounds: int, action: str) -> None:
    """A row of the same name at another size is another one."""
    before = seconds(suite)
    found = dispatches(seed="again")
    times = made_up.rounds_of(7e-5, rounds=rounds) if rounds else None
    found[3] = made_up.dispatch("matmul_3", times).model_copy(update={"workload": (7,)})
    done = updated(suite, found)
    gone = [change.action for change in done.changes if change.row.verdict == "gone"]
    assert gone == [action]
    assert seconds(suite)["matmul_3"] == pytest.approx(7e-5 if action == "replaced" else before["matmul_3"], rel=0.05)


def test_the_sum_of_a_call_is_of_one_version(tmp_path: Path) -> None:
    suite = suite_in(tmp_path)

    def measured(id: str, **times: float | None) -> Given:
        found = [
            made_up.dispatch(name, made_up.rounds_of(time, seed=(id, name)) if time else None)
            for name, time in times.items()
        ]
        [made] = given(tmp_path, made_up.results([call(found)], id=id))
        return made

    def sums(given: Given) -> list[tuple[Any, int]]:
        return [(each.ratio, each.left_out) for each in check(suite, "nightly", given[1]).comparison.calls]

    save(suite, "nightly", [measured("one", a=1e-3, b=1e-3), measured("two", a=1e-3, b=1e-3)])
    fused = measured("fused", ab=1.8e-3)
    assert sums(fused) == [(pytest.approx(0.9, rel=0.02), 0)]
    update(suite, "nightly", fused[1])
    again = measured("again", ab=1.8e-3)
    assert sums(again) == [(pytest.approx(1.0, rel=0.02), 2)]  # what was fused is still beside it
    update(suite, "nightly", again[1], Policy(remove_gone=True))
    assert sums(measured("split", a=0.9e-3, b=0.9e-3)) == [(pytest.approx(1.0, rel=0.02), 0)]
    save(suite, "nightly", [measured("failing", a=1e-3, b=None)], force=True)
    assert sums(measured("fixed", a=1e-3, b=1e-3)) == [(pytest.approx(1.0, rel=0.02), 1)]  # not twice as much


def test_what_is_gone_is_removed_when_asked(suite: Suite) -> None:
    done = updated(suite, dispatches(seed="again")[1:], Policy(remove_gone=True))
    assert [(change.action, change.row.benchmark) for change in done.changes] == [("removed", "matmul_0")]
    assert "matmul_0" not in seconds(suite)


def test_other_sizes_of_a_call_replace_its_rows(suite: Suite) -> None:
    found = call(dispatches(3.0, names=["matmul_0", "wide"]), symbols={"B": 64})
    [(_, result)] = given(suite.root, made_up.results([found], id="new"))
    update(suite, "nightly", result)
    after = seconds(suite)
    assert sorted(after) == ["matmul_0", "wide"]
    assert after["matmul_0"] == pytest.approx(30e-6, rel=0.05)


def test_the_noise_of_a_benchmark_stays_when_its_time_is_replaced(tmp_path: Path) -> None:
    suite = suite_in(tmp_path)
    runs = [made_up.results([call(dispatches(f, seed=f))], id=str(f)) for f in (1.0, 1.02, 0.99)]
    save(suite, "nightly", given(tmp_path, *runs))
    updated(suite, dispatches(0.5))
    [path] = machines(suite.root, "nightly")
    rows = [row for row in read_baseline(path).rows if row.kind == "dispatch"]
    assert all(row.results == ("new",) and row.noise is not None and math.isfinite(row.noise) for row in rows)


def test_a_damaged_baseline_is_no_green_check(suite: Suite) -> None:
    [path] = machines(suite.root, "nightly")
    path.write_text(path.read_text().replace('"version": 1', '"version": 2'))
    [(_, result)] = given(suite.root, made_up.results([call(dispatches())], id="new"))
    for act in (check, update):
        with pytest.raises(DispatchgenError, match="written by a newer dispatchgen"):
            act(suite, "nightly", result)


def test_a_baseline_is_found_by_its_machine_whatever_its_file_is_called(suite: Suite) -> None:
    [path] = machines(suite.root, "nightly")
    path.rename(path.with_name("the_old_one.json"))
    assert checked(suite, dispatches(seed="again")) == []
    updated(suite, dispatches(0.5))
    assert [each.name for each in machines(suite.root, "nightly")] == ["the_old_one.json"]


def test_results_that_lack_rows_remove_nothing(suite: Suite) -> None:
    before = seconds(suite)
    shard = Shard(index=1, count=3)
    part = made_up.results([call(dispatches(names=["matmul_1"]))], id="part")
    failed = made_up.call([made_up.dispatch("a", None)], whole_model=WholeModel(timing=None, failure="it crashed"))
    for result, why in (
        (part.model_copy(update={"measuring": Measuring(shard=shard)}), "the result is of shard 1/3 alone"),
        (
            part.model_copy(update={"measuring": Measuring(shards=(shard,), merged=2)}),
            "the result is of shard 1/3 alone",
        ),
        (part.model_copy(update={"finished": None}), "the run was interrupted"),
        (made_up.results([failed], id="failed"), "nothing was measured"),
        (made_up.results([], id="empty"), "nothing was measured"),
    ):
        [(_, given_result)] = given(suite.root, result)
        with pytest.raises(BaselineError, match=f"what is gone cannot be told: {why}"):
            update(suite, "nightly", given_result, Policy(remove_gone=True))
        update(suite, "nightly", given_result)
        assert seconds(suite).keys() == before.keys()
    [note] = save(
        suite, "shard", given(suite.root, part.model_copy(update={"measuring": Measuring(shard=shard)}))
    ).notes
    assert note.endswith(": the result is of shard 1/3 alone")


def test_another_driver_is_no_reason_for_an_option_that_there_is_none_of(suite: Suite) -> None:
    device = made_up.MACHINE.devices[0].model_copy(update={"driver_version": "2"})
    machine = made_up.MACHINE.model_copy(update={"devices": (device,)})
    [(_, result)] = given(suite.root, made_up.results([call(dispatches())], id="new", machine=machine))
    with pytest.raises(BaselineError, match="of different machines: device local") as raised:
        check(suite, "nightly", result)
    assert raised.value.problems[-1].hint == (
        "`dispatchgen baseline save --force` replaces it by one of the machine as it is"
    )
