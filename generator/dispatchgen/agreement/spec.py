"""What a check module takes and returns: `<dispatch>.check.json`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from dispatchgen.errors import Place, Problem, SubstitutionError
from dispatchgen.extract.schema import Data

#: Version of the format of `<dispatch>.check.json`.
CHECK_VERSION = 1
#: Bytes before and behind each binding; a multiple of the largest alignment that IREE's devices ask for.
GUARD = 1024

#: The two kernels, in the order in which they run and in which a function takes their buffers.
Which = Literal["original", "substitute"]


class Piece(Data):
    """Elements of one type that lie behind each other in a binding, up to the next piece."""

    offset: int = Field(description="Where they begin, in bytes.")
    element: str = Field(description="Their type, as MLIR prints it.")
    bound: int | None = Field(
        description="They are integers from 0 to below this: the kernel uses them as an index into so many elements, "
        "or, with 2, as truth values. 1: zeros, as it is not known how many. Null: any numbers."
    )


class CheckedBinding(Data):
    """A binding of both kernels."""

    length: int = Field(description="In bytes.")
    written: bool = Field(description="Whether the original may write it.")
    pieces: tuple[Piece, ...] = Field(description="Empty: not known; then it holds zeros, and bytes are compared.")


class CheckedBenchmark(Data):
    """A function of the check module."""

    name: str = Field(description="The benchmark's name, and the function's.")
    bindings: tuple[CheckedBinding, ...]


class CheckSpec(Data):
    """What a check module takes and returns."""

    version: int = Field(default=CHECK_VERSION, description="Version of this format.")
    dispatch: str = Field(description="Stable name of the dispatch.")
    guard: int = Field(description="Bytes before and behind each binding in its buffer.")
    tolerance: float = Field(description="Largest error, as `agreement.compare` has it, that is no disagreement.")
    benchmarks: tuple[CheckedBenchmark, ...] = Field(description="Empty: the dispatch is gone.")


@dataclass(frozen=True)
class Output:
    """A buffer that a function of the check module returns, with its guards."""

    binding: int
    kernel: Which


def outputs(benchmark: CheckedBenchmark) -> Iterator[Output]:
    """What a benchmark's function returns, in order.

    What the original only reads stays as it was: only the substitute's is returned, which may have written it.
    """
    for binding, checked in enumerate(benchmark.bindings):
        if checked.written:
            yield Output(binding, "original")
        yield Output(binding, "substitute")


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
