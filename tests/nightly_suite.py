"""A small suite with a nightly preset, and nights of it whose times a test chooses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dispatchgen.iree.tools import Tools
from dispatchgen.job import Options
from dispatchgen.manifest import load_suite
from dispatchgen.manifest.select import select
from dispatchgen.nightly.night import Judged, Night, judge, measure
from dispatchgen.nightly.outputs import Outputs
from dispatchgen.observer import Show
from stand_in_benchmark import StandIn

MANIFEST = """\
version: 1
backends:
  cpu: {target_device: local, local_backend: llvm-cpu, devices: [local-sync]}
models:
  m: {source: m.mlir}
  n: {source: n.mlir}
presets:
  nightly:
    budget: 10m
    baseline: main
    run: {rounds: 4, precision: 50%, repetitions: 1, batch_size: 1}
"""


def _ignore(done: int, total: int | None, what: str) -> None:
    """How far a stage is."""


@dataclass
class Said:
    """An observer that keeps what it is told."""

    lines: list[str] = field(default_factory=list)

    @contextmanager
    def stage(self, title: str) -> Iterator[Show]:
        """Shows nothing."""
        del title
        yield _ignore

    def say(self, text: str) -> None:
        """Keeps a line."""
        self.lines.append(text)


@dataclass
class Place:
    """The suite in a folder of a test's own."""

    folder: Path
    tools: Tools
    program: StandIn
    said: Said = field(default_factory=Said)

    @property
    def manifest(self) -> Path:
        return self.folder / "benchmarks.yaml"

    @property
    def built(self) -> Path:
        """The build."""
        return self.folder / ".dispatchgen"

    def night(self, output: str = "out", **preset: Any) -> Night:
        """A night of the preset, with other values of it."""
        whole = load_suite(self.manifest)
        (found,) = whole.presets
        return Night(whole, select(whole, preset="nightly"), replace(found, **preset), Outputs(self.folder / output))

    def options(self, night: Night, **settings: Any) -> Options:
        """To measure what is built."""
        return Options(
            tools=self.tools, built=self.built, build_dir=night.outputs.work, keep_locks=True, pin="none", **settings
        )

    def measure(self, night: Night, **settings: Any) -> Judged:
        """Measures what is built, and judges."""
        problems = measure(night, self.options(night, **settings), self.said)
        judged = judge(night)
        return replace(judged, problems=[*problems, *judged.problems])

    def cli(self, *arguments: str | Path) -> Sequence[str | Path]:
        """The command line of the same."""
        tools = ("--iree-benchmark-module", self.program.program, "--pin", "none")
        return ["nightly", self.manifest, "--preset", "nightly", "-o", self.folder / "out", *tools, *arguments]
