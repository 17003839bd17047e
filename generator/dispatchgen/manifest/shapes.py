"""From the `shapes` of a model to the bindings of its symbols, each with a label."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dispatchgen.manifest.inputs import why_not_a_symbol
from dispatchgen.manifest.names import MAX_NAME, did_you_mean, make_label, show, show_all
from dispatchgen.manifest.schema import ShapeSection
from dispatchgen.manifest.suite import STATIC, Shape

#: Most shapes of a model.
MAX_SHAPES = 10_000


@dataclass(frozen=True)
class ShapeProblem:
    """Something wrong with a shape: where, below the key `shapes`, and what."""

    path: tuple[str | int, ...]
    message: str
    hint: str | None = None
    at_key: bool = False


def expand_shapes(
    items: Sequence[ShapeSection] | ShapeSection, symbols: Sequence[str]
) -> tuple[tuple[Shape, ...], list[ShapeProblem]]:
    """The shapes that a model's `shapes` describe, for its symbols in the order of their first appearance."""
    sections = (
        [((), items)] if isinstance(items, ShapeSection) else [((index,), item) for index, item in enumerate(items)]
    )
    problems: list[ShapeProblem] = []
    shapes: dict[str, Shape] = {}
    total = 0
    if not sections:
        if symbols:
            missing = f"the inputs have {_symbols(symbols)} without a size"
            problems.append(
                ShapeProblem((), missing, f"`shapes: {{{', '.join(f'{name}: 1' for name in symbols[:5])}}}`")
            )
        return (Shape(STATIC),), problems
    for path, section in sections:
        found = list(_section_problems(path, section, symbols))
        total += 0 if found else _count(section)
        problems += found
        if found:
            continue
        if total > MAX_SHAPES:
            problems.append(ShapeProblem(path, f"too many shapes: at most {MAX_SHAPES} per model are allowed"))
            break
        for binding in _bindings(section, symbols):
            label = make_label(section.label) if section.label else _default_label(binding)
            if problem := _label_problem(label, binding, shapes):
                problems.append(ShapeProblem(path, problem, "a `label` of its own for each"))
                break
            shapes[label.casefold()] = Shape(label, binding)
    return tuple(shapes.values()), problems


def _section_problems(
    path: tuple[str | int, ...], section: ShapeSection, symbols: Sequence[str]
) -> Iterator[ShapeProblem]:
    zipped = section.zip or {}
    bound = {*section.sizes, *zipped}
    for name in section.sizes.keys() & zipped.keys():
        yield ShapeProblem((*path, "zip", name), f"{show(name)} is both in `zip` and beside it", at_key=True)
    for prefix, names in ((path, section.sizes), ((*path, "zip"), zipped)):
        for name in names:
            if name not in symbols:
                reason = why_not_a_symbol(name)
                hint = "another name, in `inputs` too" if reason else did_you_mean(name, symbols)
                message = reason or f"no input has the symbol {show(name)}"
                yield ShapeProblem((*prefix, name), message, hint, at_key=True)
    if missing := [name for name in symbols if name not in bound]:
        yield ShapeProblem(path, f"no size for {_symbols(missing)}, which the inputs have", f"add `{missing[0]}: 1`")
    if section.zip is not None and not zipped:
        yield ShapeProblem((*path, "zip"), "at least one symbol is needed here")
    if len({len(sizes) for sizes in zipped.values()}) > 1:
        lengths = ", ".join(f"{show(name)} has {len(sizes)}" for name, sizes in zipped.items())
        yield ShapeProblem((*path, "zip"), f"the lists under `zip` have different lengths: {lengths}")
    elif section.label is not None and _count(section) > 1:
        message = f"one label for {_count(section)} shapes: a label names a single shape"
        yield ShapeProblem((*path, "label"), message, "one entry per shape, or no label")


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


def _default_label(binding: dict[str, int]) -> str:
    return make_label("_".join(f"{name}{size}" for name, size in binding.items())) or STATIC


def _label_problem(label: str, binding: dict[str, int], shapes: dict[str, Shape]) -> str | None:
    if len(label) > MAX_NAME:
        return f"the label {show(label)} is too long: at most {MAX_NAME} characters"
    other = shapes.get(label.casefold())
    if other is None:
        return None
    if other.symbols == binding:
        return f"the shape {show(label)} is there twice"
    return f"two shapes have the label {show(label)} (case does not count)"
