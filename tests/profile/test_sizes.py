"""What a program takes of a profile, and what it does not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from dispatchgen.errors import ProfileError
from dispatchgen.extract.extraction import extract
from dispatchgen.extract.recorded import Recorded
from dispatchgen.extract.schema import BackendDispatches, Call, Omitted
from dispatchgen.manifest.suite import ProfileShapes
from dispatchgen.profile.schema import Profile, ProfiledDispatch
from dispatchgen.profile.sizes import locked_sizes, profile_sizes
from profiled import Recorded as Program
from profiled import profile

SHAPES = ProfileShapes("p.json", "seen")
CALL = Call(name="seen", function="", shape="seen", symbols={}, inputs=(), profile="p.json")
COMPILER = "3.13.0 @ abc"


@pytest.fixture(scope="module")
def seen(ctrl: Program, ctrl_recording: Path) -> Profile:
    """Three dispatches: of two sizes, of one that ran three times, and of one."""
    return profile(*ctrl.histogram(ctrl_recording).dispatches)


def changed(seen: Profile, number: int, **changes: object) -> Profile:
    """The profile with something else of one dispatch."""
    dispatches = list(seen.dispatches)
    dispatches[number] = dispatches[number].model_copy(update=changes)
    return seen.model_copy(update={"dispatches": tuple(dispatches)})


def taken(ctrl: Program, seen: Profile, top: int | None = None, compiler: str = COMPILER) -> Recorded:
    return profile_sizes(ctrl.program, seen, ProfileShapes("p.json", "seen", top), compiler)


def locked(ctrl: Program, recorded: Recorded, calls: Sequence[Call] = (CALL,)) -> BackendDispatches:
    return extract(ctrl.program, calls, "cpu", recorded={"seen": recorded}).lock


def test_benchmarks_are_what_the_profile_has(ctrl: Program, seen: Profile) -> None:
    found = locked(ctrl, taken(ctrl, seen))
    assert {d.name: [(b.name, b.counts) for b in d.benchmarks] for d in found.dispatches} == {
        "matmul_Dx64x64_f32": [
            ("matmul_Dx64x64_f32__seen", {"seen": 1}),
            ("matmul_Dx64x64_f32__seen_2", {"seen": 1}),
        ],
        "elementwise_D_f32": [("elementwise_D_f32__seen", {"seen": 3})],
        "elementwise_broadcast_D_f32": [("elementwise_broadcast_D_f32__seen", {"seen": 1})],
    }
    assert not found.skipped
    run = Call(name="A", function="main", shape="A", symbols={}, inputs=("5x64xf32", "9x64xf32", "3"))
    evaluated = extract(ctrl.program, [run], "cpu").lock
    assert [
        (d.name, d.content, d.written, {(b.workload, b.constants, b.bindings) for b in d.benchmarks})
        for d in found.dispatches
    ] == [
        (d.name, d.content, d.written, {(b.workload, b.constants, b.bindings) for b in d.benchmarks})
        for d in evaluated.dispatches
    ]


def test_sizes_that_a_shape_has_too_are_one_benchmark(ctrl: Program, seen: Profile) -> None:
    run = Call(name="A", function="main", shape="A", symbols={}, inputs=("5x64xf32", "9x64xf32", "3"))
    found = locked(ctrl, taken(ctrl, seen), [run, CALL])
    assert [[b.counts for b in d.benchmarks] for d in found.dispatches] == [
        [{"A": 1, "seen": 1}, {"A": 1, "seen": 1}],
        [{"A": 3, "seen": 3}],
        [{"A": 1, "seen": 1}],
    ]


def test_the_most_frequent_sizes_only(ctrl: Program, seen: Profile) -> None:
    found = locked(ctrl, taken(ctrl, seen, top=1))
    assert [(len(d.benchmarks), d.omitted, d.covered("seen")) for d in found.dispatches] == [
        (1, {"seen": Omitted(sizes=1, runs=1)}, 1),
        (1, {}, 3),
        (1, {}, 1),
    ]


def test_a_lock_gives_the_sizes_again(ctrl: Program, seen: Profile) -> None:
    """In the build, which has the lock alone."""
    skipping = changed(seen, 1, content="0" * 64)
    for recorded in (taken(ctrl, seen, top=1), taken(ctrl, skipping)):
        lock = locked(ctrl, recorded)
        again = extract(ctrl.program, [CALL], "cpu", lock, locked_sizes(ctrl.program, lock, [CALL])).lock
        assert again == lock


def test_other_code_is_not_measured_with_the_profile(ctrl: Program, seen: Profile) -> None:
    found = locked(ctrl, taken(ctrl, changed(seen, 1, content="0" * 64), compiler="3.14"))
    assert [dispatch.name for dispatch in found.dispatches] == ["matmul_Dx64x64_f32", "elementwise_broadcast_D_f32"]
    (skip,) = found.skipped
    assert (skip.operation, skip.calls) == ("elementwise_D_f32", ("seen",))
    assert skip.reason == (
        "the profile p.json is of other code of it, made by iree-compile 3.13.0 @ abc; today's is 3.14"
    )


def test_a_dispatch_that_is_gone_is_told(ctrl: Program, seen: Profile) -> None:
    gone = {"content": "0" * 64, "operation": "pooling", "export": "main_dispatch_7_pooling", "executable": "e"}
    found = locked(ctrl, taken(ctrl, changed(seen, 1, **gone)))
    reasons = {skip.operation: skip.reason for skip in found.skipped}
    assert reasons == {
        "pooling": "the profile p.json is of other code of it, made by iree-compile 3.13.0 @ abc",
        "elementwise_D_f32": "no profile of this backend has it",
    }


def test_a_backend_without_a_profile(ctrl: Program) -> None:
    found = extract(ctrl.program, [CALL], "cpu", recorded={}).lock
    assert not found.dispatches
    assert {skip.reason for skip in found.skipped} == {"no profile of this backend has it"}
    assert len(found.skipped) == 3


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"constants": (1, 2, 3)}, "3 push constants were recorded, the program passes 2"),
        ({"bindings": (4,)}, "1 bindings were recorded, the program passes 2"),
        ({"workload": (7,)}, "the kernel makes the workload [576] of its push constants, recorded is [7]"),
    ],
)
def test_sizes_that_do_not_fit(change: dict[str, object], reason: str, ctrl: Program, seen: Profile) -> None:
    (entry,) = seen.dispatches[1].entries
    found = locked(ctrl, taken(ctrl, changed(seen, 1, entries=(entry.model_copy(update=change),))))
    assert [skip.reason for skip in found.skipped] == [f"its recorded sizes do not fit it: {reason}"]


def test_a_profile_of_which_nothing_fits(ctrl: Program, seen: Profile) -> None:
    other = seen.model_copy(update={"dispatches": tuple(_other(each) for each in seen.dispatches)})
    with pytest.raises(ProfileError, match=r"nothing of the profile fits the program: .* of other code of it"):
        taken(ctrl, other)


def _other(dispatch: ProfiledDispatch) -> ProfiledDispatch:
    return dispatch.model_copy(update={"content": "0" * 64})


def test_dispatches_of_the_same_content_are_told_apart_by_their_symbols(ctrl: Program, seen: Profile) -> None:
    """Two symbols of one content: each has its own sizes. Under other symbols they are taken in order."""
    first, *others = seen.dispatches
    twin = first.model_copy(update={"executable": "z", "export": "z", "entries": first.entries[:1]})
    found = taken(ctrl, seen.model_copy(update={"dispatches": (twin, first, *others)}))
    assert len(found.counts[first.executable, first.export]) == 2
    assert [skip.export for skip in found.missing] == ["z"]


def test_what_runs_when_the_module_is_loaded(loading: Program, tmp_path: Path) -> None:
    """It is no part of the runs, and known without them: its sizes do not depend on inputs."""
    ran = loading.record(tmp_path / "run.ireereplay", ["3x64xf32"])
    assert [each.during_load for each in ran] == [True, False]
    seen = profile(*loading.histogram(tmp_path / "run.ireereplay").dispatches)
    assert [[entry.count for entry in each.entries] for each in seen.dispatches] == [[1]]
    found = locked(loading, taken(loading, seen))
    assert [(b.name, b.counts) for d in found.dispatches for b in d.benchmarks] == [
        ("elementwise_64_f32", {"initializer": 1}),
        ("elementwise_Dx64_f32__seen", {"seen": 1}),
    ]
    assert not found.skipped
