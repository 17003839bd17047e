"""What is said of drift, and why a dispatch is missing."""

from __future__ import annotations

from pathlib import Path

from dispatchgen.extract.schema import BackendDispatches, Benchmark, Dispatch, Skipped
from dispatchgen.lock.compare import compare
from dispatchgen.lock.drift import SKIPPED, missing_dispatches, placeholder, report


def _dispatch(name: str, operation: str, content: str = "") -> Dispatch:
    symbol = f"main_dispatch_0_{operation}"
    return Dispatch(
        name=name,
        operation=operation,
        executable="main_dispatch_0",
        variant="v",
        export=symbol,
        content=content or name,
        written=(),
        benchmarks=(),
    )


def _skip(operation: str, reason: str) -> Skipped:
    return Skipped(executable="main_dispatch_7", export="e", operation=operation, calls=("B1", "B8"), reason=reason)


def _backend(*dispatches: Dispatch, skipped: tuple[Skipped, ...] = ()) -> BackendDispatches:
    return BackendDispatches(backend="cpu", dispatches=dispatches, skipped=skipped)


_MATMUL, _SOFTMAX = _dispatch("matmul", "matmul"), _dispatch("softmax_2", "softmax")


def test_what_is_skipped_now_says_why() -> None:
    found = _backend(_MATMUL, skipped=(_skip("softmax", "its size depends on\n  data"),))
    assert missing_dispatches("m", _backend(_MATMUL, _SOFTMAX), found) == {
        "softmax_2": "no benchmark at B1, B8: its size depends on data"
    }


def test_what_was_skipped_before_is_no_reason() -> None:
    known = _skip("softmax", "its size depends on data")
    locked = _backend(_MATMUL, _SOFTMAX, skipped=(known,))
    assert missing_dispatches("m", locked, _backend(_MATMUL, skipped=(known,))) == {
        "softmax_2": "it is no longer among the dispatches of m on cpu"
    }


def test_nothing_is_missing_where_only_the_content_differs() -> None:
    assert missing_dispatches("m", _backend(_MATMUL), _backend(_dispatch("matmul", "matmul", "other"))) == {}


def test_placeholder_is_one_line_of_reason() -> None:
    first, second = placeholder("why").splitlines()
    assert first == f"{SKIPPED}why"
    assert second.startswith("vm.module")


def test_report_counts_benchmarks_that_are_gone() -> None:
    def at(*shapes: str) -> BackendDispatches:
        benchmarks = tuple(
            Benchmark(name=f"matmul__{shape}", workload=(), constants=(), bindings=(), counts={}) for shape in shapes
        )
        return _backend(_MATMUL.model_copy(update={"benchmarks": benchmarks}))

    locked, found = at("B1", "B8", "B32"), at("B8")
    assert missing_dispatches("m", locked, found) == {}
    assert list(report("m", compare(locked, found), {}, Path("locks/m.json"), "renew it")) == [
        "the dispatches of m on cpu are not those that its lock lists: 2 removed benchmark",
        "removed benchmark: matmul__B1",
        "removed benchmark: matmul__B32",
        "2 of the locked benchmarks cannot be measured: the tests of their dispatches run without them",
        "the lock: locks/m.json; to renew it: renew it",
    ]


def test_report_counts_each_kind() -> None:
    locked = _backend(_MATMUL, _SOFTMAX)
    found = _backend(_dispatch("matmul", "matmul", "other"), _dispatch("a", "a"), _dispatch("b", "b"))
    difference = compare(locked, found)
    lines = list(report("m", difference, missing_dispatches("m", locked, found), Path("locks/m.json"), "renew it"))
    assert lines == [
        "the dispatches of m on cpu are not those that its lock lists: 2 added, 1 removed, 1 changed",
        "added: a",
        "added: b",
        "removed: softmax_2",
        "changed: matmul",
        "1 of the locked dispatches cannot be measured: their tests are skipped",
        "the lock: locks/m.json; to renew it: renew it",
    ]
    assert list(report("m", compare(locked, locked), {}, Path("locks/m.json"), "renew it")) == []
