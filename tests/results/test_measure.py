from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.results.batch import LARGEST, best, cost, trial
from dispatchgen.results.measure import BUDGET_SPENT, measure
from dispatchgen.results.measurements import Measured, Measurements
from dispatchgen.results.order import order_of
from dispatchgen.results.policy import Policy, longest_call
from dispatchgen.results.task import Task
from made_up_tasks import SETTINGS, Kernel, Memory, World


def _measure(world: World, tasks: Sequence[Task], policy: Policy | None = None) -> tuple[Measurements, Memory]:
    memory = Memory()
    return measure(tasks, policy or Policy("a"), lambda _: memory, now=world.now), memory


def _of(found: Measurements, task: Task, benchmark: str) -> Measured:
    return found.measured[task.target, benchmark]


def test_each_round_runs_each_task_once_in_another_order() -> None:
    world = World()
    tasks = [world.task(f"t{number}", {f"b{number}": Kernel()}) for number in range(6)]
    found, memory = _measure(world, tasks)
    rounds = [[each.task for each in memory.appended if each.round == number] for number in range(3)]
    assert [sorted(each) for each in rounds] == [[f"t{number}" for number in range(6)]] * 3
    assert len({tuple(each) for each in rounds}) == 3
    assert found.rounds == 3
    assert found.spent_seconds == 18 * 0.25
    measured = _of(found, tasks[0], "b0")
    assert [each.round for each in measured.samples] == [0, 1, 2]
    assert measured.failure is None


@given(st.lists(st.integers(0, 4), max_size=12), st.integers(0, 5))
def test_the_order_keeps_groups_together_and_turns_them_around(groups: list[int], round: int) -> None:
    world = World()
    tasks = [world.task(f"t{index}", {"b": Kernel()}, group=f"g{group}") for index, group in enumerate(groups)]
    ordered = order_of(tasks, "seed", round)
    assert sorted(task.id for task in ordered) == sorted(task.id for task in tasks)
    names = [task.group for task in ordered]
    assert len([name for before, name in zip([None, *names], names, strict=False) if before != name]) == len(set(names))
    for group in set(names):
        ids = [task.id for task in ordered if task.group == group]
        given = [task.id for task in tasks if task.group == group]
        assert ids == (given[::-1] if round % 2 else given)
    assert ordered == order_of(tasks, "seed", round)


def test_what_fails_once_is_not_measured_again_and_says_after_how_many_rounds() -> None:
    world = World()
    task = world.task("t", {"good": Kernel(), "bad": Kernel(fails_at=2), "never": Kernel(fails_at=0)})
    found, memory = _measure(world, [task])
    assert _of(found, task, "good").failure is None
    assert _of(found, task, "bad").failure == "after 2 rounds that went well: it crashed"
    assert len(_of(found, task, "bad").samples) == 2
    assert _of(found, task, "never") == Measured(failure="it crashed")
    assert [each.benchmarks for each in memory.appended] == [
        ("good", "bad", "never"),
        ("good", "bad"),
        ("good", "bad"),
    ]


def test_what_hangs_is_not_run_again() -> None:
    world = World()
    task = world.task("t", {"b": Kernel()}, hangs_at=1)
    other = world.task("other", {"c": Kernel()})
    found, _ = _measure(world, [task, other])
    assert world.ran == {"t": 2, "other": 3}
    assert _of(found, task, "b").failure == "after 1 round that went well: too slow"


def test_nothing_is_run_on_a_device_that_is_absent() -> None:
    world = World()
    tasks = [world.task(f"t{number}", {f"b{number}": Kernel()}, absent_at=0) for number in range(2)]
    found, _ = _measure(world, tasks)
    assert sum(world.ran.values()) == 1
    assert found.absent == {("cpu", "local"): "unplugged"}
    assert _of(found, tasks[0], "b0").failure == "the device is not there: unplugged"


def test_a_device_that_goes_away_leaves_what_was_measured() -> None:
    world = World()
    task = world.task("t", {"b": Kernel()}, absent_at=2)
    found, _ = _measure(world, [task])
    assert found.absent == {}
    assert len(_of(found, task, "b").samples) == 2
    assert _of(found, task, "b").failure == "after 2 rounds that went well: the device is not there: unplugged"


def test_pilots_find_the_batch_size_of_each_benchmark() -> None:
    world = World()
    kernels = {"small": Kernel(1e-6, overhead=1e-5), "large": Kernel(2e-3, overhead=1e-5), "huge": Kernel(0.1)}
    task = world.task("t", kernels, batch_size="auto")
    found, memory = _measure(world, [task])
    pilots = [(each.batch_size, each.benchmarks) for each in memory.appended if each.round is None]
    assert pilots == [(1, ("small", "large", "huge")), (4, ("large",)), (64, ("small",))]
    # A call takes 10 ms at most: of 1024 x 1 us, 4 x 2 ms, 1 x 100 ms.
    first = [(each.batch_size, each.benchmarks) for each in memory.appended if each.round == 0]
    assert first == [(1, ("huge",)), (4, ("large",)), (1024, ("small",))]
    assert _of(found, task, "small").overhead == pytest.approx(1e-5)
    assert _of(found, task, "large").overhead is None  # a two hundredth of a run: noise
    assert _of(found, task, "huge").overhead is None
    assert all(each.batch_size == 1024 for each in _of(found, task, "small").samples)


