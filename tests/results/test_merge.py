from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import made_up_results
from dispatchgen.cli.merge_results import command
from dispatchgen.errors import CheckFailed, ResultsError
from dispatchgen.results.fill import fill
from dispatchgen.results.load import load_full
from dispatchgen.results.measure import measure
from dispatchgen.results.merge import merge
from dispatchgen.results.policy import Policy
from dispatchgen.results.prepare import Prepared
from dispatchgen.results.schema import NotRun, Results, Shard
from dispatchgen.results.shard import narrowed
from dispatchgen.results.task import Target, Task
from dispatchgen.results.write import text_of
from made_up_tasks import SETTINGS, Kernel, Memory, World, frame_of

TARGET = Target("model", "cpu", "local", "dispatch")


def _tasks(world: World, dispatches: int = 6) -> list[Task]:
    """Dispatches, the second with a substitute, and whole models; one benchmark fails."""
    tasks = []
    for number in range(dispatches):
        name = f"d{number}"
        kernels = {f"{name}__1": Kernel(1e-4 * (number + 1), noise=0.1), f"{name}__2": Kernel(noise=0.1)}
        if number == 2:
            kernels["d2__2"] = Kernel(fails_at=6)
        tasks.append(world.task(name, kernels, group=name, batch_size="auto"))
        if number % 2:
            variant = TARGET._replace(variant="v")
            tasks.append(world.task(f"{name}/v", kernels, group=name, target=variant, batch_size="auto"))
    for call in ("one", "two"):
        tasks.append(world.task(call, {call: Kernel(1e-3, noise=0.1)}, target=TARGET._replace(kind="model")))
    return tasks


def _run(shard: Shard | None, *, id: str, policy: Policy | None = None, dispatches: int = 6) -> Results:
    world = World()
    tasks = _tasks(world, dispatches)
    prepared = Prepared(frame_of(tasks), tuple(tasks))
    if shard is not None:
        prepared = narrowed(prepared, shard)
    keeper = Memory()
    found = measure(prepared.tasks, policy or Policy("a"), lambda _: keeper, now=world.now)
    frame = prepared.frame.model_copy(update={"id": id, "session": id, "finished": "2026-01-01T01:00:00+00:00"})
    return fill(frame, found)


def _shards(count: int, **how: Any) -> list[tuple[str, Results]]:
    return [
        (f"{index}.json", _run(Shard(index=index, count=count), id=str(index), **how)) for index in range(1, count + 1)
    ]


def _without_times(results: Results) -> object:
    """What results hold but for when it was measured, and in how many files."""
    data = results.model_dump(mode="json", exclude={"id", "session", "started", "finished", "measuring"})

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(item) for key, item in value.items() if key != "at"}
        return [without(item) for item in value] if isinstance(value, list) else value

    return without(data)


WHOLE = _run(None, id="whole")
SHARDS = {count: _shards(count) for count in (1, 2, 3, 5)}


@settings(max_examples=12)
@given(st.sampled_from(sorted(SHARDS)).flatmap(lambda count: st.permutations(range(count))))
def test_shards_merged_in_any_order_are_the_whole(order: Sequence[int]) -> None:
    files = [SHARDS[len(order)][index] for index in order]
    merged = merge(files)
    assert _without_times(merged.results) == _without_times(WHOLE)
    assert merged.missing == ()
    assert merged.results.measuring.merged == len(files)
    assert merged.results.measuring.rounds == WHOLE.measuring.rounds
    assert merged.results.measuring.spent_seconds == pytest.approx(WHOLE.measuring.spent_seconds)
    assert merged.results == merge(sorted(files)).results
    assert Results.model_validate_json(text_of(merged.results)) == merged.results


def test_a_shard_alone_says_what_it_leaves_out() -> None:
    for count, files in SHARDS.items():
        found = [result.calls[0] for _, result in files]
        assert sum(call.coverage.left_out for call in found) == (count - 1) * 12
        assert all(call.coverage.dispatches == 12 for call in found)
        assert all(call.sum_seconds is None for call in found if call.coverage.left_out)
        assert sum(not call.whole_model.left_out for call in found) == 1


