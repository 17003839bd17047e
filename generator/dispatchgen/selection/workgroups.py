"""Whether the workgroup count of a substitute goes with what it is measured at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dispatchgen.errors import Problem
from dispatchgen.extract.schema import Dispatch
from dispatchgen.manifest.affine import affine_problem, map_dims, map_results
from dispatchgen.manifest.names import show


def workgroup_problems(text: str, dispatch: Dispatch) -> Iterator[Problem]:
    """What is wrong with a text as the affine map from the workload of a dispatch to its workgroup count.

    IREE takes a count of zero: it is measured, and nothing runs.
    """
    problem = affine_problem(text)
    if problem is not None:
        yield Problem(problem)
        return
    count = len(map_dims(text))
    others = {len(benchmark.workload) for benchmark in dispatch.benchmarks} - {count}
    if others:
        found = f"the workload of {show(dispatch.name)} has {max(others)} operands, and `workgroups` takes {count}"
        operands = ", ".join(f"w{index}" for index in range(max(others)))
        yield Problem(found, hint=f"`({operands}) -> (...)`")
        return
    for benchmark in dispatch.benchmarks:
        counts = map_results(text, benchmark.workload)
        # Where a size is zero there may be nothing to compute.
        if min(counts) < (0 if 0 in benchmark.workload else 1):
            found = f"{_list(counts)} for the workload {_list(benchmark.workload)} of {show(benchmark.name)}"
            message = f"`workgroups` is {found}; at least 1 is needed in x, y and z"
            yield Problem(message, hint="`ceildiv` rounds up, `floordiv` down")
            return


def _list(numbers: Sequence[int]) -> str:
    return f"({', '.join(map(str, numbers))})"