def test_what_fails_in_a_batch_is_measured_alone_and_so_is_what_is_compared_with_it() -> None:
    world = World()
    original = world.task("o", {"b": Kernel(), "c": Kernel()}, group="g", batch_size="auto")
    variant = original.target._replace(variant="v")
    substitute = world.task("s", {"b": Kernel(fails_at=1)}, group="g", target=variant, batch_size="auto")
    found, memory = _measure(world, [original, substitute])
    for task in (original, substitute):
        assert _of(found, task, "b").failure is None
        assert [each.batch_size for each in _of(found, task, "b").samples] == [1, 1, 1]
    assert [each.batch_size for each in _of(found, original, "c").samples] == [64, 64, 64]
    assert [each.batch_size for each in memory.appended if each.task == "s"] == [1, 64, 1, 1, 1]
    world = World()
    hung = world.task("t", {"b": Kernel()}, batch_size="auto", hangs_at=1)
    found, _ = _measure(world, [hung])
    assert _of(found, hung, "b") == Measured(failure="in a batch of 64: too slow")
    assert world.ran == {"t": 2}


@given(st.floats(1e-9, 1.0), st.floats(0.0, 1e-3), st.integers(1, 5))
def test_costs_follow_from_two_batches(kernel: float, overhead: float, power: int) -> None:
    batch = 4**power
    found = cost(kernel + overhead, batch, kernel + overhead / batch)
    assert found.overhead == pytest.approx(overhead, abs=1e-12, rel=1e-6)
    assert found.kernel == pytest.approx(kernel, abs=1e-12, rel=1e-6)


@given(st.floats(0.0, 1e-2), st.floats(1e-3, 1.0))
def test_the_batch_is_the_largest_that_fits_into_a_call(kernel: float, longest: float) -> None:
    batch = best(kernel, longest)
    assert batch in {4**power for power in range(6)}
    assert batch == 1 or batch * kernel <= longest
    assert batch == LARGEST or batch * 4 * kernel > longest
    assert trial(kernel, longest) == min(batch, 64)


@pytest.mark.parametrize(("min_time", "seconds"), [("0.5s", 0.5), ("1e-3s", 1e-3), ("100x", 0.01), (None, 0.01)])
def test_a_call_is_no_longer_than_a_repetition_has_to_be(min_time: str | None, seconds: float) -> None:
    assert longest_call(SETTINGS.model_copy(update={"min_time": min_time})) == seconds


def test_further_rounds_measure_what_is_noisy_and_what_is_compared_with_it() -> None:
    world = World()
    settings = SETTINGS.model_copy(update={"precision": 0.02})
    noisy, quiet = {"b": Kernel(noise=0.4), "c": Kernel()}, {"b": Kernel(), "c": Kernel()}
    original = world.task("original", quiet, group="g", settings=settings)
    variant = original.target._replace(variant="v")
    substitute = world.task("substitute", noisy, group="g", target=variant, settings=settings)
    other = world.task("other", {"d": Kernel(noise=0.001)}, settings=settings)
    found, _ = _measure(world, [original, substitute, other])
    rounds = len(_of(found, substitute, "b").samples)
    assert 3 < rounds < 200
    assert len(_of(found, original, "b").samples) == rounds
    assert len(_of(found, original, "c").samples) == len(_of(found, substitute, "c").samples) == 3
    assert len(_of(found, other, "d").samples) == 3
    timing = _of(found, substitute, "b").timing
    assert timing is not None and timing.low is not None and timing.high is not None
    assert timing.high / timing.low <= 1.05


def test_there_is_a_last_round() -> None:
    world = World()
    task = world.task("t", {"b": Kernel(noise=5)}, settings=SETTINGS.model_copy(update={"precision": 1e-6}))
    found, _ = _measure(world, [task], Policy("a", most_rounds=20))
    assert len(_of(found, task, "b").samples) == 20


def test_times_of_zero_are_not_measured_again() -> None:
    world = World()
    task = world.task("t", {"b": Kernel(seconds=0.0)}, settings=SETTINGS.model_copy(update={"precision": 0.01}))
    found, _ = _measure(world, [task])
    assert len(_of(found, task, "b").samples) == 3


def test_a_budget_is_kept_and_what_it_leaves_out_is_said() -> None:
    world = World()
    tasks = [world.task(f"t{number}", {f"b{number}": Kernel()}) for number in range(8)]
    found, _ = _measure(world, tasks, Policy("a", budget=1.0))
    assert world.time == 1.0
    measured = [_of(found, task, f"b{number}") for number, task in enumerate(tasks)]
    assert sum(bool(each.samples) for each in measured) == 4
    assert all(each.failure == BUDGET_SPENT for each in measured if not each.samples)


