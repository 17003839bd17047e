"""Which measurements are of one benchmark, where not every kernel is known."""

from __future__ import annotations

import numpy as np
import pytest

from dispatchgen.history.chains import NONE, Benchmark, Measured, chains
from dispatchgen.results.lean import Key

#: Benchmarks by number: two names in one place.
BENCHMARKS = {
    number: Benchmark(Key("model", "cpu", "local", "static", "dispatch", name, "variant", "warm"), "[]")
    for number, name in enumerate("ab")
}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([(0, 0, NONE), (0, 1, NONE), (1, 2, NONE)], [[0, 1], [2]], id="never known"),
        pytest.param([(0, 0, 5), (0, 1, NONE), (0, 2, 5), (1, 3, 5)], [[0, 1, 2, 3]], id="not known once"),
        pytest.param([(0, 0, NONE), (0, 1, 5), (1, 2, 5), (1, 3, NONE)], [[0, 1, 2, 3]], id="not known at the ends"),
        pytest.param([(0, 0, 5), (0, 1, NONE), (1, 2, NONE)], [[0, 1], [2]], id="not known of the other"),
        pytest.param([(0, 0, 5), (0, 1, NONE), (0, 2, 6)], [[0, 1, 2]], id="changed"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_unknown_kernels(rows: list[tuple[int, int, int]], expected: list[list[int]]) -> None:
    """Rows are of a benchmark, a run and a kernel."""
    benchmark, run, kernel = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    found = chains(BENCHMARKS, Measured(benchmark, run, kernel, kernel, np.zeros((len(rows), 3))))
    assert [[row for each in chain for row in range(each.start, each.stop)] for chain in found] == expected
