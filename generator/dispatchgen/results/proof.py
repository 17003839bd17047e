"""Proof that substitutions took place, by what a build left: records and modules, before anything is run."""

from __future__ import annotations

import filecmp
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from dispatchgen.buildtree.layout import SUBSTITUTE_MODEL, BuildTree
from dispatchgen.buildtree.state import BuildState
from dispatchgen.extract.schema import Dispatch
from dispatchgen.selection.variants import Variant
from dispatchgen.substitute.schema import Substituted

#: In what a substitute and its original are the same.
Same = Literal["text", "code"]
#: The same for people.
SAME_TEXT = {"text": "the compiler's own kernel, word for word", "code": "compiles to the compiler's own code"}


@dataclass(frozen=True)
class Built:
    """What a build made of a model on a backend."""

    tree: BuildTree
    state: BuildState
    model: str  #: Id.
    backend: str  #: Id.

    def dispatch(self, name: str, variant: str | None = None) -> Path:
        """The benchmark module of a dispatch, or of its substitute."""
        return self.tree.dispatch_module(self.model, self.backend, name, variant)

    def archive(self, dispatch: Dispatch) -> Path | None:
        """The data of a dispatch, which its substitutes share; None: its modules make them."""
        return self.tree.archive(self.model, self.backend, dispatch.name) if dispatch.archive else None

    def whole_model(self, variant: str | None = None) -> Path:
        """The whole model, or a variant of it."""
        return self.tree.model_module(self.model, self.backend, variant)

    def flag_file(self, call: str) -> Path:
        """The flag file of a call of the whole model, which its variants share."""
        return self.tree.flag_file(self.model, self.backend, call)

    def why_not(self, module: Path) -> str | None:
        """Why a module of a variant cannot be used; None: it can."""
        return self.state.substituted.get(module)

    def are_equal(self, dispatch: str | None, variant: str) -> bool | None:
        """Whether a variant's module is byte for byte the original's; None: there are not both of them.

        Args:
          dispatch: Its name; None: the whole model.
          variant: Id.
        """
        if dispatch is None:
            original, other = self.whole_model(), self.whole_model(variant)
        else:
            original, other = self.dispatch(dispatch), self.dispatch(dispatch, variant)
        if (self.model, self.backend, dispatch) in self.state.modules or self.why_not(other) is not None:
            return None
        try:
            return filecmp.cmp(original, other, shallow=False)
        except OSError:
            return None


@dataclass(frozen=True)
class Examined:
    """What stands in the place of a dispatch."""

    record: Substituted | None = None
    same: Same | None = None
    failure: str | None = None  #: Why it cannot be used.


def examine(built: Built, variant: str, dispatch: str) -> Examined:
    """What a variant puts in the place of a dispatch; both by id or name."""
    failure = built.why_not(built.dispatch(dispatch, variant))
    if failure is not None:
        return Examined(failure=failure)
    record = _read_record(built.tree.record(built.model, built.backend, variant, dispatch))
    if record is None:
        return Examined(failure="the build left no readable record of the substitute")
    if record.skipped is not None:
        return Examined(record, failure=record.skipped)
    if record.same:
        return Examined(record, "text")
    return Examined(record, "code" if built.are_equal(dispatch, variant) else None)


def _read_record(path: Path) -> Substituted | None:
    try:
        return Substituted.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


@dataclass(frozen=True)
class ExaminedModel:
    """A variant of the whole model."""

    same: bool = False  #: Whether it is the compiler's own.
    failure: str | None = None  #: Why it cannot be used.
    #: How it shows that nothing was substituted, though it was built; `failure` says that too.
    unproved: str | None = None


def examine_model(built: Built, variant: Variant) -> ExaminedModel:
    """A variant of the whole model.

    To be the compiler's own is an error where the module of a dispatch differs: what was built for the benchmark is not
    in the program. Not so with an object: it may be the compiler's own, in a module that is made in another way.
    """
    failure = built.why_not(built.whole_model(variant.id))
    if failure is not None:
        return ExaminedModel(failure=failure)
    if not built.are_equal(None, variant.id):
        return ExaminedModel()
    differing = [
        target.dispatch.name
        for part in variant.parts
        for target in part.targets
        if not target.is_object and built.are_equal(target.dispatch.name, part.id) is False
    ]
    if not differing:
        return ExaminedModel(same=True)
    names = ", ".join(differing)
    unproved = f"nothing is substituted: it is the compiler's own program, byte for byte, though not {names}"
    return ExaminedModel(failure=f"{SUBSTITUTE_MODEL}: {unproved}", unproved=unproved)


@dataclass(frozen=True)
class Proofs:
    """What a build shows of the variants of a model on a backend."""

    dispatches: Mapping[tuple[str, str], Examined]  #: By the variant's id and the dispatch's name.
    models: Mapping[str, ExaminedModel]  #: By the variant's id.


def prove(built: Built, variants: Sequence[Variant]) -> Proofs:
    """Looks at all that replaces something."""
    dispatches = {
        (variant.id, target.dispatch.name): examine(built, variant.id, target.dispatch.name)
        for variant in variants
        for target in variant.targets
    }
    return Proofs(dispatches, {variant.id: examine_model(built, variant) for variant in variants})


def notes(proofs: Proofs, variants: Sequence[Variant]) -> Iterator[str]:
    """What is to be known of variants that are not run."""
    for variant in variants:
        for target in variant.targets:
            name = target.dispatch.name
            found = proofs.dispatches[variant.id, name]
            if found.same is not None:
                yield f"{variant.name}: same {name}: {SAME_TEXT[found.same]}"
            if found.record is not None:
                yield from (f"{variant.name}: {name}: {note}" for note in found.record.notes)
        if proofs.models[variant.id].same:
            yield f"{variant.name}: whole model: the compiler's own, byte for byte"