def test_with_a_budget_what_is_noisy_is_measured_to_one_percent() -> None:
    world = World()
    task = world.task("t", {"b": Kernel(noise=0.1)})
    found, _ = _measure(world, [task], Policy("a", budget=1000.0))
    assert 3 < len(_of(found, task, "b").samples) < 200


_BATCHES: list[int | Literal["auto"]] = [1, 4, "auto"]


@given(st.data())
def test_a_run_that_was_interrupted_goes_on_as_if_it_had_not_been(data: st.DataObject) -> None:
    policy = Policy("seed", data.draw(st.none() | st.floats(0.0, 30.0)), most_rounds=12)
    maybe = st.none() | st.integers(0, 6)
    kernels = st.builds(
        Kernel, st.floats(0, 1e-2), st.floats(0, 1e-4), st.sampled_from([0.0, 0.01, 0.3]), fails_at=maybe
    )
    settings = st.builds(
        lambda rounds, precision: SETTINGS.model_copy(update={"rounds": rounds, "precision": precision}),
        st.integers(1, 4),
        st.sampled_from([None, 0.01]),
    )
    specs: list[dict[str, Any]] = data.draw(
        st.lists(
            st.fixed_dictionaries(
                {
                    "benchmarks": st.dictionaries(st.sampled_from("abc"), kernels, min_size=1),
                    "group": st.sampled_from(["g", "h"]),
                    "settings": settings,
                    "batch_size": st.sampled_from(_BATCHES),
                    "takes": st.sampled_from([0.25, 0.5, 2.0]),
                    "hangs_at": maybe,
                    "absent_at": st.none() | st.integers(8, 12),
                }
            ),
            min_size=1,
            max_size=4,
        )
    )

    def tasks(world: World) -> list[Task]:
        return [
            world.task(f"t{number}", **spec, target=_TARGET._replace(variant=str(number)))
            for number, spec in enumerate(specs)
        ]

    def keeper_of(keepers: Sequence[Memory]) -> Callable[[Task], Memory]:
        """Of tasks of two builds, which have a journal each."""
        return lambda task: keepers[int(task.target.variant) % 2]

    world, whole = World(), (Memory(), Memory())
    expected = measure(tasks(world), policy, keeper_of(whole), now=world.now)
    ran = sorted((each for keeper in whole for each in keeper.appended), key=lambda record: record.at)
    until = data.draw(st.integers(0, len(ran)))
    left = [Memory([each for each in keeper.appended if each in ran[:until]]) for keeper in whole]
    world = World.after(ran[:until])
    found = measure(tasks(world), policy, keeper_of(left), elapsed=world.time, now=world.now)
    assert found == expected
    for keeper, resumed in zip(whole, left, strict=True):
        assert [*resumed.records, *resumed.appended] == keeper.appended
    if policy.budget is not None:
        assert expected.spent_seconds <= policy.budget + 2.0
    for each in expected.measured.values():
        assert each.samples or each.failure


_TARGET = World().task("t", {"b": Kernel()}).target


def test_rounds_of_a_longer_run_that_was_interrupted_count() -> None:
    world, first = World(), Memory()
    task = world.task("t", {"b": Kernel()})
    measure([task], Policy("a"), lambda _: first, now=world.now)
    fewer = world.task("t", {"b": Kernel()}, settings=SETTINGS.model_copy(update={"rounds": 1}))
    again = Memory(first.appended)
    found = measure([fewer], Policy("a"), lambda _: again, now=world.now)
    assert again.appended == []
    assert len(_of(found, task, "b").samples) == 3


def test_what_is_compared_has_the_same_batch() -> None:
    # A call of 10 ms has room for 256 runs of the one and 64 of the other.
    world = World()
    original = world.task("o", {"b": Kernel(38e-6)}, group="g", batch_size="auto")
    substitute = world.task("s", {"b": Kernel(42e-6)}, group="g", batch_size="auto")
    alone = world.task("a", {"b": Kernel(38e-6)}, batch_size="auto")
    memory = Memory()
    measure([original, substitute, alone], Policy("seed"), lambda _: memory, now=world.now)
    batches = {each.task: each.batch_size for each in memory.appended if each.round is not None}
    assert batches == {"o": 64, "s": 64, "a": 256}
    # Of one that takes longer than a call, there is no second pilot.
    world, memory = World(), Memory()
    slow = world.task("s", {"b": Kernel(0.1)}, group="g", batch_size="auto")
    measure([world.task("o", {"b": Kernel()}, group="g", batch_size="auto"), slow], Policy("seed"), lambda _: memory)
    assert {each.batch_size for each in memory.appended if each.round is not None} == {1}
