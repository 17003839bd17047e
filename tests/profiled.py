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
from dispatchgen.profile.schema import Entry, Profile, ProfiledDispatch, Run
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


def entry(batch: int, count: int, data: tuple[str | None, ...] = ()) -> Entry:
    return Entry(
        count=count,
        workload=(batch,),
        constants=(batch, 0),
        bindings=(batch * 64, batch * 4),
        workgroups=(batch, 1, 1),
        data=data,
    )


def dispatch(number: int, *entries: Entry) -> ProfiledDispatch:
    executable = f"main_dispatch_{number}"
    export = f"{executable}_matmul_Dx64_f32"
    operation = "matmul_Dx64_f32"
    return ProfiledDispatch(
        executable=executable, export=export, operation=operation, content=f"{number}" * 64, entries=entries
    )


def profile(*dispatches: ProfiledDispatch, **changes: object) -> Profile:
    values: dict[str, object] = {
        "model": "m",
        "backend": "cpu",
        "source": "1" * 64,
        "flags": ("--a=b",),
        "compiler": "3.13.0 @ abc",
        "runs": (Run(what="main(4x64xf32) on cpu", dispatches=3),),
        "dispatches": dispatches,
    }
    return Profile.model_validate({**values, **changes})
