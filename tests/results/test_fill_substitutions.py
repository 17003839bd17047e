"""Originals and substitutes side by side: rows, ratios, what people read, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping

import made_up_results
from dispatchgen.results.checks import with_agreements
from dispatchgen.results.fill import fill
from dispatchgen.results.frame import call_frame
from dispatchgen.results.measurements import Measurements
from dispatchgen.results.proof import Examined, ExaminedModel, Same, notes
from dispatchgen.results.schema import Agreement, CallResult
from dispatchgen.results.task import Target as Replaced
from dispatchgen.results.verdict import verdict
from dispatchgen.selection.select import Target
from dispatchgen.selection.variants import Variant
from dispatchgen.substitute.schema import Substituted

from .made_up_subject import CALL, Times, dispatch, filled, subject, timing
from .test_table import printed, results

_DISPATCHES = (dispatch("a", x={"B2": 3}, y={"B7": 1}), dispatch("b", x={"initializer": 2}), dispatch("c", x={"B2": 1}))
_VARIANT = Variant("fast a", "fast_a", tuple(Target(each, "kernel", "k.c") for each in _DISPATCHES[:2]), 0.5)
_IDLE = Variant("slow", "slow", (Target(dispatch("d", x={"B7": 1}), "object", "d.o"),))
#: Of the compiler's own.
_TIMES: Times = {
    ("dispatch", "", "a__x"): 4.0,
    ("dispatch", "", "b__x"): 2.0,
    ("dispatch", "", "c__x"): 1.0,
    ("model", "", "B2"): 10.0,
}


def examined(
    name: str, *, same: Same | None = None, differences: tuple[str, ...] = (), notes: tuple[str, ...] = ()
) -> Mapping[tuple[str, str], Examined]:
    """What the substitute of a dispatch is found to be."""
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
    return {("fast_a", name): Examined(record, same)}


def measured(
    times: Times,
    *variants: Variant,
    examined: Mapping[tuple[str, str], Examined] | None = None,
    models: Mapping[str, ExaminedModel] | None = None,
) -> CallResult:
    """The call with these variants, and these times besides those of the compiler's own."""
    made = subject(_DISPATCHES, variants=variants or (_VARIANT,), examined=examined, examined_models=models)
    return filled(made, {**_TIMES, **times})


def text_of(*calls: CallResult) -> str:
    lines = printed(results(*calls)).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def judged(call: CallResult) -> list[str]:
    return list(verdict(results(call), devices_named=False))


def test_rows_are_of_the_call_and_of_loading() -> None:
    times = {("dispatch", "fast_a", "a__x"): 1.0, ("dispatch", "fast_a", "b__x"): 4.0, ("model", "fast_a", "B2"): 7.5}
    (found,) = measured(times, examined={**examined("a"), **examined("b")}).substitutions
    rows = [(row.benchmark, row.count, row.ratio, row.kind, row.file, row.sha256) for row in found.dispatches]
    assert rows == [("a__x", 3, 0.25, "kernel", "k.c", "1" * 64), ("b__x", 2, 2.0, "kernel", "k.c", "1" * 64)]
    assert (found.name, found.id, found.members, found.acting) == ("fast a", "fast_a", (), ("fast_a",))
    assert (found.ratio, found.timed) == (0.75, True)
    assert found.dispatches[0].original == timing(4.0)


def test_what_was_not_run_is_no_success() -> None:
    (found,) = measured({}, examined={("fast_a", "a"): Examined(failure="compile: no")}).substitutions
    assert [(row.timing, row.ratio, row.failure) for row in found.dispatches] == [
        (None, None, "compile: no"),
        (None, None, "it was not run"),
    ]
    assert (found.whole_model.timing, found.whole_model.failure, found.ratio) == (None, "it was not run", None)


def test_what_is_the_same_has_no_time_and_is_no_failure() -> None:
    (found,) = measured({}, examined={**examined("a", same="code"), **examined("b", same="text")}).substitutions
    assert [(row.same, row.timing, row.failure) for row in found.dispatches] == [
        ("code", None, None),
        ("text", None, None),
    ]


def test_a_combination_has_members_and_no_rows() -> None:
    call = measured({("model", "all", "B2"): 5.0}, Variant("all", "all", members=(_VARIANT,)))
    (found,) = call.substitutions
    assert (found.members, found.dispatches, found.ratio) == (("fast_a",), (), 0.5)
    assert "combination all: fast_a\nwhole model 10.0 s, with all 5.00 s: ratio 0.50\n" in text_of(call)


def test_originals_and_substitutes_are_printed_side_by_side() -> None:
    times = {("dispatch", "fast_a", "a__x"): 1.0, ("model", "fast_a", "B2"): 7.5}
    agreement = Agreement(tolerance=0.5, worst=0.25, agrees=True)
    call = agreeing(measured(times, examined={**examined("a"), **examined("b", same="code")}), "a__x", agreement)
    lines = [line.split() for line in text_of(call).splitlines()]
    assert ["substitution", "fast", "a"] in lines
    assert ["dispatch", "substitute", "original", "time", "ratio", "outputs", "agree"] in lines
    assert ["a__x", "k.c", "4.00", "s", "1.00", "s", "0.25", "yes"] in lines
    assert ["b__x", "k.c", "2.00", "s", "same", "-", "-"] in lines
    text = text_of(call)
    assert "whole model 10.0 s, with fast a 7.50 s: ratio 0.75\n" in text
    assert "  same b__x: compiles to the compiler's own code\n" in text
    assert judged(call) == []


