"""Which rows belong together."""

from __future__ import annotations

from collections.abc import Mapping

import made_up_results
from dispatchgen.comparison.match import match
from dispatchgen.results import lean
from dispatchgen.results.schema import DispatchResult
from lean_results import read

_TIMES = [1e-3] * 3


def _dispatch(name: str, content: str, workload: tuple[int, ...] = ()) -> DispatchResult:
    found = made_up_results.dispatch(name, _TIMES, content=content)
    return found.model_copy(update={"workload": workload})


def _run(
    *dispatches: DispatchResult, symbols: Mapping[str, int] | None = None, function: str = "main", call: str = "static"
) -> lean.Results:
    found = made_up_results.call(dispatches, symbols=symbols, call=call).model_copy(update={"function": function})
    return read(made_up_results.results([found]))


def _names(base: lean.Results, new: lean.Results) -> list[tuple[str | None, str | None]]:
    """By pair the names in BASE and NEW, but for whole models."""
    pairs = [pair for pair in match(base, new) if pair.either.key.kind != "model"]
    return [
        (pair.base.key.benchmark if pair.base else None, pair.new.key.benchmark if pair.new else None) for pair in pairs
    ]


def test_names_belong_together_whatever_the_code() -> None:
    base, new = _run(_dispatch("a", "1"), _dispatch("b", "2")), _run(_dispatch("b", "3"), _dispatch("a", "4"))
    assert _names(base, new) == [("b", "b"), ("a", "a")]


def test_kernels_belong_together_whose_names_changed() -> None:
    base = _run(_dispatch("matmul", "1"), _dispatch("matmul_2", "2"))
    new = _run(_dispatch("matmul", "1"), _dispatch("matmul_2", "new"), _dispatch("matmul_3", "2"))
    assert _names(base, new) == [("matmul", "matmul"), (None, "matmul_2"), ("matmul_2", "matmul_3")]


def test_of_equal_kernels_names_decide_and_then_the_order() -> None:
    base = _run(*(_dispatch(name, "1") for name in ("a", "b", "c")))
    new = _run(*(_dispatch(name, "1") for name in ("x", "b", "y")))
    assert _names(base, new) == [("a", "x"), ("b", "b"), ("c", "y")]


def test_another_problem_size_is_another_benchmark() -> None:
    rows = [_dispatch("a", "1")]
    assert _names(_run(*rows, symbols={"B": 1}), _run(*rows, symbols={"B": 2})) == [(None, "a"), ("a", None)]
    assert [pair.base is None for pair in match(_run(symbols={"B": 1}), _run(symbols={"B": 2}))] == [True, False]


def test_one_kernel_with_other_operands_is_another_size() -> None:
    assert _names(_run(_dispatch("a", "1", (8,))), _run(_dispatch("a", "1", (16,)))) == [(None, "a"), ("a", None)]


def test_another_kernel_may_take_other_operands_for_the_same_problem() -> None:
    base, new = _dispatch("a", "1", (8,)), _dispatch("a", "2", (8, 1))
    assert _names(_run(base), _run(new)) == [("a", "a")]
    # Sizes of a profile are told by nothing else.
    assert _names(_run(base, function=""), _run(new, function="")) == [(None, "a"), ("a", None)]


def test_calls_are_apart() -> None:
    assert _names(_run(_dispatch("a", "1"), call="x"), _run(_dispatch("b", "1"), call="y")) == [
        (None, "b"),
        ("a", None),
    ]
