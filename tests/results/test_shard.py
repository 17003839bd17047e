from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.results.prepare import Prepared
from dispatchgen.results.schema import Shard
from dispatchgen.results.shard import is_in, narrowed, parse_shard
from dispatchgen.results.task import Target
from made_up_tasks import Kernel, World, frame_of


def test_shards_are_numbered_from_one() -> None:
    assert parse_shard("2/3") == Shard(index=2, count=3)
    for text in ("0/3", "4/3", "1/0", "1", "a/b", "1/3 ", "-1/3", "1/1001"):
        with pytest.raises(ValueError, match="is no shard: 1/3 is the first of three"):
            parse_shard(text)


@given(st.sets(st.text()), st.integers(1, 7))
def test_each_group_is_in_one_shard(groups: set[str], count: int) -> None:
    shards = [Shard(index=index, count=count) for index in range(1, count + 1)]
    assert all(sum(is_in(group, shard) for shard in shards) == 1 for group in groups)


def test_where_a_group_is_depends_on_its_name_alone() -> None:
    groups = [f"model/cpu/local/dispatch/{name}" for name in "abcdef"]
    shards = [Shard(index=index, count=3) for index in (1, 2, 3)]
    where = [shard.index for group in groups for shard in shards if is_in(group, shard)]
    # Other machines, with another release, have to agree.
    assert where == [2, 1, 2, 1, 2, 3]


def test_rows_of_other_shards_are_taken_out_and_what_cannot_be_measured_stays() -> None:
    world = World()
    here = next(str(n) for n in range(99) if is_in(str(n), Shard(index=1, count=2)))
    there = next(str(n) for n in range(99) if is_in(str(n), Shard(index=2, count=2)))
    target = Target("model", "cpu", "local", "dispatch")
    tasks = [
        world.task("a", {"a__1": Kernel(), "a__2": Kernel()}, group=here),
        world.task("a/v", {"a__1": Kernel()}, group=here, target=target._replace(variant="v")),
        world.task("b", {"b__1": Kernel()}, group=there),
        world.task("b/v", {"b__1": Kernel()}, group=there, target=target._replace(variant="v")),
        world.task("one", {"one": Kernel()}, group=there, target=target._replace(kind="model")),
        world.task("two", {"two": Kernel()}, group=here, target=target._replace(kind="model")),
    ]
    whole = Prepared(frame_of(tasks), tuple(tasks))
    found = narrowed(whole, Shard(index=1, count=2))
    assert [task.id for task in found.tasks] == ["a", "a/v", "two"]
    assert found.frame.measuring.shard == Shard(index=1, count=2)
    one, two = found.frame.calls
    assert [row.benchmark for row in one.dispatches] == ["a__1", "a__2"]
    assert [row.benchmark for row in one.substitutions[0].dispatches] == ["a__1"]
    assert (one.whole_model.left_out, two.whole_model.left_out) == (True, False)
    assert one.substitutions[0].whole_model.failure == "it could not be built"
    assert not one.substitutions[0].whole_model.left_out
