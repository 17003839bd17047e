"""Which shapes a command line asks for: by label, or by sizes that need not be listed (`B=77,S=128`)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dispatchgen.errors import ManifestError, Place, Problem
from dispatchgen.manifest.inputs import MAX_SIZE, symbols_of
from dispatchgen.manifest.names import did_you_mean, make_label, show
from dispatchgen.manifest.shapes import default_label
from dispatchgen.manifest.suite import Model, Shape, Suite

_SIZE = re.compile(r"\s*([^=\s]+)\s*=\s*([0-9]{1,20})\s*")


@dataclass(frozen=True)
class WantedShapes:
    """The shapes that are asked for; nothing at all stands for all of them."""

    labels: tuple[str, ...] = ()
    sizes: tuple[Mapping[str, int], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.labels or self.sizes)

    def narrow(self, model: Model) -> Model | None:
        """A model with what is asked for of its shapes; None: nothing of it.

        Labels of shapes that are chosen when the lock is made stay: `settle` knows them.
        """
        if not self:
            return model
        shapes = [shape for shape in model.shapes if shape.label in self.labels or dict(shape.symbols) in self.sizes]
        listed = [dict(shape.symbols) for shape in model.shapes]
        symbols = symbols_of_model(model)
        sizes = [each for each in self.sizes if each not in listed and (symbols is None or {*symbols} == each.keys())]
        profiles = any(profile.label in self.labels for profile in model.profiles)
        if not (shapes or sizes or profiles or (model.auto and self.labels)):
            return None
        return replace(
            model,
            shapes=tuple(shapes),
            wanted=frozenset((*self.labels, *(shape.label for shape in shapes))),
            sizes=tuple(Shape(default_label(dict(each)), each) for each in sizes),
        )


def parse_shapes(texts: Sequence[str], suite: Suite, models: Sequence[Model]) -> WantedShapes:
    """What the values of `--shape` ask for: of these models of a suite, labels also as they are written there.

    Raises ManifestError for a label that there is not, and for sizes that fit none of the models.
    """
    known = list(dict.fromkeys(label for model in suite.models for label in _labels(model)))
    place = Place(str(suite.manifest))
    labels, sizes, problems = [], [], []
    for text in dict.fromkeys(texts):
        if "=" in text:
            try:
                sizes.append(_parse_sizes(text))
            except ValueError as error:
                problems.append(Problem(str(error), place, "SYMBOL=SIZE, with a comma between several"))
                continue
            problems += _fit_problems(text, sizes[-1], models, place)
        elif make_label(text) in known:
            labels.append(make_label(text))
        elif any(model.auto for model in models):
            labels.append(make_label(text))  # the lock tells whether there is such a shape
        else:
            problems.append(Problem(f"there is no shape {show(text)}", place, did_you_mean(text, known)))
    if problems:
        raise ManifestError(*problems)
    return WantedShapes(tuple(labels), tuple(sizes))


def _labels(model: Model) -> list[str]:
    return [*(shape.label for shape in model.shapes), *(profile.label for profile in model.profiles)]


def _parse_sizes(text: str) -> dict[str, int]:
    """The sizes of `B=77,S=128`. Raises ValueError with a message for people."""
    found: dict[str, int] = {}
    for part in text.split(","):
        match = _SIZE.fullmatch(part)
        if match is None or not 1 <= int(match[2]) <= MAX_SIZE:
            where = f" in {show(text)}" if part != text else ""
            raise ValueError(f"{show(part.strip())}{where} is no symbol with a size of 1 or more")
        if match[1] in found:
            raise ValueError(f"{show(match[1])} has two sizes in {show(text)}")
        found[match[1]] = int(match[2])
    return found


def _fit_problems(text: str, sizes: Mapping[str, int], models: Sequence[Model], place: Place) -> Iterator[Problem]:
    """What is wrong with sizes that no model takes."""
    symbols = {model.name: symbols_of_model(model) for model in models}
    if not models or any(each is None or {*each} == sizes.keys() for each in symbols.values()):
        return
    known = {name: each for name, each in symbols.items() if each is not None}
    yield Problem(f"no model has just the symbols of {show(text)}", place, _have(known))


def _have(symbols: Mapping[str, Sequence[str]]) -> str:
    """Which symbols models have, by name."""
    return "; ".join(f"{name} has {', '.join(each) if each else 'none'}" for name, each in symbols.items())


def symbols_of_model(model: Model) -> tuple[str, ...] | None:
    """The symbols of a model, in order; None: they are known when its lock is made."""
    if model.auto is not None and not model.inputs:
        return None
    symbols = [name for inputs in model.inputs.values() for name in symbols_of(inputs)]
    symbols += [size for size in model.overrides.values() if isinstance(size, str)]
    return tuple(dict.fromkeys(symbols))


def settle(suite: Suite, locked: Mapping[str, Sequence[Shape]], *, all_known: bool = True) -> Suite:
    """The suite with what is asked for of the shapes that locks have.

    Sizes that turn out to be listed are taken by label; models of which nothing is asked for are left out.

    Args:
      suite: A suite that was narrowed.
      locked: The shapes of each model's lock, by the model's id.
      all_known: Whether no other model was asked for, which may have a shape that none of these has.

    Raises ManifestError for a label that no lock has, and where nothing is left.
    """
    settled = [_settle(model, locked[model.id]) for model in suite.models]
    wanted = {label for model in suite.models for label in model.wanted or ()}
    known = {shape.label for shapes in locked.values() for shape in shapes}
    place = Place(str(suite.manifest))
    missing = sorted(wanted - known) if all_known else []
    if missing:
        hint = {label: did_you_mean(label, sorted(known)) for label in missing}
        raise ManifestError(*(Problem(f"there is no shape {show(label)}", place, hint[label]) for label in missing))
    models = tuple(model for model in settled if model.wanted is None or model.wanted or model.sizes)
    if not models:
        if of_profiles := [model for model in suite.models if model.sizes and not _lists_sizes(locked[model.id])]:
            raise ManifestError(*(_only_profiles(model, place) for model in of_profiles))
        symbols = {model.name: tuple(locked[model.id][0].symbols) for model in suite.models if locked[model.id]}
        raise ManifestError(Problem("no model has the shapes that are asked for", place, _have(symbols)))
    return replace(suite, models=models)


def _lists_sizes(shapes: Sequence[Shape]) -> bool:
    return any(shape.symbols for shape in shapes)


def _only_profiles(model: Model, place: Place) -> Problem:
    """Why a model runs at no sizes but those of its profiles."""
    sizes = ", ".join(f"{symbol}: {size}" for symbol, size in model.sizes[0].symbols.items())
    message = "its shapes are profiles alone, so none of its modules has a function that takes sizes"
    return Problem(f"model {model.name}: {message}", place, f"add `{{{sizes}}}` to `shapes`, or larger sizes")


def _settle(model: Model, shapes: Sequence[Shape]) -> Model:
    if model.wanted is None:
        return model
    labels = {shape.label for shape in shapes}
    wanted = model.wanted & labels
    sizes = []
    for each in model.sizes:
        same = next((shape.label for shape in shapes if dict(shape.symbols) == dict(each.symbols)), None)
        if same is not None:
            wanted |= {same}
        elif shapes and shapes[0].symbols.keys() == each.symbols.keys():
            sizes.append(replace(each, label=_free(each.label, labels)))
    return replace(model, wanted=wanted, sizes=tuple(sizes))


def _free(label: str, taken: Collection[str]) -> str:
    """A label that another shape may have taken for itself, though its sizes are others."""
    number = 2
    while (free := label if number == 2 else f"{label}_{number - 1}") in taken:
        number += 1
    return free
