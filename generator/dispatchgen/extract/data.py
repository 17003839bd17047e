"""What the bindings of benchmarks and the inputs of calls hold: what the manifest says, and what kernels can bear."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache

from dispatchgen.buffers import elements, uses
from dispatchgen.buffers.contents import ZEROS, Content, Given, Piece, are_of_any_size, check_bytes, filled
from dispatchgen.buffers.encoding import Numbers, element_bits
from dispatchgen.errors import DataError, Place, Problem
from dispatchgen.extract import inputs
from dispatchgen.extract.inputs import ConcreteInput
from dispatchgen.extract.npy import given
from dispatchgen.extract.program import Export
from dispatchgen.extract.schema import Benchmark, Call, Dispatch
from dispatchgen.extract.sizes import Sizes, sizes_of
from dispatchgen.extract.values import Origin
from dispatchgen.iree import ir
from dispatchgen.iree.executable import function_of
from dispatchgen.manifest.data_sections import fill_of
from dispatchgen.manifest.fills import BindingFill, DataSettings, File, Fill, Recorded, Splat, Zeros

#: Where inputs held what the bindings of a dispatch held, by sizes and call: of the first run at each.
Origins = Mapping[Sizes, Mapping[str, tuple[Origin | None, ...]]]


def _no_file(path: str) -> Numbers:
    raise ValueError(f"there is no file {path}")


def _not_recorded(executable: str, export: str, sizes: Sizes, binding: int) -> bytes | None:  # noqa: ARG001
    return None


@dataclass(frozen=True)
class DataPlan:
    """What the manifest says of the data of bindings, and where that comes from."""

    settings: DataSettings = field(default_factory=DataSettings)
    #: Reads a NumPy file of the suite. Raises ValueError, with a message for people.
    read: Callable[[str], Numbers] = _no_file
    #: What a binding held in a recorded run, by executable, export, sizes and ordinal; None: that is not known.
    recorded: Callable[[str, str, Sizes, int], bytes | None] = _not_recorded
    #: Whether it is an error where something does not fit; if not, zeros take its place, with the reason.
    must_fit: bool = True


@dataclass(frozen=True)
class Held:
    """What everything holds."""

    #: By dispatch and benchmark; a dispatch that is left out holds zeros.
    bindings: Mapping[str, Mapping[str, tuple[Content, ...]]] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)  #: Of inputs, by the names that `Call.files` has.
    #: Why inputs hold zeros that were to hold something else, by call and number: `DataPlan.must_fit` is not set.
    unfit: Mapping[tuple[str, int], str] = field(default_factory=dict)
    unused: tuple[BindingFill, ...] = ()  #: Fills that name no dispatch.


@dataclass(frozen=True)
class _Dispatch:
    """A dispatch, its kernel and what its bindings held."""

    lock: Dispatch
    kernel: ir.Operation
    origins: Origins


def held_by(
    dispatches: Iterable[tuple[Dispatch, Export, Origins]],
    calls: Sequence[Call],
    plan: DataPlan,
    wanted: Collection[str] | None = None,
) -> Held:
    """What all bindings and inputs hold.

    Args:
      wanted: The names of the dispatches whose bindings are asked for; None: all.

    Raises DataError with all that is wrong: a file that cannot be read or does not fit, numbers that an element type
    cannot hold, positions out of bounds, a binding that a dispatch does not have.
    """
    known = [
        _Dispatch(lock, function_of(export.executable_op, export.name), origins) for lock, export, origins in dispatches
    ]
    return _Resolver(known, calls, plan).held(wanted)


class _Resolver:
    """Puts everything together and collects what is wrong on the way."""

    def __init__(self, dispatches: Sequence[_Dispatch], calls: Sequence[Call], plan: DataPlan):
        self.dispatches = dispatches
        self.calls = calls
        self.plan = plan
        self.problems: dict[Problem, None] = {}
        self.unfit: dict[tuple[str, int], str] = {}
        self._read = cache(plan.read)
        self._bounds: dict[tuple[str, tuple[int, ...]], Mapping[uses.Source, int]] = {}

    def held(self, wanted: Collection[str] | None) -> Held:
        of_inputs = {
            (call.name, index): content
            for call in self.calls
            for index, text in enumerate(call.inputs)
            if (content := self._input(call, index, text)) is not None
        }
        fills = list(self._fills())
        bindings = {
            dispatch.lock.name: {
                benchmark.name: self._benchmark(dispatch, benchmark, own, of_inputs)
                for benchmark in dispatch.lock.benchmarks
            }
            for dispatch, own in zip(self.dispatches, fills, strict=True)
            if (own or of_inputs or self.plan.settings.default != Zeros())
            and (wanted is None or dispatch.lock.name in wanted)
        }
        if self.problems:
            raise DataError(*self.problems)
        return Held(bindings, dict(self._files(of_inputs)), self.unfit, self._unused())

    # Inputs.

    def _input(self, call: Call, index: int, text: str) -> Content | None:
        """What an input of a call holds; None: nothing is said of it."""
        fill = fill_of(call.fills[index]) if index in call.fills else None
        value = inputs.parse(text) if fill is not None or "=" in text else None
        if value is None or (fill is None and value.data is None):
            return None
        piece = Piece(0, value.element.lstrip("su"), self._bound_of_input(call, index))
        try:
            if fill is None:
                return _values(value, piece, index)
            return self._content(fill, [piece], index, dims=value.dims)
        except ValueError as error:
            self.unfit[call.name, index] = str(error)
            return self._unfit(f"input {index}", error, f"function @{call.function}, shape {call.shape}")

    def _bound_of_input(self, call: Call, index: int) -> int | None:
        """What all kernels that read an input need of it together."""
        bounds = []
        for dispatch in self.dispatches:
            for sizes, by_call in dispatch.origins.items():
                for ordinal, origin in enumerate(by_call.get(call.name, ())):
                    if origin is not None and origin.input == index:
                        bounds += [piece.bound for piece in self._pieces(dispatch, _constants(sizes), ordinal)]
        return min((bound for bound in bounds if bound is not None), default=None)

    def _files(self, of_inputs: Mapping[tuple[str, int], Content]) -> Iterator[tuple[str, bytes]]:
        for call in self.calls:
            for index, text in enumerate(call.inputs):
                value = inputs.parse(text) if "=@" in text else None
                if value is not None and value.file is not None and (call.name, index) in of_inputs:
                    yield value.file, of_inputs[call.name, index].data(_bytes_of(value))

    # Bindings.

    def _fills(self) -> Iterator[dict[int, Fill]]:
        """What is said of single bindings, per dispatch; the last counts."""
        found: list[dict[int, Fill]] = [{} for _ in self.dispatches]
        for fill in self.plan.settings.bindings:
            named = [i for i, each in enumerate(self.dispatches) if _names(fill.dispatch, each.lock)]
            having = [i for i in named if fill.binding < len(self.dispatches[i].lock.written)]
            for i in having:
                found[i][fill.binding] = fill.fill
            if named and not having:
                count = len(self.dispatches[named[0]].lock.written)
                message = f"{self.dispatches[named[0]].lock.name} has no binding {fill.binding}: it has {count}"
                self._add(message, _key(fill))
        yield from found

    def _unused(self) -> tuple[BindingFill, ...]:
        fills = self.plan.settings.bindings
        return tuple(fill for fill in fills if not any(_names(fill.dispatch, each.lock) for each in self.dispatches))

    def _benchmark(
        self,
        dispatch: _Dispatch,
        benchmark: Benchmark,
        own: Mapping[int, Fill],
        of_inputs: Mapping[tuple[str, int], Content],
    ) -> tuple[Content, ...]:
        held = [
            self._binding(dispatch, benchmark, ordinal, own.get(ordinal), of_inputs)
            for ordinal in range(len(benchmark.bindings))
        ]
        return tuple(self._of_sizes(dispatch, benchmark, ordinal, content) for ordinal, content in enumerate(held))

    def _of_sizes(self, dispatch: _Dispatch, benchmark: Benchmark, ordinal: int, content: Content) -> Content:
        """A content that says whether it is right for the sizes of this benchmark alone."""
        if content.pattern == bytes(1):
            return content
        pieces = self._pieces(dispatch, _constants(sizes_of(benchmark)), ordinal)
        fits = are_of_any_size(pieces, self._pieces(dispatch, (), ordinal))
        if content.given is not None and elements.is_dynamic(dispatch.kernel, ordinal):
            fits = False
        return replace(content, is_of_sizes=not fits)

    def _binding(
        self,
        dispatch: _Dispatch,
        benchmark: Benchmark,
        ordinal: int,
        own: Fill | None,
        of_inputs: Mapping[tuple[str, int], Content],
    ) -> Content:
        sizes, length = sizes_of(benchmark), benchmark.bindings[ordinal]
        if own is not None:
            try:
                pieces = self._pieces(dispatch, _constants(sizes), ordinal)
                return self._content(own, pieces, ordinal, length=length, recorded=(dispatch.lock, sizes))
            except ValueError as error:
                key = f"data.bindings, {dispatch.lock.name}"
                return self._unfit(f"binding {ordinal} of {benchmark.name}", error, key)
        for call, origins in dispatch.origins.get(sizes, {}).items():
            origin = origins[ordinal]
            if origin is not None and (call, origin.input) in of_inputs:
                part = _part(of_inputs[call, origin.input], origin, length)
                return replace(part, source=f"input {origin.input}")
        default = self.plan.settings.default
        if dispatch.lock.written[ordinal] or isinstance(default, Zeros):
            return ZEROS
        pieces = self._pieces(dispatch, _constants(sizes), ordinal)
        try:
            return self._content(
                default, pieces, ordinal, length=length, recorded=(dispatch.lock, sizes), explicit=False
            )
        except ValueError as error:
            hint = "another fill for this binding in `data.bindings`"
            return self._unfit(f"binding {ordinal} of {benchmark.name}", error, "data.default", hint)

    def _content(
        self,
        fill: Fill,
        pieces: Sequence[Piece],
        ordinal: int,
        *,
        dims: Sequence[int] | None = None,
        length: int | None = None,
        recorded: tuple[Dispatch, Sizes] | None = None,
        explicit: bool = True,
    ) -> Content:
        """What a fill means. Raises ValueError, with a message for people, where it does not fit."""
        if isinstance(fill, File):
            try:
                if len(pieces) != 1:
                    raise ValueError("its element type is not known")
                return Content(given=given(self._read(fill.path), fill.path, pieces[0], dims, length))
            except ValueError as error:
                raise ValueError(f"{fill.path}: {error}") from None
        if isinstance(fill, Recorded):
            return self._recorded(pieces, ordinal, recorded)
        return filled(fill, pieces, ordinal, explicit=explicit)

    def _recorded(self, pieces: Sequence[Piece], ordinal: int, of: tuple[Dispatch, Sizes] | None) -> Content:
        """What a recording holds. Raises ValueError where a kernel cannot bear it."""
        data = None
        if of is not None:
            dispatch, sizes = of
            data = self.plan.recorded(dispatch.executable, dispatch.export, sizes, ordinal)
        if data is None:
            return replace(ZEROS, note="no recording holds it")
        try:
            check_bytes(data, pieces)
        except ValueError as error:
            raise ValueError(f"recorded: {error}") from None
        return Content(given=Given("recorded", hashlib.sha256(data).hexdigest(), data))

    def _pieces(self, dispatch: _Dispatch, constants: tuple[int, ...], ordinal: int) -> list[Piece]:
        """What a binding's elements are with these push constants; without any, as far as it is so with all."""
        key = dispatch.lock.name, constants
        if key not in self._bounds:
            self._bounds[key] = uses.bounds(dispatch.kernel, constants)
        found = elements.pieces(dispatch.kernel, ordinal, constants)
        return [Piece(at, element, uses.bound_of(self._bounds[key], ordinal, element)) for at, element in found]

    def _unfit(self, what: str, error: ValueError, key: str, hint: str | None = None) -> Content:
        """What stands in the place of what does not fit."""
        if not self.plan.must_fit:
            return replace(ZEROS, note=str(error))
        self._add(f"{what}: {error}", key, hint)
        return ZEROS

    def _add(self, message: str, key: str, hint: str | None = None) -> None:
        self.problems[Problem(message, Place(key=key), hint)] = None


