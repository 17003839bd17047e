"""Which dispatches substitutions replace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.errors import SubstitutionError
from dispatchgen.extract.schema import BackendDispatches, Benchmark, Dispatch, Skipped
from dispatchgen.lock.schema import Lock, MadeFrom
from dispatchgen.manifest.suite import Backend, Combination, Model, Selector, Source, Substitution, Suite
from dispatchgen.selection.select import Selected, Target, select_dispatches, select_substitutions

CPU = Backend("my cpu", "my_cpu", "local", "llvm-cpu")


def _dispatch(name: str, number: int, operation: str, variant: str = "embedded_elf_x86_64") -> Dispatch:
    executable = f"main_dispatch_{number}"
    return Dispatch(
        name=name,
        operation=operation,
        executable=executable,
        variant=variant,
        export=f"{executable}_{operation}",
        content="",
        written=(),
        benchmarks=(),
    )


FIRST = _dispatch("matmul_4x4", 0, "matmul_4x4")
SECOND = _dispatch("matmul_4x4_2", 1, "matmul_4x4")
WIDE = _dispatch("matmul_4x8", 2, "matmul_4x8")
#: Its name is another's operation, as after a renewal that kept it.
KEPT = _dispatch("softmax_4", 3, "reduction_4")
SOFTMAX = _dispatch("softmax_4_2", 4, "softmax_4")
DISPATCHES = (FIRST, SECOND, WIDE, KEPT, SOFTMAX)


def _lock(skipped: Sequence[Skipped] = (), **backends: tuple[Dispatch, ...]) -> Lock:
    locked = {
        name: BackendDispatches(backend=name, dispatches=dispatches, skipped=tuple(skipped))
        for name, dispatches in (backends or {"my_cpu": DISPATCHES}).items()
    }
    made_from = MadeFrom(source="", settings={}, compiler="")
    return Lock(model="m", made_from=made_from, entry=None, calls=(), backends=locked)


def _select(*substitutions: Substitution, combinations: tuple[Combination, ...] = (), lock: Lock) -> list[Selected]:
    model = Model(
        *("the model", "the_model", Source("m.mlir", "mlir")),
        backends=("my_cpu",),
        substitutions=substitutions,
        combinations=combinations,
    )
    return select_substitutions(Suite(Path("benchmarks.yaml"), (CPU,), (model,)), model, CPU, lock)


def _kernel(name: str, *selectors: str, line: int = 1) -> Substitution:
    return Substitution(
        *(name, name, "object", "k.c"),
        selectors=tuple(Selector(text) for text in selectors),
        backends=("my_cpu",),
        command=("cc",),
        line=line,
    )


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (Selector("matmul_4x4"), [FIRST]),  # a name, rather than the operation of two
        (Selector("softmax_4"), [KEPT]),
        (Selector("softmax_4", "operation"), [SOFTMAX]),
        (Selector("matmul_4x4", "operation"), [FIRST, SECOND]),
        (Selector("main_dispatch_1"), [SECOND]),
        (Selector("main_dispatch_2_matmul_4x8"), [WIDE]),
        (Selector("reduction_4"), [KEPT]),
        (Selector("matmul_*"), [FIRST, SECOND, WIDE]),
        (Selector("*_dispatch_[34]"), [KEPT, SOFTMAX]),
        (Selector("softmax_4_?"), [SOFTMAX]),
        (Selector("*softmax*"), [KEPT, SOFTMAX]),
        (Selector("*soft*", "operation"), [SOFTMAX]),
        (Selector("*"), list(DISPATCHES)),
    ],
)
def test_what_a_selector_names(selector: Selector, expected: list[Dispatch]) -> None:
    assert select_dispatches([selector], DISPATCHES) == expected


def test_each_dispatch_once_in_the_order_of_the_lock() -> None:
    selectors = [Selector("softmax_4"), Selector("matmul_4x4", "operation"), Selector("main_dispatch_0")]
    assert select_dispatches(selectors, DISPATCHES) == [FIRST, SECOND, KEPT]


def _problems(error: SubstitutionError) -> list[str]:
    return [str(problem) for problem in error.problems]


def test_selectors_that_name_nothing_and_what_they_may_mean() -> None:
    selectors = [
        Selector("matmul_4x4"),
        Selector("matmul_4x88"),
        Selector("main_dispatch_9"),
        Selector("sofmax_4", "operation"),
        Selector("main_dispatch_1", "operation"),
        Selector("conv_*"),
    ]
    with pytest.raises(SubstitutionError) as raised:
        select_dispatches(selectors, DISPATCHES)
    assert _problems(raised.value) == [
        "error: there is no dispatch `matmul_4x88`\n  try: `matmul_4x8`",
        "error: there is no dispatch `main_dispatch_9`\n  try: `main_dispatch_4`",
        "error: there is no dispatch of the operation `sofmax_4`\n  try: `softmax_4`",
        "error: there is no dispatch of the operation `main_dispatch_1`\n"
        "  try: one of `matmul_4x4`, `matmul_4x8`, `reduction_4`, `softmax_4`",
        "error: there is no dispatch `conv_*`\n"
        "  try: one of `matmul_4x4`, `matmul_4x4_2`, `matmul_4x8`, `softmax_4`, `softmax_4_2`",
    ]


def test_what_has_no_benchmark_is_not_replaced_and_said() -> None:
    skipped = Skipped(
        executable="main_dispatch_7", export="main_dispatch_7_sort", operation="sort", calls=(), reason="data-dependent"
    )
    with pytest.raises(SubstitutionError) as raised:
        _select(_kernel("s", "main_dispatch_7", "sort", "so?t"), lock=_lock([skipped]))
    assert {problem.message for problem in raised.value.problems} == {
        "substitution `s` of model `the model` on backend `my cpu`: "
        "the dispatch `main_dispatch_7_sort` has no benchmark: data-dependent"
    }


def test_targets() -> None:
    kernel = _kernel("kernel", "main_dispatch_1")
    ready = Substitution("ready", "ready", "object", "k.o", selectors=(Selector("softmax_*"),), backends=("my_cpu",))
    tuned = Substitution("tuned", "tuned", "tuning_spec", "spec.mlir", backends=("my_cpu",))
    elsewhere = Substitution(
        "elsewhere", "elsewhere", "source", "x.mlir", selectors=(Selector("?"),), backends=("gpu",)
    )
    assert _select(kernel, ready, tuned, elsewhere, lock=_lock()) == [
        Selected(kernel, (Target(SECOND, "kernel", "k.c"),)),
        Selected(ready, (Target(KEPT, "object", "k.o"), Target(SOFTMAX, "object", "k.o"))),
        Selected(tuned, tuple(Target(dispatch, "tuning_spec", "spec.mlir") for dispatch in DISPATCHES)),
    ]


def test_all_problems_with_their_places() -> None:
    combination = Combination("both", "both", ("b", "tuned"), ("my_cpu",), line=9)
    unused = Combination("elsewhere", "elsewhere", ("b", "tuned"), ("gpu",), line=10)
    tuned = Substitution("tuned", "tuned", "tuning_spec", "spec.mlir", backends=("my_cpu",), line=8)
    with pytest.raises(SubstitutionError) as raised:
        _select(
            _kernel("a", "x", "y", line=5),
            _kernel("b", "softmax_4*", line=6),
            tuned,
            combinations=(combination, unused),
            lock=_lock(my_cpu=(KEPT, SOFTMAX)),
        )
    assert raised.value.exit_code == 2
    of_model = "of model `the model` on backend `my cpu`"
    assert _problems(raised.value) == [
        f"error: substitution `a` {of_model}: there is no dispatch `x`\n  at benchmarks.yaml:5\n"
        "  try: one of `softmax_4`, `softmax_4_2`",
        f"error: substitution `a` {of_model}: there is no dispatch `y`\n  at benchmarks.yaml:5\n"
        "  try: one of `softmax_4`, `softmax_4_2`",
        f"error: combination `both` {of_model}: `b` and `tuned` both replace `softmax_4`, `softmax_4_2`\n"
        "  at benchmarks.yaml:9\n  try: give `tuned` a `dispatch`",
    ]


def test_workgroups_take_the_workload_of_each_dispatch() -> None:
    def with_workload(dispatch: Dispatch, *workload: int) -> Dispatch:
        benchmark = Benchmark(name=dispatch.name, workload=workload, constants=(), bindings=(), counts={})
        return dispatch.model_copy(update={"benchmarks": (benchmark,)})

    lock = _lock(my_cpu=(with_workload(FIRST, 4), with_workload(WIDE, 4, 8), with_workload(SOFTMAX)))
    kernel = replace(_kernel("k", "*"), workgroups="(w0) -> (w0 ceildiv 64, 1, 1)")
    with pytest.raises(SubstitutionError) as raised:
        _select(kernel, lock=lock)
    of_model = "of model `the model` on backend `my cpu`"
    assert _problems(raised.value) == [
        f"error: substitution `k` {of_model}: the workload of `matmul_4x8` has 2 operands, and `workgroups` takes 1\n"
        "  at benchmarks.yaml:1\n  try: `(w0, w1) -> (...)`",
        f"error: substitution `k` {of_model}: the workload of `softmax_4_2` has 0 operands, and `workgroups` takes 1\n"
        "  at benchmarks.yaml:1\n  try: `() -> (...)`",
    ]
    (selected,) = _select(replace(kernel, selectors=(Selector("matmul_4x4"),)), lock=lock)
    assert len(selected.targets) == 1


def test_members_of_a_combination_replace_different_dispatches() -> None:
    members = (_kernel("a", "matmul_4x4"), _kernel("b", "matmul_4x8"), _kernel("c", "matmul_*"))
    apart, twice = (
        Combination("apart", "apart", ("a", "b"), ("my_cpu",)),
        Combination("twice", "twice", ("a", "b", "c"), ("my_cpu",)),
    )
    assert len(_select(*members, combinations=(apart,), lock=_lock())) == 3
    with pytest.raises(SubstitutionError) as raised:
        _select(*members, combinations=(apart, twice), lock=_lock())
    assert [problem.message.partition("cpu`: ")[2] for problem in raised.value.problems] == [
        "`a` and `c` both replace `matmul_4x4`",
        "`b` and `c` both replace `matmul_4x8`",
    ]


def test_members_of_a_combination_replace_different_executables() -> None:
    second = SECOND.model_copy(update={"executable": FIRST.executable})
    lock = _lock(my_cpu=(FIRST, second, WIDE))

    def source(name: str, dispatch: str, file: str) -> Substitution:
        return Substitution(*(name, name, "source", file), selectors=(Selector(dispatch),), backends=("my_cpu",))

    first, second_one = source("a", "matmul_4x4", "both.mlir"), source("b", "matmul_4x4_2", "both.mlir")
    combination = Combination("both", "both", ("a", "b"), ("my_cpu",))
    assert len(_select(first, second_one, combinations=(combination,), lock=lock)) == 2
    with pytest.raises(SubstitutionError) as raised:
        _select(first, replace(second_one, file="second.mlir"), combinations=(combination,), lock=lock)
    assert _problems(raised.value) == [
        "error: combination `both` of model `the model` on backend `my cpu`: `a` and `b` replace `matmul_4x4` and "
        "`matmul_4x4_2`, which are one executable, `main_dispatch_0`\n  at benchmarks.yaml\n"
        "  try: name both dispatches in one substitution, whose file has what is new in both"
    ]


_TEXTS = st.text(alphabet="matul_4x8?*[]!-", max_size=8) | st.text(max_size=8)


@given(st.lists(st.builds(Selector, _TEXTS, st.sampled_from(["any", "operation"])), max_size=3))
def test_any_selector_names_dispatches_or_is_refused(selectors: list[Selector]) -> None:
    try:
        found = select_dispatches(selectors, DISPATCHES)
    except SubstitutionError as error:
        assert len(error.problems) <= len(selectors)
        assert str(error).replace("\n", "").isprintable()
    else:
        assert bool(found) == bool(selectors)
        assert found == [dispatch for dispatch in DISPATCHES if dispatch in found]


@given(st.sampled_from(DISPATCHES), st.sampled_from(["name", "executable", "export", "operation"]))
def test_a_dispatch_is_found_by_all_that_it_is_called(dispatch: Dispatch, by: str) -> None:
    found = select_dispatches([Selector(getattr(dispatch, by))], DISPATCHES)
    # A name counts before an operation.
    assert dispatch in found or (by == "operation" and [each.name for each in found] == [dispatch.operation])
