"""From the `shapes` of a model to the bindings of its symbols, each with a label."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal, TypeAlias

from dispatchgen.manifest.inputs import why_not_a_symbol
from dispatchgen.manifest.names import MAX_NAME, did_you_mean, make_label, show, show_all
from dispatchgen.manifest.shape_sections import AutoSection, ProfileSection, Shapes, ShapeSection
from dispatchgen.manifest.suite import STATIC, AutoShapes, ProfileShapes, Shape

#: Most shapes of a model.
MAX_SHAPES = 10_000
#: How many shapes are chosen at most where the manifest has no limit.
DEFAULT_LIMIT = 8

Path_: TypeAlias = tuple[str | int, ...]
_Item: TypeAlias = Literal["auto"] | ShapeSection | AutoSection | ProfileSection


@dataclass(frozen=True)
class ShapeProblem:
    """Something wrong with a shape: where, below the key `shapes`, and what."""

    path: Path_
    message: str
    hint: str | None = None
    at_key: bool = False


@dataclass
class Expanded:
    """What the `shapes` of a model say, and what is wrong with it."""

    shapes: list[Shape] = field(default_factory=list)
    auto: AutoShapes | None = None
    profiles: list[ProfileShapes] = field(default_factory=list)  #: Their files as they are written.
    files: list[Path_] = field(default_factory=list)  #: Where these are written, below the key `shapes`.
    overrides: Collection[str] = ()  #: Symbols that only the model's `overrides` have.
    problems: list[ShapeProblem] = field(default_factory=list)
    _labels: dict[str, Shape | None] = field(default_factory=dict)  #: What has a label; None: a profile.
    _total: int = 0

    def add(self, path: Path_, item: _Item, symbols: Sequence[str], *, has_inputs: bool) -> None:
        """Adds what an item of the list says."""
        if isinstance(item, ShapeSection):
            self._add_sizes(path, item, symbols)
        elif isinstance(item, ProfileSection):
            self._add_profile(path, item)
        else:
            self._add_auto(path, item, symbols, has_inputs)

    def _add_sizes(self, path: Path_, section: ShapeSection, symbols: Sequence[str]) -> None:
        found = list(_section_problems(path, section, symbols, self.overrides))
        self.problems += found
        if found or self._total > MAX_SHAPES:
            return
        self._total += _count(section)
        if self._total > MAX_SHAPES:
            self._problem(path, f"too many shapes: at most {MAX_SHAPES} per model are allowed")
            return
        for binding in _bindings(section, symbols):
            shape = Shape(make_label(section.label) if section.label else default_label(binding), binding)
            if problem := self._label_problem(shape.label, shape):
                self._problem(path, problem, "a `label` of its own for each")
                break
            self._labels[shape.label.casefold()] = shape
            self.shapes.append(shape)

    def _add_auto(
        self, path: Path_, section: AutoSection | Literal["auto"], symbols: Sequence[str], has_inputs: bool
    ) -> None:
        sizes = section.sizes if isinstance(section, AutoSection) else {}
        ranges = section.ranges if isinstance(section, AutoSection) else {}
        if self.auto is not None:
            self._problem(path, "shapes are chosen twice", "one `auto`, with a higher limit")
        if has_inputs and not symbols:
            self._problem(path, "the inputs have no symbol: there is no size to choose", "`inputs: [Bx64xf32]`")
        for name in (*sizes, *ranges):
            if problem := _symbol_problem((*path, name), name, symbols if has_inputs else None):
                self.problems.append(problem)
        limit = section.auto if isinstance(section, AutoSection) else DEFAULT_LIMIT
        self.auto = AutoShapes(limit, sizes, ranges)

    def _add_profile(self, path: Path_, section: ProfileSection) -> None:
        label = make_label(section.label or PurePosixPath(section.from_).stem)
        if problem := self._label_problem(label, None):
            self._problem(path, problem, "a `label` of its own for each")
            return
        self._labels[label.casefold()] = None
        self.profiles.append(ProfileShapes(section.from_, label, section.top))
        self.files.append((*path, "from"))

    def _problem(self, path: Path_, message: str, hint: str | None = None) -> None:
        self.problems.append(ShapeProblem(path, message, hint))

    def _label_problem(self, label: str, shape: Shape | None) -> str | None:
        if len(label) > MAX_NAME:
            return f"the label {show(label)} is too long: at most {MAX_NAME} characters"
        if label.casefold() not in self._labels:
            return None
        other = self._labels[label.casefold()]
        if shape is not None and other is not None and other.symbols == shape.symbols:
            return f"the shape {show(label)} is there twice"
        what = "two shapes" if shape is not None and other is not None else "a profile and something else"
        return f"{what} have the label {show(label)} (case does not count)"


def expand_shapes(
    section: Shapes, symbols: Sequence[str], *, has_inputs: bool = True, overrides: Collection[str] = ()
) -> Expanded:
    """What a model's `shapes` describe, for its symbols in the order of their first appearance.

    Args:
      has_inputs: Whether the manifest has `inputs`; else the symbols are known when the lock is made.
      overrides: Those that no input has, only the model's `overrides`.
    """
    items: list[tuple[Path_, _Item]] = (
        [((index,), item) for index, item in enumerate(section)] if isinstance(section, list) else [((), section)]
    )
    result = Expanded(overrides=overrides)
    for path, item in items:
        result.add(path, item, symbols, has_inputs=has_inputs)
    if not items:
        if symbols:
            missing = f"{_owners(symbols, overrides)} have {_symbols(symbols)} without a size"
            result.problems.append(ShapeProblem((), missing, _example(symbols)))
        result.shapes.append(Shape(STATIC))
    return result


def _example(symbols: Sequence[str]) -> str:
    sizes, ranges = (", ".join(f"{name}: {each}" for name in symbols[:5]) for each in ("1", "1..64"))
    return f"`shapes: {{{sizes}}}`, or `shapes: {{auto: 8, {ranges}}}`"


def _symbol_problem(path: Path_, name: str, symbols: Sequence[str] | None) -> ShapeProblem | None:
    """What is wrong with a name that stands for a symbol; `symbols`: those that there are, where that is known."""
    if symbols is not None and name in symbols:
        return None
    reason = why_not_a_symbol(name)
    if reason is None and symbols is None:
        return None
    hint = "another name, in `inputs` too" if reason else did_you_mean(name, symbols) if symbols else "write `inputs`"
    return ShapeProblem(path, reason or f"no input has the symbol {show(name)}", hint, at_key=True)


def _section_problems(
    path: Path_, section: ShapeSection, symbols: Sequence[str], overrides: Collection[str]
) -> Iterator[ShapeProblem]:
    zipped = section.zip or {}
    bound = {*section.sizes, *zipped}
    for name in section.sizes.keys() & zipped.keys():
        yield ShapeProblem((*path, "zip", name), f"{show(name)} is both in `zip` and beside it", at_key=True)
    for prefix, names in ((path, section.sizes), ((*path, "zip"), zipped)):
        for name in names:
            if problem := _symbol_problem((*prefix, name), name, symbols):
                yield problem
    if missing := [name for name in symbols if name not in bound]:
        message = f"no size for {_symbols(missing)}, which {_owners(missing, overrides)} have"
        yield ShapeProblem(path, message, f"add `{missing[0]}: 1`")
    if section.zip is not None and not zipped:
        yield ShapeProblem((*path, "zip"), "at least one symbol is needed here")
    if len({len(sizes) for sizes in zipped.values()}) > 1:
        lengths = ", ".join(f"{show(name)} has {len(sizes)}" for name, sizes in zipped.items())
        yield ShapeProblem((*path, "zip"), f"the lists under `zip` have different lengths: {lengths}")
    elif section.label is not None and _count(section) > 1:
        message = f"one label for {_count(section)} shapes: a label names a single shape"
        yield ShapeProblem((*path, "label"), message, "one entry per shape, or no label")


def _owners(symbols: Sequence[str], overrides: Collection[str]) -> str:
    """What has these symbols."""
    in_inputs = any(symbol not in overrides for symbol in symbols)
    in_overrides = any(symbol in overrides for symbol in symbols)
    return " and ".join(["the inputs"] * in_inputs + ["`overrides`"] * in_overrides)


def _symbols(names: Sequence[str]) -> str:
    return f"the symbol{'s' if len(names) > 1 else ''} {show_all(names)}"


def _count(section: ShapeSection) -> int:
    product = math.prod(len(size) for size in section.sizes.values() if isinstance(size, list))
    return product * len(next(iter((section.zip or {"": [0]}).values())))


def _bindings(section: ShapeSection, symbols: Sequence[str]) -> Iterator[dict[str, int]]:
    """Every binding, the last symbol varying fastest; zipped sizes vary slowest."""
    zipped = section.zip or {}
    lists = [[size] if isinstance(size, int) else size for size in section.sizes.values()]
    for row in zip(*zipped.values(), strict=True) if zipped else [()]:
        for sizes in itertools.product(*lists):
            binding = dict(zip((*zipped, *section.sizes), (*row, *sizes), strict=True))
            yield {name: binding[name] for name in symbols}


def default_label(binding: dict[str, int]) -> str:
    """The label of a shape that has none of its own."""
    parts = (f"{name}_{size}" if name[-1].isdigit() else f"{name}{size}" for name, size in binding.items())
    return make_label("_".join(parts)) or STATIC
