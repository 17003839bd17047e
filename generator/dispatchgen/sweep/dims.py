"""The sizes that a sweep goes through, as the command line writes them: `B=1..4096:x2`, `S=64,128,200`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product

from dispatchgen.errors import ManifestError, Place, Problem
from dispatchgen.manifest.inputs import MAX_SIZE, symbols_of
from dispatchgen.manifest.names import did_you_mean, show, show_all
from dispatchgen.manifest.suite import Model, Shape

#: Points of a sweep at most: each is a process or two.
MAX_POINTS = 1000

_SYNTAX = "SYMBOL=1..4096:x2, SYMBOL=16..256:+16, SYMBOL=1..8 or SYMBOL=64,128,200"
_RANGE = re.compile(r"(?P<first>\d+)\.\.(?P<last>\d+)(?::(?P<kind>[x+])(?P<step>\d+))?")
_LIST = re.compile(r"\d+(?:,\d+)*")


@dataclass(frozen=True)
class Dim:
    """A symbol and the sizes that it takes, in order."""

    symbol: str
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Grid:
    """The points of a sweep: each combination of the dims' sizes, the first dim the slowest."""

    dims: tuple[Dim, ...]
    fixed: Mapping[str, int]  #: Symbols that keep one size.

    @property
    def shapes(self) -> list[Shape]:
        """The points, as shapes of the model."""
        symbols = [dim.symbol for dim in self.dims]
        combinations = product(*(dim.sizes for dim in self.dims))
        return [_shape(dict(zip(symbols, sizes, strict=True)), self.fixed) for sizes in combinations]


def _shape(swept: Mapping[str, int], fixed: Mapping[str, int]) -> Shape:
    label = "_".join(f"{symbol}{size}" for symbol, size in swept.items())
    return Shape(re.sub(r"\W", "_", label, flags=re.ASCII), {**fixed, **swept})


def parse_dims(texts: Sequence[str]) -> tuple[Dim, ...]:
    """The dims that these texts mean. Raises ManifestError with all that is wrong."""
    dims: dict[str, Dim] = {}
    problems = []
    for text in texts:
        try:
            dim = _parse(text)
        except ValueError as error:
            problems.append(Problem(f"--dims {text}: {error}", hint=_SYNTAX))
            continue
        if dim.symbol in dims:
            problems.append(Problem(f"--dims {text}: there are sizes of {show(dim.symbol)} already"))
        dims[dim.symbol] = dim
    points = 1
    for dim in dims.values():
        points *= len(dim.sizes)
    if points > MAX_POINTS:
        message = f"these dims make {points} points; a sweep has at most {MAX_POINTS}"
        problems.append(Problem(message, hint="a larger step"))
    if problems:
        raise ManifestError(*problems)
    return tuple(dims.values())


def _parse(text: str) -> Dim:
    """Raises ValueError, with a message for people."""
    symbol, equals, sizes = text.replace(" ", "").partition("=")
    if not symbol or not equals:
        raise ValueError("a symbol and its sizes are needed")
    if match := _RANGE.fullmatch(sizes):
        step = int(match["step"] or 1)
        return Dim(symbol, tuple(_range(int(match["first"]), int(match["last"]), match["kind"] or "+", step)))
    if _LIST.fullmatch(sizes):
        found = tuple(dict.fromkeys(int(size) for size in sizes.split(",")))
        _check_size(max(found))
        return Dim(symbol, found)
    raise ValueError(f"{show(sizes)} is neither a range nor a list of sizes")


def _range(first: int, last: int, kind: str, step: int) -> Iterator[int]:
    _check_size(last)
    if first > last:
        raise ValueError(f"the range is empty: {first} is above {last}")
    if step == 0 or (kind == "x" and (step == 1 or first == 0)):
        raise ValueError(f"steps of {kind}{step} from {first} on never end")
    size, count = first, 0
    while size <= last:
        count += 1
        if count > MAX_POINTS:
            raise ValueError(f"it has more than {MAX_POINTS} sizes; take a larger step")
        yield size
        size = size * step if kind == "x" else size + step


def _check_size(size: int) -> None:
    if size > MAX_SIZE:
        raise ValueError(f"{size} is above the largest size, {MAX_SIZE}")


def grid_of(model: Model, dims: Sequence[Dim], place: Place) -> Grid:
    """The grid of a model; symbols that no dim names keep the sizes of the model's first shape.

    Raises ManifestError: a symbol is not the model's, or one has no size.
    """
    symbols = _symbols(model)
    problems = [
        Problem(f"model {show(model.name)} has no symbol {show(dim.symbol)}", place, did_you_mean(dim.symbol, symbols))
        for dim in dims
        if dim.symbol not in symbols
    ]
    first = model.shapes[0].symbols if model.shapes else {}
    rest = [symbol for symbol in symbols if symbol not in {dim.symbol for dim in dims}]
    missing = [symbol for symbol in rest if symbol not in first]
    if missing:
        message = f"model {show(model.name)} has no shape that says how large {show_all(missing)} is"
        problems.append(Problem(message, place, f"--dims {missing[0]}=SIZES"))
    if problems:
        raise ManifestError(*problems)
    return Grid(tuple(dims), {symbol: first[symbol] for symbol in rest})


def _symbols(model: Model) -> list[str]:
    """The symbols of a model, in order."""
    overrides = (value for value in model.overrides.values() if isinstance(value, str))
    return list(dict.fromkeys([*chain.from_iterable(map(symbols_of, model.inputs.values())), *overrides]))
