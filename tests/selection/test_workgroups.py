"""Whether workgroup counts go with what is measured."""

from __future__ import annotations

import pytest

from dispatchgen.extract.schema import Benchmark, Dispatch
from dispatchgen.selection.workgroups import workgroup_problems


def _problems(text: str, *workloads: tuple[int, ...]) -> list[str]:
    benchmarks = tuple(
        Benchmark(name=f"d__{i}", workload=workload, constants=(), bindings=(), counts={})
        for i, workload in enumerate(workloads)
    )
    dispatch = Dispatch(
        name="d",
        operation="d",
        executable="d",
        variant="d",
        export="d",
        content="d",
        written=(),
        benchmarks=benchmarks,
    )
    return [str(problem) for problem in workgroup_problems(text, dispatch)]


@pytest.mark.parametrize(
    ("text", "workloads"),
    [
        ("(w0) -> (w0 ceildiv 64, 1, 1)", [(1,), (64,), (100000,)]),
        ("() -> (4, 2, 1)", [()]),
        # Nothing to compute: a count of zero may be meant.
        ("(w0) -> (w0 ceildiv 64, 1, 1)", [(0,)]),
    ],
)
def test_counts_of_all_benchmarks(text: str, workloads: list[tuple[int, ...]]) -> None:
    assert not _problems(text, *workloads)


def test_nothing_would_run() -> None:
    assert _problems("(w0) -> (w0 floordiv 64, 1, 1)", (64,), (63,), (1,)) == [
        "error: `workgroups` is (0, 1, 1) for the workload (63) of `d__1`; at least 1 is needed in x, y and z\n"
        "  try: `ceildiv` rounds up, `floordiv` down"
    ]
    (problem,) = _problems("(a, b) -> (a, b, a - b)", (2, 3))
    assert "(2, 3, -1) for the workload (2, 3)" in problem
    (problem,) = _problems("(w0) -> (w0 - 1, 1, 1)", (0,))
    assert "(-1, 1, 1) for the workload (0)" in problem


def test_another_number_of_operands() -> None:
    assert _problems("(w0) -> (w0, 1, 1)", (4, 8)) == [
        "error: the workload of `d` has 2 operands, and `workgroups` takes 1\n  try: `(w0, w1) -> (...)`"
    ]


def test_no_map() -> None:
    (problem,) = _problems("(w0) -> (w0, 1)", (4,))
    assert "it has 2 results; 3 are needed" in problem
