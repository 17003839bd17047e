"""Which variants a suite has, and those that are asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dispatchgen.errors import SubstitutionError
from dispatchgen.extract.schema import BackendDispatches, Dispatch
from dispatchgen.lock.schema import Lock, MadeFrom
from dispatchgen.manifest.suite import Backend, Combination, Model, Selector, Source, Substitution, Suite
from dispatchgen.selection.variants import all_variants, narrow, only, variants_of


def _backend(name: str) -> Backend:
    return Backend(name=name, id=name, target_device="local", local_backend="llvm-cpu")


def _substitution(name: str, dispatch: str, *backends: str, tolerance: float | None = None) -> Substitution:
    return Substitution(
        name=name,
        id=name.replace(" ", "_"),
        kind="source",
        file=f"{dispatch}.mlir",
        selectors=(Selector(dispatch),),
        backends=backends,
        tolerance=tolerance,
    )


def _dispatch(name: str) -> Dispatch:
    return Dispatch(
        name=name, operation=name, executable=name, variant="", export="", content="", written=(), benchmarks=()
    )


MODEL = Model(
    name="m",
    id="m",
    source=Source("m.mlir", "mlir"),
    backends=("cpu", "gpu"),
    substitutions=(
        _substitution("first try", "a", "cpu", "gpu", tolerance=0.5),
        _substitution("second", "b", "cpu"),
    ),
    combinations=(Combination("both", "both", ("first_try", "second"), ("cpu",)),),
)
PLAIN = Model(name="plain", id="plain", source=Source("m.mlir", "mlir"), backends=("cpu",))
SUITE = Suite(Path("benchmarks.yaml"), (_backend("cpu"), _backend("gpu")), (MODEL, PLAIN))
_FOUND = (_dispatch("a"), _dispatch("b"))
LOCK = Lock(
    model="m",
    made_from=MadeFrom(source="", settings={}, compiler=""),
    entry=None,
    calls=(),
    backends={name: BackendDispatches(backend=name, dispatches=_FOUND) for name in ("cpu", "gpu")},
)


def test_a_backend_has_its_substitutions_then_its_combinations() -> None:
    first, second, both = variants_of(SUITE, MODEL, SUITE.backend("cpu"), LOCK)
    assert (first.name, first.id, first.dispatches, first.tolerance, first.parts) == (
        "first try",
        "first_try",
        ["a"],
        0.5,
        (first,),
    )
    assert second.tolerance is None
    assert (both.members, both.parts, both.targets, both.dispatches) == (
        (first, second),
        (first, second),
        (),
        ["a", "b"],
    )
    assert [each.id for each in variants_of(SUITE, MODEL, SUITE.backend("gpu"), LOCK)] == ["first_try"]


def test_all_problems_are_said_at_once() -> None:
    other = replace(MODEL, name="n", id="n")
    suite = replace(SUITE, models=(MODEL, other))
    without = LOCK.model_copy(update={"backends": {"cpu": BackendDispatches(backend="cpu", dispatches=())}})
    cpu_only = replace(suite, models=tuple(replace(model, backends=("cpu",)) for model in suite.models))
    with pytest.raises(SubstitutionError) as raised:
        all_variants(cpu_only, {"m": without, "n": without})
    assert len(raised.value.problems) == 4


def test_variants_are_named_as_they_are_written_or_by_id() -> None:
    variants = all_variants(SUITE, {"m": LOCK, "plain": LOCK})
    assert only(variants, []) == variants
    for name in ("first try", "first_try"):
        chosen = only(variants, [name, "both"])
        assert {pair: [each.id for each in found] for pair, found in chosen.items()} == {
            ("m", "cpu"): ["first_try", "both"],
            ("m", "gpu"): ["first_try"],
            ("plain", "cpu"): [],
        }


def test_models_and_backends_without_them_are_left_out() -> None:
    assert narrow(SUITE, []) is SUITE
    (model,) = narrow(SUITE, ["second"]).models
    assert (model.id, model.backends) == ("m", ("cpu",))
    (model,) = narrow(SUITE, ["second", "first_try"]).models
    assert model.backends == ("cpu", "gpu")


def test_unknown_names_are_said_with_the_nearest() -> None:
    on_gpu = replace(SUITE, models=(replace(MODEL, backends=("gpu",)),))
    with pytest.raises(SubstitutionError) as raised:
        narrow(on_gpu, ["frist try", "second"])
    first, second = raised.value.problems
    assert first.message == "there is no substitution or combination `frist try` among those selected"
    assert first.hint == "`first try`"
    assert "`second`" in second.message, "it is not for this backend"
