"""Whether a substitute computes what the compiler's own kernel does: both run on the same data, the outputs compared.

`agreement.module` says what a check module takes and returns. Data and rule:

- Equal seeds for both kernels: floats in [-1, 1], small integers; zeros for what is used as an index, so that it never
  reads out of bounds. Bindings that are written hold data too, so that a kernel that leaves some as it was is found.
- Floats a (the compiler's) and b agree where |a - b| <= tolerance * max(1, |a|), or both are NaN; integers where
  |a - b| <= tolerance: exactly, unless the tolerance is 1 or more. Bytes around the bindings, in bindings that are only
  read, and of types that are not known agree where they are equal.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from dispatchgen.agreement import encoding
from dispatchgen.agreement.module import (
    CHECK_VERSION,
    CheckedBenchmark,
    CheckedBinding,
    CheckSpec,
    Output,
    Piece,
    outputs,
)
from dispatchgen.errors import Place, Problem, SubstitutionError, ToolError
from dispatchgen.iree import messages, process

#: How the flags start, without dashes, that iree-benchmark-module alone has.
_BENCHMARK_FLAGS = ("benchmark_", "batch_", "time_unit")
#: What the bytes around a binding hold.
_GUARD_BYTE = b"\x5a"
#: Longest part of a failed program's output that is kept, in characters.
_REASON_LIMIT = 600


@dataclass(frozen=True)
class Checker:
    """How check modules are run."""

    program: Path  #: iree-run-module.
    device: str  #: Value of `--device=`.
    run_flags: tuple[str, ...] = ()  #: As benchmarks have them; what iree-run-module does not know is left out.
    timeout: float | None = None  #: Of one process, in seconds.


@dataclass(frozen=True)
class Agreed:
    """How the outputs of the kernels compare in one benchmark."""

    benchmark: str
    worst: float | None  #: Largest |a - b| / max(1, |a|), of integers |a - b|; None: nothing was compared as numbers.
    failure: str | None  #: How they differ, or why that is not known; None: they agree.
    absent: bool = False  #: Whether the device is not there; then `failure` is the tool's own text.
    note: str | None = None  #: What makes the comparison say little.


def read_spec(path: Path) -> CheckSpec:
    """Reads `<dispatch>.check.json`. Raises SubstitutionError where it is no such file."""
    try:
        spec = CheckSpec.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not what this dispatchgen writes"
        raise SubstitutionError(Problem(f"cannot read what is to be checked: {reason}", Place(str(path)))) from error
    if spec.version != CHECK_VERSION:
        message = f"the file has the version {spec.version}; this dispatchgen reads {CHECK_VERSION}"
        raise SubstitutionError(Problem(message, Place(str(path)), "build it again"))
    return spec


def check(checker: Checker, module: Path, spec: CheckSpec, tolerance: float | None = None) -> Iterator[Agreed]:
    """Runs the benchmarks of a check module, each in a process of its own, and compares what the kernels wrote.

    Args:
      checker: How they are run.
      module: The compiled check module.
      spec: What its functions take and return.
      tolerance: Replaces the spec's.
    """
    tolerance = spec.tolerance if tolerance is None else tolerance
    for benchmark in spec.benchmarks:
        agreed = _check(checker, module.absolute(), benchmark, spec.guard, tolerance)
        yield agreed
        if agreed.absent:
            return


def _check(checker: Checker, module: Path, benchmark: CheckedBenchmark, guard: int, tolerance: float) -> Agreed:
    before = [_buffer(binding, number, guard) for number, binding in enumerate(benchmark.bindings)]
    returned = list(outputs(benchmark))
    with tempfile.TemporaryDirectory(prefix="dispatchgen-") as name:
        folder = Path(name)
        flags = [flag for flag in checker.run_flags if not flag.lstrip("-").startswith(_BENCHMARK_FLAGS)]
        command = [str(checker.program), f"--device={checker.device}", *flags, f"--module={module}"]
        command.append(f"--function={benchmark.name}")
        for number, data in enumerate(before):
            (folder / f"in{number}.bin").write_bytes(data)
            command += 2 * [f"--input={len(data)}xi8=@in{number}.bin"]
        command += [f"--output=@{_file(output)}" for output in returned]
        try:
            result = process.run(command, timeout=checker.timeout, check=False, cwd=folder)
        except ToolError as error:
            return Agreed(benchmark.name, None, error.problems[0].message.splitlines()[0])
        text = f"{result.stderr}\n{result.stdout}"
        if result.returncode != 0:
            absent = messages.device_is_absent(text)
            return Agreed(benchmark.name, None, text.strip() if absent else _failure(result, text), absent)
        after = {output: (folder / _file(output)).read_bytes() for output in returned}
    return _compared(benchmark, before, after, guard, tolerance)


def _file(output: Output) -> str:
    return f"{output.kernel}{output.binding}.bin"


def _failure(result: process.Result, text: str) -> str:
    reason = messages.status_message(text) or process.shorten(result.stderr, _REASON_LIMIT)
    ended = f"iree-run-module: {process.how_it_ended(result.returncode)}"
    return f"{ended}: {reason}" if reason else ended


@dataclass(frozen=True)
class _Region:
    """A part of a binding, in bytes: whole elements of a piece, or what cannot be read as numbers."""

    start: int
    stop: int
    piece: Piece | None


def _regions(binding: CheckedBinding) -> Iterator[_Region]:
    """All of a binding, in order."""
    at = 0
    starts = [piece.offset for piece in binding.pieces[1:]] + [binding.length]
    for piece, stop in zip(binding.pieces, starts, strict=False):
        bits = encoding.element_bits(piece.element)
        if bits is None or piece.offset >= binding.length:
            continue
        if piece.offset > at:
            yield _Region(at, piece.offset, None)
        size = max(bits // 8, 1)
        at = piece.offset + (min(stop, binding.length) - piece.offset) // size * size
        yield _Region(piece.offset, at, piece)
    if at < binding.length:
        yield _Region(at, binding.length, None)


def _buffer(binding: CheckedBinding, number: int, guard: int) -> bytes:
    """What a binding holds when a kernel starts, with its guards."""
    parts = [_contents(region, number) for region in _regions(binding)]
    return b"".join([_GUARD_BYTE * guard, *parts, _GUARD_BYTE * guard])


def _contents(region: _Region, binding: int) -> bytes:
    length = region.stop - region.start
    seed = (binding, region.start)
    if region.piece is None or region.piece.values == "zeros":
        return bytes(length)
    if region.piece.values == "booleans":
        return encoding.boolean_bytes(region.piece.element, length, seed)
    return encoding.random_bytes(region.piece.element, length, seed)


@dataclass(frozen=True)
class _Comparison:
    """How a part of a buffer compares."""

    worst: float | None = None
    difference: str | None = None


def _compared(
    benchmark: CheckedBenchmark,
    before: Sequence[bytes],
    after: Mapping[Output, bytes],
    guard: int,
    tolerance: float,
) -> Agreed:
    comparisons: list[_Comparison] = []
    changed = False
    for number, binding in enumerate(benchmark.bindings):
        found = after[Output(number, "substitute")]
        expected = after.get(Output(number, "original"), before[number])
        changed = changed or (binding.written and expected != before[number])
        comparisons += _compared_binding(number, binding, expected, found, guard, tolerance)
    differences = [comparison.difference for comparison in comparisons if comparison.difference is not None]
    return Agreed(
        benchmark.name,
        worst=max((comparison.worst for comparison in comparisons if comparison.worst is not None), default=None),
        failure="\n".join(differences) or None,
        note=None if changed else "the compiler's kernel left its outputs as they were: little was compared",
    )


def _compared_binding(
    number: int, binding: CheckedBinding, expected: bytes, found: bytes, guard: int, tolerance: float
) -> Iterator[_Comparison]:
    name = f"binding {number}"
    stop = guard + binding.length
    if expected[:guard] != found[:guard] or expected[stop:] != found[stop:]:
        yield _Comparison(difference=f"{name}: the substitute writes outside of it")
    if not binding.written:
        if expected[guard:stop] != found[guard:stop]:
            yield _Comparison(difference=f"{name}: the substitute writes to it; the compiler's kernel only reads it")
        return
    for region in _regions(binding):
        part = slice(guard + region.start, guard + region.stop)
        if region.piece is not None:
            yield _compared_numbers(name, region.piece.element, expected[part], found[part], tolerance)
        elif expected[part] != found[part]:
            yield _Comparison(
                difference=f"{name}: bytes {region.start} to {region.stop} differ; their type is not known"
            )


def _compared_numbers(name: str, element: str, expected: bytes, found: bytes, tolerance: float) -> _Comparison:
    import numpy as np

    ours, theirs = encoding.decode(element, expected), encoding.decode(element, found)
    errors = encoding.errors(ours, theirs)
    if not errors.size:
        return _Comparison()
    at = int(np.argmax(errors))
    worst = float(errors[at])
    if worst <= tolerance:
        return _Comparison(worst)
    count = int(np.count_nonzero(errors > tolerance))
    return _Comparison(
        worst,
        f"{name}, element {at} ({element}): {ours[at]:.9g} by the compiler's kernel, {theirs[at]:.9g} by the "
        f"substitute; {count} of {errors.size} elements differ",
    )