def _constants(sizes: Sizes) -> tuple[int, ...]:
    return tuple(value for _, value in sizes.constants)


def _key(fill: BindingFill) -> str:
    return f"data.bindings, {fill.dispatch}"


def _names(text: str, dispatch: Dispatch) -> bool:
    """Whether a text names a dispatch: its stable name, its operation, a symbol of it, or a pattern."""
    symbols = (dispatch.name, dispatch.operation, dispatch.executable, dispatch.export)
    return text in symbols or any(fnmatchcase(name, text) for name in symbols[:2])


def _values(value: ConcreteInput, piece: Piece, index: int) -> Content:
    """What an input holds whose values are given. Raises ValueError where a kernel cannot bear them."""
    data = value.data or ()
    if len(data) == 1:
        is_known = element_bits(piece.element) is not None
        return filled(Splat(data[0]), [piece], index, explicit=is_known)
    contents = inputs.buffer_view(index, value).contents
    if contents is None:
        return replace(ZEROS, note=f"what {piece.element} elements look like in memory is not known")
    check_bytes(contents, [piece])
    return Content(given=Given("as given", hashlib.sha256(contents).hexdigest(), contents))


def _part(content: Content, origin: Origin, length: int) -> Content:
    """What a part of an input holds."""
    if origin.offset == 0 or content.pattern is not None:
        return content
    data = content.data(origin.offset + length)[origin.offset :]
    words = f"{content}, from byte {origin.offset} on"
    return Content(given=Given(words, hashlib.sha256(data).hexdigest(), data))


def _bytes_of(value: ConcreteInput) -> int:
    """How many bytes an input has."""
    bits = 8 if value.element == "i1" else element_bits(value.element.lstrip("su"))
    assert bits is not None
    return math.prod(value.dims or ()) * bits // 8