def agreeing(call: CallResult, benchmark: str, agreement: Agreement) -> CallResult:
    """The call with how the outputs of a benchmark of `fast_a` compare."""
    return with_agreements(call, {(Replaced("m", "cpu", "sync", "dispatch", "fast_a"), benchmark): agreement})


def test_what_is_wrong_is_named_and_judged() -> None:
    times: Times = {
        ("dispatch", "fast_a", "a__x"): 1.0,
        ("dispatch", "fast_a", "b__x"): "it crashed",
        ("model", "fast_a", "B2"): "it crashed too",
    }
    agreement = Agreement(tolerance=0.5, worst=9.0, agrees=False, failure="binding 2, element 7\nbinding 3")
    found = measured(times, examined={**examined("a", differences=("cpu: expected x, found y",)), **examined("b")})
    call = agreeing(found, "a__x", agreement)
    text = text_of(call)
    assert "whole model: not measured: it crashed too\n" in text
    assert "  failed b__x: it crashed\n" in text
    assert "  outputs of a__x: binding 2, element 7\n      binding 3\n" in text
    assert "  a__x is made for another target: cpu: expected x, found y\n" in text
    assert judged(call) == [
        "1 substitution could not be built or run",
        "outputs of 1 substitution are not the compiler's, or could not be compared",
    ]


def test_the_compilers_own_program_is_said() -> None:
    call = measured({}, models={"fast_a": ExaminedModel(same=True)})
    (found,) = call.substitutions
    assert (found.same, found.whole_model.timing, found.whole_model.failure) == (True, None, None)
    assert "whole model: the compiler's own, byte for byte\n" in text_of(call)


def test_what_replaces_nothing_in_a_call_is_said_and_not_compared() -> None:
    call = measured({}, _IDLE)
    (found,) = call.substitutions
    assert (found.acting, found.dispatches, found.ratio, found.whole_model.failure) == ((), (), None, None)
    assert "substitution slow\nreplaces nothing in this call\n" in text_of(call)
    assert judged(call) == []
    call = measured({}, _IDLE, models={"slow": ExaminedModel(failure="compile: no")})
    assert "whole model: not measured: compile: no\n" in text_of(call), "what cannot be built is told all the same"


def test_a_combination_names_the_members_that_act_in_the_call() -> None:
    call = measured({("model", "all", "B2"): 5.0}, Variant("all", "all", members=(_IDLE, _VARIANT)))
    (found,) = call.substitutions
    assert (found.members, found.acting, found.ratio) == (("slow", "fast_a"), ("fast_a",), 0.5)
    assert "combination all: fast_a (not in this call: slow)\n" in text_of(call)
    nothing = measured({}, Variant("all", "all", members=(_IDLE,)))
    assert "combination all: slow\nreplaces nothing in this call\n" in text_of(nothing)


def test_what_runs_at_load_alone_has_no_part_in_the_time_of_a_call() -> None:
    loaded = Variant("s", "s", (Target(_DISPATCHES[1], "object", "b.o"),))
    call = measured({("dispatch", "s", "b__x"): 1.0, ("model", "s", "B2"): 5.0}, loaded)
    (found,) = call.substitutions
    assert ([row.ratio for row in found.dispatches], found.ratio, found.acting) == ([0.5], None, ("s",))
    assert not found.timed
    assert "whole model 10.0 s, with s 5.00 s\n" in text_of(call)


def test_what_the_build_noted_is_shown() -> None:
    call = measured({}, examined=examined("a", notes=("it is old:\ndump it again",)))
    assert call.substitutions[0].dispatches[0].notes == ("it is old:\ndump it again",)
    assert "  note on a__x: it is old:\n      dump it again\n" in text_of(call)


def test_what_the_build_tells_of_what_is_not_run() -> None:
    """The device is absent: what is the same, and what was noted, is known all the same."""
    seen = {**examined("a", same="code"), **examined("b", notes=("it is old",))}
    made = subject(_DISPATCHES, variants=(_VARIANT,), examined=seen, examined_models={"fast_a": _SAME})
    frame = results(*[call_frame(made, CALL)] * 2)
    (missing,) = fill(frame, Measurements(absent={("cpu", "sync"): "no"})).not_run
    told = [
        "fast a: same a: compiles to the compiler's own code",
        "fast a: b: it is old",
        "fast a: whole model: the compiler's own, byte for byte",
    ]
    assert list(missing.notes) == told == list(notes(made.proofs, (_VARIANT,)))


_SAME = ExaminedModel(same=True)


def test_how_well_a_ratio_is_known_is_told_by_rounds_that_have_both() -> None:
    """The machine became slower for both: the ratio is known well all the same."""
    call = measured({}, examined=examined("a"))
    (result,) = call.substitutions
    slow = [1.0, 1.5, 1.0, 1.5, 1.0, 1.5]
    times = [made_up_results.timing([factor * each for each in slow]) for factor in (4, 1)]
    update = {"original": times[0], "timing": times[1], "ratio": 0.25, "failure": None}
    rows = (result.dispatches[0].model_copy(update=update), *result.dispatches[1:])
    known = call.model_copy(update={"substitutions": (result.model_copy(update={"dispatches": rows}),)})
    lines = [line.split() for line in text_of(known).splitlines()]
    assert ["dispatch", "substitute", "original", "time", "ratio", "known", "to"] in lines
    (row,) = (line for line in lines if line[:2] == ["a__x", "k.c"])
    assert row[-2:] == ["±0.0", "%"]
