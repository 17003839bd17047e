"""What differs between locks: stale, drifted, and what of it makes a lock unfit for a build."""

from __future__ import annotations

import pytest

from dispatchgen.extract.schema import BackendDispatches, Benchmark, Call, Dispatch, Skipped
from dispatchgen.lock.compare import added_functions, compare, stale_parts
from dispatchgen.lock.schema import Lock, MadeFrom


def benchmark(name: str, **fields: object) -> Benchmark:
    data = {"workload": (8,), "constants": (("i32", 8),), "bindings": (64, 64), "counts": {"B8": 1}, **fields}
    return Benchmark(name=name, **data)  # type: ignore[arg-type]


def dispatch(name: str, content: str | None = None, number: int = 0, *benchmarks: Benchmark) -> Dispatch:
    return Dispatch(
        name=name,
        operation=name,
        executable=f"main_dispatch_{number}",
        variant="v",
        export=f"main_dispatch_{number}_{name}",
        content=content or f"content of {name}",
        written=(False, True),
        benchmarks=benchmarks or (benchmark(f"{name}__B8"),),
    )


def lock(*dispatches: Dispatch, skipped: tuple[Skipped, ...] = ()) -> BackendDispatches:
    return BackendDispatches(backend="cpu", dispatches=dispatches, skipped=skipped)


A, B, C = dispatch("a", number=0), dispatch("b", number=1), dispatch("c", number=2)


def test_no_difference() -> None:
    difference = compare(lock(A, B), lock(B, A))
    assert not difference
    assert not difference.needs_new_lock
    assert str(difference) == ""


def test_added_and_removed() -> None:
    difference = compare(lock(A, B), lock(B, C))
    assert (difference.added, difference.removed) == (("c",), ("a",))
    assert difference.needs_new_lock
    assert str(difference) == "added: c\nremoved: a"


def test_functions_that_no_call_is_of() -> None:
    old = Lock(
        model="m",
        made_from=MadeFrom(source="", settings={}, compiler=""),
        entry=None,
        calls=tuple(Call(name=n, function="main", shape=n, symbols={}, inputs=()) for n in ("B1", "B8")),
        backends={},
    )
    assert added_functions(old, ["main"]) == ()
    assert added_functions(old, ["z", "main", "a", "a"]) == ("z", "a")
    assert added_functions(old.model_copy(update={"entry": "main"}), ["z", "main"]) == ()
    difference = compare(lock(A), lock(A), ("z", "a"))
    assert list(difference.lines()) == ["added function: z", "added function: a"]
    assert difference.needs_new_lock


def test_the_same_content_under_another_name_is_renamed() -> None:
    difference = compare(lock(A, B), lock(dispatch("z", content=A.content), B))
    assert list(difference.lines()) == ["renamed: a -> z"]
    assert difference.needs_new_lock


def test_equal_contents_are_paired_one_to_one() -> None:
    old = lock(dispatch("a", "same"), dispatch("b", "same"))
    new = lock(dispatch("x", "same"), dispatch("y", "same"), dispatch("z", "same"))
    difference = compare(old, new)
    assert difference.renamed == (("a", "x"), ("b", "y"))
    assert difference.added == ("z",)


def test_another_symbol_alone_needs_no_new_lock() -> None:
    """A layer was inserted elsewhere: IREE counts on, the content is the same."""
    difference = compare(lock(A), lock(dispatch("a", number=5)))
    assert list(difference.lines()) == [
        "other symbol: a: main_dispatch_0::main_dispatch_0_a -> main_dispatch_5::main_dispatch_5_a"
    ]
    assert difference
    assert not difference.needs_new_lock


def test_other_content_under_the_same_name_needs_no_new_lock() -> None:
    difference = compare(lock(A), lock(dispatch("a", "other", number=3)))
    assert list(difference.lines()) == ["changed: a"]
    assert not difference.needs_new_lock


def test_benchmarks_added_and_removed() -> None:
    old = lock(dispatch("a", None, 0, benchmark("a__B1"), benchmark("a__B8")))
    new = lock(dispatch("a", None, 0, benchmark("a__B8"), benchmark("a__B16")))
    difference = compare(old, new)
    assert list(difference.lines()) == ["added benchmark: a__B16", "removed benchmark: a__B1"]
    assert difference.needs_new_lock


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"workload": (9,)}, "other size: x: workload [8] -> [9]"),
        ({"constants": (("i64", 9),)}, "other size: x: constants [8 : i32] -> [9 : i64]"),
        ({"bindings": (64, 128)}, "other size: x: bindings [64, 64] -> [64, 128] bytes"),
        ({"counts": {"B8": 3, "B1": 1}}, "other count: x: 0 -> 1 at B1, 1 -> 3 at B8"),
        ({"counts": {}}, "other count: x: 1 -> 0 at B8"),
    ],
)
def test_sizes_and_counts(change: dict[str, object], line: str) -> None:
    difference = compare(
        lock(dispatch("a", None, 0, benchmark("x"))), lock(dispatch("a", None, 0, benchmark("x", **change)))
    )
    assert list(difference.lines()) == [line]


def test_skipped() -> None:
    skip = Skipped(
        executable="main_dispatch_3",
        export="main_dispatch_3_nonzero",
        operation="nonzero",
        calls=("B1", "B8"),
        reason="a read-back",
    )
    renumbered = skip.model_copy(update={"export": "main_dispatch_4_nonzero"})
    assert not compare(lock(A, skipped=(skip,)), lock(A, skipped=(renumbered,)))
    now = compare(lock(A), lock(A, skipped=(skip,)))
    assert list(now.lines()) == ["now skipped: main_dispatch_3_nonzero at B1, B8: a read-back"]
    assert now.needs_new_lock
    no_longer = compare(lock(A, skipped=(skip,)), lock(A))
    assert list(no_longer.lines()) == ["no longer skipped: main_dispatch_3_nonzero at B1, B8: a read-back"]


def test_stale_parts() -> None:
    old = MadeFrom(source="s", settings={"cpu": "1", "vulkan": "2"}, compiler="3.12.0")
    assert stale_parts(old, old) == []
    new = MadeFrom(source="t", settings={"cpu": "9", "hip": "3"}, compiler="3.13.0")
    assert stale_parts(old, new) == [
        "the source file changed",
        "the manifest says something else of the model on backend cpu",
        "backend hip was added",
        "backend vulkan was removed",
        "the compiler was 3.12.0 and is 3.13.0",
    ]
