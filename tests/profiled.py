"""A program with what compares its recordings, for tests of profiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import recording as oracle
from configured import Configured
from dispatchgen.extract.program import Program
from dispatchgen.iree import ir
from dispatchgen.profile.histogram import Compiled, Histogram, read_histogram
from support import IreeTools


@dataclass(frozen=True)
class Recorded:
    """A program, and what records it."""

    tools: IreeTools
    compiled: Compiled
    module: Path  #: The compiled module.

    @property
    def program(self) -> Program:
        return self.compiled.program

    def record(self, path: Path, inputs: Sequence[str]) -> Sequence[oracle.RecordedDispatch]:
        """Records a call of @main; returns what ran."""
        return oracle.record(self.tools, self.module, "main", inputs, path)

    def histogram(self, path: Path, *, keep_data: bool = False) -> Histogram:
        return read_histogram(self.compiled, path, self.tools.dump_replay, keep_data=keep_data)


def recorded(tools: IreeTools, source: Path, folder: Path) -> Iterator[Recorded]:
    configured = Configured(tools, folder)
    path = configured.module(source)
    module = configured.compiled(path)
    with ir.read_module(path) as operation:
        yield Recorded(tools, Compiled(Program(operation), [module.read_bytes], "3.13", "iree-compile m.mlir"), module)
