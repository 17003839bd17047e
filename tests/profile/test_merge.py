"""Profiles are merged: counts add up, and what does not belong together is told."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from dispatchgen.errors import ProfileError
from dispatchgen.profile.merge import merge_profiles, symbol_order
from dispatchgen.profile.schema import Profile, Run
from profiled import dispatch, entry, profile

ONE = profile(dispatch(2, entry(4, 3), entry(8, 1)))
TWO = profile(dispatch(2, entry(8, 5)), dispatch(10, entry(1, 1)), runs=(Run(what="b", dispatches=6),))
THREE = profile(dispatch(1, entry(4, 2)), dispatch(2, entry(4, 1), entry(16, 1)), runs=(Run(what="c", dispatches=4),))


def merged(*profiles: Profile) -> Profile:
    return merge_profiles([(Path(f"{number}.json"), each) for number, each in enumerate(profiles)])


def test_counts_add_up() -> None:
    found = merged(ONE, TWO, THREE)
    assert [(d.executable, [(e.workload, e.count) for e in d.entries]) for d in found.dispatches] == [
        ("main_dispatch_1", [((4,), 2)]),
        ("main_dispatch_2", [((8,), 6), ((4,), 4), ((16,), 1)]),
        ("main_dispatch_10", [((1,), 1)]),
    ]
    assert [run.what for run in found.runs] == ["main(4x64xf32) on cpu", "b", "c"]


@pytest.mark.parametrize("order", list(itertools.permutations([ONE, TWO, THREE])))
def test_the_order_of_profiles_means_nothing(order: tuple[Profile, ...]) -> None:
    assert merged(*order).dispatches == merged(ONE, TWO, THREE).dispatches
    assert merged(merged(*order[:2]), order[2]).dispatches == merged(*order).dispatches


def test_the_first_data_are_kept() -> None:
    datas: list[tuple[str | None, ...]] = [(), ("a", None), ("b", "c")]
    profiles = [profile(dispatch(0, entry(4, 1, data))) for data in datas]
    assert merged(*profiles).dispatches[0].entries == (entry(4, 3, ("a", "c")),)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "n"}, "model n, and m of 0.json"),
        ({"backend": "gpu"}, "backend gpu, and cpu of 0.json"),
        ({"source": "2" * 64}, f"source (SHA-256) {'2' * 64}, and {'1' * 64} of 0.json"),
        ({"flags": ("--c",)}, "flags --c, and --a=b of 0.json"),
        ({"compiler": "3.14"}, "compiler 3.14, and 3.13.0 @ abc of 0.json"),
    ],
)
def test_profiles_that_do_not_belong_together(change: dict[str, object], message: str) -> None:
    with pytest.raises(ProfileError) as caught:
        merged(ONE, TWO, ONE.model_copy(update=change))
    (problem,) = caught.value.problems
    assert problem.message == f"the profiles do not belong together: {message}"
    assert problem.place is not None and problem.place.file == "2.json"


def test_all_differences_are_told() -> None:
    with pytest.raises(ProfileError) as caught:
        merged(ONE, profile(model="n", backend="gpu"), profile(compiler="3.14"))
    assert len(caught.value.problems) == 3


def test_symbols_are_sorted_by_their_numbers() -> None:
    symbols = [("b_dispatch_1",), ("a_dispatch_10",), ("a_dispatch_9",), ("a",)]
    assert sorted(symbols, key=symbol_order) == [("a",), ("a_dispatch_9",), ("a_dispatch_10",), ("b_dispatch_1",)]
