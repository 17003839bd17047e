"""Originals and substitutes side by side: rows, ratios, what people read, and the verdict."""

from __future__ import annotations

from dispatchgen.results.assemble import Measured
from dispatchgen.results.assemble_substitutions import substitution_result
from dispatchgen.results.benchmark import Outcome
from dispatchgen.results.proof import Same
from dispatchgen.results.schema import Agreement, CallResult, SubstitutionResult, WholeModel
from dispatchgen.results.substitutes import Substitute, SubstitutedModel
from dispatchgen.results.verdict import verdict
from dispatchgen.selection.select import Target
from dispatchgen.selection.variants import Variant
from dispatchgen.substitute.schema import Substituted

from .test_assemble import CALL, dispatch, result, timing
from .test_table import printed, results

_DISPATCHES = (dispatch("a", x={"B2": 3}, y={"B7": 1}), dispatch("b", x={"initializer": 2}), dispatch("c", x={"B2": 1}))
_MEASURED = Measured({"a__x": timing(4.0), "b__x": timing(2.0)}, {})
_VARIANT = Variant("fast a", "fast_a", tuple(Target(each, "kernel", "k.c") for each in _DISPATCHES[:2]), 0.5)
_ORIGINAL = WholeModel(timing=timing(10.0))


def substitute(
    name: str,
    seconds: float | None = None,
    *,
    failure: str | None = None,
    same: Same | None = None,
    agreement: Agreement | None = None,
    differences: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> Substitute:
    """What running the substitute of benchmark `<name>__x` gave."""
    record = Substituted(
        substitution="fast_a",
        dispatch=name,
        kind="object",
        file="k.o",
        sha256="1" * 64,
        same=same == "text",
        target_differences=differences,
        notes=notes,
        executable="",
        export="",
    )
    benchmark = f"{name}__x"
    outcome = Outcome(
        timings={} if seconds is None else {benchmark: timing(seconds)},
        failures={} if failure is None else {benchmark: failure},
    )
    return Substitute(record, same, outcome, {} if agreement is None else {benchmark: agreement})


def assembled(*substitutes: tuple[str, Substitute], model: SubstitutedModel | None = None) -> SubstitutionResult:
    whole = model or SubstitutedModel(outcome=Outcome(timings={"main": timing(7.5)}))
    return substitution_result(_VARIANT, CALL, _MEASURED, dict(substitutes), _ORIGINAL, whole)


def call_with(*substitutions: SubstitutionResult) -> CallResult:
    call = result(_DISPATCHES, {"a__x": 4.0, "b__x": 2.0, "c__x": 1.0})
    return call.model_copy(update={"substitutions": substitutions})


def test_rows_are_of_the_call_and_of_loading() -> None:
    found = assembled(("a", substitute("a", 1.0)), ("b", substitute("b", 4.0)))
    rows = [(row.benchmark, row.count, row.ratio, row.kind, row.file, row.sha256) for row in found.dispatches]
    assert rows == [("a__x", 3, 0.25, "kernel", "k.c", "1" * 64), ("b__x", 2, 2.0, "kernel", "k.c", "1" * 64)]
    assert (found.name, found.members, found.acting, found.ratio) == ("fast a", (), ("fast_a",), 0.75)
    assert found.dispatches[0].original == timing(4.0)


def test_what_was_not_run_is_no_success() -> None:
    found = assembled(("a", substitute("a", failure="compile: no")), model=SubstitutedModel())
    assert [(row.timing, row.ratio, row.failure) for row in found.dispatches] == [
        (None, None, "compile: no"),
        (None, None, "it was not run"),
    ]
    assert found.whole_model == WholeModel(timing=None)
    assert found.ratio is None


def test_what_is_the_same_has_no_time_and_is_no_failure() -> None:
    found = assembled(("a", substitute("a", same="code")), ("b", substitute("b", same="text")))
    assert [(row.same, row.timing, row.failure) for row in found.dispatches] == [
        ("code", None, None),
        ("text", None, None),
    ]


def test_a_combination_has_members_and_no_rows() -> None:
    combination = Variant("all", "all", members=(_VARIANT,))
    model = SubstitutedModel(outcome=Outcome(timings={"main": timing(5.0)}))
    found = substitution_result(combination, CALL, _MEASURED, {}, _ORIGINAL, model)
    assert (found.members, found.dispatches, found.ratio) == (("fast_a",), (), 0.5)
    assert "combination all: fast_a\nwhole model 10.0 s, with all 5.00 s: ratio 0.50\n" in _text(found)


def _text(*substitutions: SubstitutionResult) -> str:
    lines = printed(results(call_with(*substitutions))).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def test_originals_and_substitutes_are_printed_side_by_side() -> None:
    agreement = Agreement(tolerance=0.5, worst=0.25, agrees=True)
    found = assembled(("a", substitute("a", 1.0, agreement=agreement)), ("b", substitute("b", same="code")))
    lines = [line.split() for line in _text(found).splitlines()]
    assert ["substitution", "fast", "a"] in lines
    assert ["dispatch", "substitute", "original", "time", "ratio", "outputs", "agree"] in lines
    assert ["a__x", "k.c", "4.00", "s", "1.00", "s", "0.25", "yes"] in lines
    assert ["b__x", "k.c", "2.00", "s", "same", "-", "-"] in lines
    text = _text(found)
    assert "whole model 10.0 s, with fast a 7.50 s: ratio 0.75\n" in text
    assert "  same b__x: compiles to the compiler's own code\n" in text
    assert list(verdict(results(call_with(found)), devices_named=False)) == []


def test_what_is_wrong_is_named_and_judged() -> None:
    agreement = Agreement(tolerance=0.5, worst=9.0, agrees=False, failure="binding 2, element 7\nbinding 3")
    found = assembled(
        ("a", substitute("a", 1.0, agreement=agreement, differences=("cpu: expected x, found y",))),
        ("b", substitute("b", failure="it crashed")),
        model=SubstitutedModel(outcome=Outcome(failures={"main": "substitute-model: no"})),
    )
    text = _text(found)
    assert "whole model: not measured: substitute-model: no\n" in text
    assert "  failed b__x: it crashed\n" in text
    assert "  outputs of a__x: binding 2, element 7\n      binding 3\n" in text
    assert "  a__x is made for another target: cpu: expected x, found y\n" in text
    assert list(verdict(results(call_with(found, found)), devices_named=False)) == [
        "1 substitution could not be built or run",
        "outputs of 1 substitution are not the compiler's, or could not be compared",
    ]


def test_the_compilers_own_program_is_said() -> None:
    found = assembled(model=SubstitutedModel(same=True))
    assert found.whole_model == WholeModel(timing=None)
    assert "whole model: the compiler's own, byte for byte\n" in _text(found)


def test_what_replaces_nothing_in_a_call_is_said_and_not_compared() -> None:
    idle = Variant("slow", "slow", (Target(dispatch("d", x={"B7": 1}), "object", "d.o"),))
    found = substitution_result(idle, CALL, _MEASURED, {}, _ORIGINAL, SubstitutedModel())
    assert (found.acting, found.dispatches, found.ratio, found.whole_model.failure) == ((), (), None, None)
    assert "substitution slow\nreplaces nothing in this call\n" in _text(found)
    assert list(verdict(results(call_with(found)), devices_named=False)) == []
    failed = SubstitutedModel(outcome=Outcome(failures={"main": "compile: no"}))
    found = substitution_result(idle, CALL, _MEASURED, {}, _ORIGINAL, failed)
    assert "whole model: not measured: compile: no\n" in _text(found), "what cannot be built is told all the same"


def test_a_combination_names_the_members_that_act_in_the_call() -> None:
    idle = Variant("slow", "slow", (Target(dispatch("d", x={"B7": 1}), "object", "d.o"),))
    combination = Variant("all", "all", members=(idle, _VARIANT))
    model = SubstitutedModel(outcome=Outcome(timings={"main": timing(5.0)}))
    found = substitution_result(combination, CALL, _MEASURED, {}, _ORIGINAL, model)
    assert (found.members, found.acting, found.ratio) == (("slow", "fast_a"), ("fast_a",), 0.5)
    assert "combination all: fast_a (not in this call: slow)\n" in _text(found)
    nothing = substitution_result(Variant("all", "all", members=(idle,)), CALL, _MEASURED, {}, _ORIGINAL, model)
    assert "combination all: slow\nreplaces nothing in this call\n" in _text(nothing)


def test_what_runs_at_load_alone_has_no_part_in_the_time_of_a_call() -> None:
    loaded = Variant("s", "s", (Target(_DISPATCHES[1], "object", "b.o"),))
    model = SubstitutedModel(outcome=Outcome(timings={"main": timing(5.0)}))
    found = substitution_result(loaded, CALL, _MEASURED, {"b": substitute("b", 1.0)}, _ORIGINAL, model)
    assert ([row.ratio for row in found.dispatches], found.ratio, found.acting) == ([0.5], None, ("s",))
    assert "whole model 10.0 s, with s 5.00 s\n" in _text(found)


def test_what_the_build_noted_is_shown() -> None:
    found = assembled(("a", substitute("a", 1.0, notes=("it is old:\ndump it again",))))
    assert found.dispatches[0].notes == ("it is old:\ndump it again",)
    assert "  note on a__x: it is old:\n      dump it again\n" in _text(found)


def test_dispatches_that_were_not_asked_for_are_left_out() -> None:
    call = result(_DISPATCHES, {"a__x": 4.0}, only=["a"])
    assert [row.name for row in call.dispatches] == ["a"]
    assert call.coverage.model_dump() == {"dispatches": 2, "measured": 1, "skipped": 0, "failed": 0, "left_out": 1}
    assert call.sum_seconds is None
    assert "1 of 2 dispatches, 1 not asked for\n" in printed(results(call))
