"""What a build shows of its substitutions, told by the files that it leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.buildtree.state import BuildState
from dispatchgen.results.proof import Built, examine, examine_model, notes, prove
from dispatchgen.selection.select import Target, TargetKind
from dispatchgen.selection.variants import Variant
from dispatchgen.substitute.schema import Substituted

from .made_up_subject import dispatch

_DISPATCH = dispatch("a", B2={"B2": 1}, B7={"B7": 1})
_VARIANT = Variant("s", "s", (Target(_DISPATCH, "source", "a.mlir"),))
_COMBINATION = Variant("both", "both", members=(_VARIANT,))
_RECORD = Substituted(
    substitution="s",
    dispatch="a",
    kind="source",
    file="a.mlir",
    sha256="0" * 64,
    same=False,
    executable="e",
    export="x",
)


@pytest.fixture
def built(tmp_path: Path) -> Built:
    """A build in which substitutes differ."""
    tree = BuildTree(tmp_path)
    for path, content in (
        (tree.dispatch_module("m", "cpu", "a"), "a"),
        (tree.dispatch_module("m", "cpu", "a", "s"), "a of s"),
        (tree.model_module("m", "cpu"), "model"),
        (tree.model_module("m", "cpu", "s"), "model of s"),
        (tree.model_module("m", "cpu", "both"), "model of both"),
        (tree.record("m", "cpu", "s", "a"), _RECORD.model_dump_json()),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return Built(tree, BuildState(), "m", "cpu")


def noted(built: Built, *variants: Variant) -> list[str]:
    return list(notes(prove(built, variants), variants))


def record(built: Built, **changes: object) -> Substituted:
    changed = _RECORD.model_copy(update=changes)
    built.tree.record("m", "cpu", "s", "a").write_text(changed.model_dump_json())
    return changed


def test_another_kernel_is_another_one(built: Built) -> None:
    found = examine(built, "s", "a")
    assert (found.same, found.record, found.failure) == (None, _RECORD, None)


def test_the_same_text_is_the_same(built: Built) -> None:
    changed = record(built, same=True)
    found = examine(built, "s", "a")
    assert (found.same, found.record, found.failure) == ("text", changed, None)


def test_the_same_code_is_the_same(built: Built) -> None:
    built.dispatch("a", "s").write_text("a")
    assert examine(built, "s", "a").same == "code"


def test_without_the_original_nothing_is_the_same(built: Built) -> None:
    """What an earlier build left of the original proves nothing."""
    built.dispatch("a", "s").write_text("a")
    broken = Built(built.tree, BuildState(modules={("m", "cpu", "a"): "compile: no"}), "m", "cpu")
    assert examine(broken, "s", "a").same is None
    built.dispatch("a").unlink()
    assert examine(built, "s", "a").same is None


@pytest.mark.parametrize("content", [None, "not JSON", '{"version": 1}'])
def test_without_a_record_it_cannot_be_used(built: Built, content: str | None) -> None:
    path = built.tree.record("m", "cpu", "s", "a")
    path.unlink() if content is None else path.write_text(content)
    assert examine(built, "s", "a").failure == "the build left no readable record of the substitute"


def test_what_was_not_substituted_or_not_built_fails_with_the_reason(built: Built) -> None:
    record(built, skipped="it is gone")
    assert examine(built, "s", "a").failure == "it is gone"
    state = BuildState(substituted={built.dispatch("a", "s"): "object: no"})
    assert examine(Built(built.tree, state, "m", "cpu"), "s", "a").failure == "object: no"


@pytest.mark.parametrize("variant", [_VARIANT, _COMBINATION])
def test_a_whole_model_must_differ_where_a_dispatch_does(built: Built, variant: Variant) -> None:
    assert examine_model(built, variant).failure is None
    built.whole_model(variant.id).write_text("model")
    found = examine_model(built, variant)
    nothing = "nothing is substituted: it is the compiler's own program, byte for byte, though not a"
    assert (found.same, found.failure, found.unproved) == (False, f"substitute-model: {nothing}", nothing)
    built.dispatch("a", "s").write_text("a")
    assert examine_model(built, variant).same
    built.dispatch("a", "s").unlink()
    assert examine_model(built, variant).same, "there is nothing that says otherwise"


@pytest.mark.parametrize("kind", ["object", "kernel"])
def test_a_whole_model_with_an_object_may_be_the_same(built: Built, kind: TargetKind) -> None:
    """The compiler's own object: the module of its dispatch is made in another way, the program is not."""
    unedited = Variant("s", "s", (Target(_DISPATCH, kind, "k.ptx"),))
    built.whole_model("s").write_text("model")
    assert examine_model(built, unedited).same
    assert noted(built, unedited) == ["s: whole model: the compiler's own, byte for byte"]
    edited = Variant("s", "s", (*unedited.targets, *_VARIANT.targets))
    assert not examine_model(built, edited).same


def test_a_whole_model_that_was_not_built_fails_with_the_reason(built: Built) -> None:
    broken = Built(built.tree, BuildState(substituted={built.whole_model("s"): "compile: no"}), "m", "cpu")
    found = examine_model(broken, _VARIANT)
    assert (found.failure, found.unproved) == ("compile: no", None)


def test_what_the_build_noted_is_told_of_what_is_not_run(built: Built) -> None:
    record(built, notes=("it is old",))
    assert noted(built, _VARIANT) == ["s: a: it is old"]


def test_what_is_the_same_is_noted_without_being_run(built: Built) -> None:
    assert noted(built, _VARIANT, _COMBINATION) == []
    built.dispatch("a", "s").write_text("a")
    built.whole_model("s").write_text("model")
    assert noted(built, _VARIANT) == [
        "s: same a: compiles to the compiler's own code",
        "s: whole model: the compiler's own, byte for byte",
    ]
    assert noted(built, _COMBINATION) == []