def test_what_is_merged_can_be_merged_further() -> None:
    first, second, *rest = SHARDS[5]
    merged = merge([first, second])
    assert [shard.index for shard in merged.missing] == [3, 4, 5]
    both = merge([("both.json", merged.results), *rest])
    assert both.missing == ()
    more = merge([("whole.json", WHOLE), first])
    assert (more.missing, more.results.measuring.shards) == ((), ()), "one that is of everything lacks nothing"
    assert _without_times(both.results) == _without_times(WHOLE)
    assert both.results.measuring.merged == 5
    assert both.results.measuring.runs == tuple(sorted(result.id for _, result in SHARDS[5]))
    for again in (first, ("both.json", both.results)):
        with pytest.raises(ResultsError, match=r"a run of it is also in both\.json|a run of it is also in 1\.json"):
            merge([("both.json", both.results), again])


def test_rounds_of_rows_that_were_measured_twice_are_put_together() -> None:
    again = _run(None, id="again").model_copy(update={"started": "2026-01-01T00:01:00+00:00"})
    merged = merge([("again.json", again), ("whole.json", WHOLE)]).results
    rows = {row.benchmark: row for row in merged.calls[0].dispatches}
    for one in WHOLE.calls[0].dispatches:
        row = rows[one.benchmark]
        if one.timing is None:
            assert row.failure == one.failure
            continue
        assert row.timing is not None
        assert row.timing.rounds == (0, 1, 2, 3, 4, 5)
        assert row.timing.real == (*one.timing.real, *one.timing.real)
        assert row.timing.at[3:] == tuple(at + 60 for at in one.timing.at)
    assert merged.measuring.rounds == 6
    assert merged.started == WHOLE.started


def test_what_was_not_reached_once_is_taken_from_where_it_was() -> None:
    short = _run(None, id="short", policy=Policy("a", budget=1.0))
    assert any((row.failure or "").startswith("not measured") for row in short.calls[0].dispatches)
    merged = merge([("short.json", short), ("whole.json", WHOLE)]).results
    failures = [row.failure for row in merged.calls[0].dispatches if row.failure is not None]
    assert failures == [row.failure for row in WHOLE.calls[0].dispatches if row.failure is not None]


@pytest.mark.parametrize("hour", [1, 3])
def test_rounds_of_what_is_compared_stay_those_of_one_run(hour: int) -> None:
    """An original and its substitute are paired by round: also where only one of them was reached in a run."""
    short = _run(None, id="short", policy=Policy("short", budget=7.0)).model_copy(
        update={"started": f"2026-01-01T0{hour}:00:00+00:00"}
    )
    whole = WHOLE.model_copy(update={"started": "2026-01-01T02:00:00+00:00"})
    call = merge([("short.json", short), ("whole.json", whole)]).results.calls[0]
    originals = {row.benchmark: row.timing for row in call.dispatches}
    hours = []
    for row in call.substitutions[0].dispatches:
        original = originals[row.benchmark]
        assert original is not None and row.timing is not None
        one, other = (
            dict(zip(timing.rounds, (at >= 3600 for at in timing.at), strict=True)) for timing in (original, row.timing)
        )
        hours += [(one[round], other[round]) for round in one.keys() & other.keys()]
    assert len({len(timing.rounds) for timing in originals.values() if timing is not None}) == 2
    assert all(one == other for one, other in hours) and hours


def test_what_no_device_was_there_for_is_told_once() -> None:
    absent = NotRun(model="m", backend="gpu", device=None, cause="absent-device", reason="none")
    files = [(name, result.model_copy(update={"not_run": (absent,)})) for name, result in SHARDS[3]]
    assert merge(files).results.not_run == (absent,)


def _changed(result: Results, **environment: Any) -> Results:
    return result.model_copy(update={"environment": result.environment.model_copy(update=environment)})


