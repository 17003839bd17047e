"""Affine maps of workgroup counts."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dispatchgen.manifest.affine import affine_problem, map_dims, map_results


@pytest.mark.parametrize(
    ("text", "dims"),
    [
        ("(w0) -> (w0 ceildiv 64, 1, 1)", ("w0",)),
        ("( a,b )->( -a + (b * 3) mod 5, 2*a - 1, 4 * (2 + 2) )", ("a", "b")),
        ("() -> (1, 1, 1)", ()),
        ("(w0) -> (w0 floordiv (2 * 4 - 1), w0 * (7 mod 4), 1)", ("w0",)),
    ],
)
def test_maps(text: str, dims: tuple[str, ...]) -> None:
    assert affine_problem(text) is None
    assert map_dims(text) == dims


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("w0 ceildiv 64", "a map such as"),
        ("(w0) -> w0", "a map such as"),
        ("(w0) -> (w0, 1, 1", "a map such as"),
        ("(w0)[s0] -> (w0, 1, 1)", "a map such as"),
        ("affine_map<(d0) -> (d0, 1, 1)>", "a map such as"),
        ("(w0) -> (w0, 1)", "it has 2 results; 3 are needed"),
        ("(w0) -> (w0, 1, 1, 1)", "it has 4 results; 3 are needed"),
        ("(w0) -> (w0, 1, )", "the end where a number or a workload operand is expected"),
        ("(w0) -> (w1, 1, 1)", "`w1` is not one of its workload operands"),
        ("(w0, w0) -> (1, 1, 1)", "two workload operands are called `w0`"),
        ("(0) -> (1, 1, 1)", "`0` cannot be the name"),
        ("(mod) -> (mod, 1, 1)", "`mod` cannot be the name"),
        ("(w0) -> (w0 w0, 1, 1)", "`w0` where an operator, `,` or the end is expected"),
        ("(w0) -> (w0 / 2, 1, 1)", "`/` where an operator, `,` or the end is expected"),
        ("(w0) -> (w0 * w0, 1, 1)", "one side of `*` has to be a constant"),
        ("(w0) -> (w0 ceildiv w0, 1, 1)", "the right side of `ceildiv` has to be a constant above zero"),
        ("(w0) -> (w0 mod (3 - 3), 1, 1)", "the right side of `mod` has to be a constant above zero"),
        ("(w0) -> ((w0, 1, 1)", "a `)` is missing"),
        (f"(w0) -> ({'9' * 19}, 1, 1)", "is too large"),
        (f"(w0) -> ({'(' * 60}w0{')' * 60}, 1, 1)", "it is nested too deeply"),
        (f"(w0) -> ({'-' * 500}w0, 1, 1)", "it is nested too deeply"),
        (f"(w0) -> (w0{' + 1' * 500}, 1, 1)", "it has 2018 characters; at most 1000 are allowed"),
    ],
)
def test_what_is_no_map(text: str, problem: str) -> None:
    assert problem in (affine_problem(text) or "")


_EXPRESSIONS = st.recursive(
    st.sampled_from(["w0", "w1", "1", "64"]),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "-"]), inner).map(" ".join)
        | st.tuples(inner, st.sampled_from(["*", "ceildiv", "floordiv", "mod"]), st.sampled_from(["2", "(4 * 8)"])).map(
            lambda parts: f"({parts[0]}) {parts[1]} {parts[2]}"
        )
        | inner.map(lambda text: f"-({text})")
    ),
    max_leaves=6,
)


@settings(max_examples=50)  # each makes a context of MLIR
@given(st.tuples(_EXPRESSIONS, _EXPRESSIONS, _EXPRESSIONS), st.tuples(st.integers(0, 300), st.integers(0, 300)))
def test_what_is_accepted_is_the_same_map_to_the_compiler(results: tuple[str, ...], workload: tuple[int, int]) -> None:
    text = f"(w0, w1) -> ({', '.join(results)})"
    assert affine_problem(text) is None
    assert map_results(text, workload) == _evaluated(text, workload)


def _evaluated(text: str, workload: tuple[int, int]) -> tuple[int, ...]:
    """The results of a map by MLIR, which folds expressions of constants."""
    from iree.compiler import ir

    with ir.Context():
        operands = [ir.AffineConstantExpr.get(value) for value in workload]
        results = ir.Attribute.parse(f"affine_map<{text}>").value.results
        folded = (ir.AffineExpr.compose(each, ir.AffineMap.get(0, 0, operands)) for each in results)
        return tuple(ir.AffineConstantExpr(each).value for each in folded)


def test_results() -> None:
    text = "(w0, w1) -> (w1 ceildiv 64, w0 floordiv 64 - w1, (0 - w0) mod 7)"
    assert map_results(text, (10, 65)) == (2, -65, 4)
    assert map_results("() -> (4, 2 * 3, 1)", ()) == (4, 6, 1)


@given(st.text(alphabet="(),->+*w0 64modceilfr[]", max_size=40) | st.text(max_size=20))
@example("00")
@example("²")
def test_any_text_is_a_map_or_refused(text: str) -> None:
    for candidate in (text, f"(w0) -> ({text})", f"(w0) -> ({text}, {text}, w0 {text})"):
        problem = affine_problem(candidate)
        assert problem.replace("\n", "").isprintable() if problem is not None else _parses(candidate)


def _parses(text: str) -> bool:
    """Whether MLIR takes `text` for an affine map."""
    from iree.compiler import ir

    with ir.Context():
        try:
            ir.Attribute.parse(f"affine_map<{text}>")
        except (ir.MLIRError, ValueError):
            return False
    return True