def test_what_does_not_belong_together_is_refused_with_all_reasons() -> None:
    (one, first), (two, second), (three, third) = SHARDS[3]
    other = made_up_results.MACHINE.model_copy(update={"memory_bytes": 1 << 30})
    newer = made_up_results.SOFTWARE.model_copy(update={"compiler": "IREE compiler version 3.14.0"})
    files = [
        (one, first),
        (two, _changed(second, machine=other)),
        (three, _changed(third, software=newer)),
        ("again.json", first),
        ("fourth.json", SHARDS[5][3][1].model_copy(update={"id": "fourth"})),
    ]
    with pytest.raises(ResultsError) as error:
        merge(files)
    text = str(error.value)
    for expected in (
        "it was measured on another machine than 1.json",
        "it was measured with other software than 1.json",
        "IREE compiler version 3.14.0",
        "a run of it is also in 1.json",
        "they are shards of different numbers: of 3 and 5",
    ):
        assert expected in text
    kernel = made_up_results.SOFTWARE.model_copy(update={"kernel": "6.1.0-19"})
    files = [(one, first), (two, _changed(second, machine=other)), (three, _changed(third, software=kernel))]
    assert _without_times(merge(files, force=True).results) == _without_times(WHOLE)


def test_rows_that_cannot_be_one_are_refused() -> None:
    turns = _run(None, id="turns").model_copy(update={"session": "whole"})
    with pytest.raises(ResultsError, match=r"was measured in turns with that in a\.json") as error:
        merge([("a.json", turns), ("b.json", WHOLE)])
    assert len(error.value.problems) == len({str(problem) for problem in error.value.problems})
    calls = tuple(
        call.model_copy(
            update={
                "dispatches": tuple(
                    row.model_copy(update={"compiled": row.compiled.model_copy(update={"sha256": "1"})})
                    for row in call.dispatches
                    if row.compiled is not None
                ),
                "settings": SETTINGS.model_copy(update={"repetitions": 9}),
            }
        )
        for call in turns.calls
    )
    other = turns.model_copy(update={"session": "other", "calls": calls})
    with pytest.raises(ResultsError) as error:
        merge([("a.json", WHOLE), ("b.json", other)])
    text = str(error.value)
    assert "d0__1 is another module than in" in text
    assert "model on cpu, local, one: settings differ from those in" in text


def _written(tmp_path: Path, files: Sequence[tuple[str, Results]]) -> list[str]:
    for name, result in files:
        (tmp_path / name).write_text(text_of(result))
    return [str(tmp_path / name) for name, _ in files]


def test_the_command_writes_the_whole(tmp_path: Path) -> None:
    files = _written(tmp_path, SHARDS[3])
    output = tmp_path / "all.json"
    done = CliRunner().invoke(command, [*files, "-o", str(output)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "22 of 24 dispatches measured, in 2 calls" in done.output
    assert _without_times(load_full(output)) == _without_times(WHOLE)
    texts = set()
    for order in itertools.permutations(files):
        CliRunner().invoke(command, [*order, "-o", str(output)], catch_exceptions=False)
        texts.add(output.read_bytes())
    assert len(texts) == 1


def test_the_command_says_which_shards_are_missing(tmp_path: Path) -> None:
    files = _written(tmp_path, SHARDS[3])
    output = tmp_path / "all.json"
    with pytest.raises(CheckFailed, match="shards are missing: 1/3, 3/3"):
        CliRunner().invoke(command, [files[1], "-o", str(output)], catch_exceptions=False)
    assert load_full(output).measuring.shards == (Shard(index=2, count=3),)
    done = CliRunner().invoke(command, [files[1], "-o", str(output), "--partial"], catch_exceptions=False)
    assert "missing: shards 1/3, 3/3" in done.output


def test_the_command_fails_where_nothing_was_measured(tmp_path: Path) -> None:
    (file,) = _written(tmp_path, [("none.json", made_up_results.results([]))])
    with pytest.raises(CheckFailed, match="nothing was measured"):
        CliRunner().invoke(command, [file, "-o", str(tmp_path / "all.json")], catch_exceptions=False)


def test_the_command_writes_over_none_of_its_inputs(tmp_path: Path) -> None:
    files = _written(tmp_path, SHARDS[3])
    before = Path(files[1]).read_bytes()
    done = CliRunner().invoke(command, [*files, "-o", files[1]])
    assert done.exit_code == 2
    assert "--output: " in done.output and "is read, and would be written over" in done.output
    assert Path(files[1]).read_bytes() == before


def test_the_command_names_each_file_that_it_cannot_read(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("[]")
    with pytest.raises(ResultsError) as error:
        CliRunner().invoke(
            command, [str(bad), str(tmp_path / "none.json"), "-o", str(tmp_path / "o")], catch_exceptions=False
        )
    assert len(error.value.problems) == 2
