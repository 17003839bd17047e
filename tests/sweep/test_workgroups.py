"""Workgroup counts by evaluation, against those of recorded runs of whole models and against IREE's VM."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from configured import FLAGS, Configured, onnx_model
from dispatchgen.errors import ModelError
from dispatchgen.extract.evaluate import evaluate
from dispatchgen.extract.program import Program
from dispatchgen.iree import ir
from dispatchgen.sweep.workgroups import Workgroups, workgroups_of
from recording import record
from support import TIMEOUT, IreeTools

VMVX = ("--iree-hal-local-target-device-backends=vmvx",)

#: Program, function, inputs of calls.
PROGRAMS = [
    ("assume", "main", [["3x48x64xf32", "64x128xf32"], ["8x4096x64xf32", "64x128xf32"]]),
    ("ctrl", "main", [["130x64xf32", "7x64xf32", "3"]]),
    ("embed", "main", [["3x17xi64", "1000x256xf32"]]),
    ("mlp", "main", [[f"{batch}x64xf32", "64x128xf32", "128x32xf32"] for batch in (1, 42, 1000)]),
    ("multi", "attn", [["2x24x32xf32", "2x40x32xf32", "57xf32"], ["1x300x32xf32", "1x7x32xf32", "1xf32"]]),
]


@pytest.fixture(scope="module")
def configured(iree_tools: IreeTools, tmp_path_factory: pytest.TempPathFactory) -> Configured:
    """Makes configured modules of programs."""
    return Configured(iree_tools, tmp_path_factory.mktemp("configured"))


class CompiledModel:
    """A model that is compiled by way of the phase in which exports count workgroups."""

    def __init__(self, tools: IreeTools, configured: Path, flags: Sequence[str]):
        self.tools = tools
        self.configured = configured
        self.targets = configured.with_suffix(".targets.mlir")
        self.module = configured.with_suffix(".vmfb")
        self._compile(configured, self.targets, "--compile-to=executable-targets", *flags, phase="configurations")
        self._compile(self.targets, self.module, *flags, phase="targets")

    def _compile(self, source: Path, output: Path, *flags: str, phase: str) -> None:
        command: list[str | Path] = [
            self.tools.compile,
            *FLAGS,
            f"--compile-from=executable-{phase}",
            *flags,
            source,
            "-o",
            output,
        ]
        subprocess.run(command, check=True, timeout=TIMEOUT)

    def evaluated(self, function: str, inputs: Sequence[str]) -> list[tuple[str, Workgroups]]:
        """Export and workgroups of all that a call dispatches, loading included."""
        with ir.read_module(self.configured) as module:
            dispatched = [
                (each.executable, each.export, [value for value in each.workload if isinstance(value, int)])
                for each in evaluate(Program(module), function, inputs).dispatched
            ]
        with ir.read_module(self.targets) as module:
            program = Program(module)
            return [
                (export, workgroups_of(program, program.exports[executable, export], workload))
                for executable, export, workload in dispatched
            ]

    def assert_as_recorded(self, function: str, inputs: Sequence[str], folder: Path) -> int:
        """Compares evaluation with a recording; returns how many dispatches ran."""
        recorded = record(self.tools, self.module, function, inputs, folder / "run.ireereplay")
        assert recorded, "a run without a dispatch shows nothing"
        assert self.evaluated(function, inputs) == [(each.export, each.workgroups) for each in recorded]
        return len(recorded)


@pytest.mark.parametrize("flags", [(), VMVX], ids=["llvm-cpu", "vmvx"])
@pytest.mark.parametrize(("name", "function", "calls"), PROGRAMS, ids=[program[0] for program in PROGRAMS])
def test_small_program(
    name: str,
    function: str,
    calls: list[list[str]],
    flags: tuple[str, ...],
    configured: Configured,
    models_dir: Path,
    tmp_path: Path,
) -> None:
    if name == "ctrl" and configured.tools.version < (3, 13):
        pytest.skip("IREE 3.12 itself cannot run this program: OUT_OF_RANGE in hal.device.queue.execute")
    model = CompiledModel(configured.tools, configured.module(models_dir / f"{name}.mlir", flags), flags)
    for inputs in calls:
        model.assert_as_recorded(function, inputs, tmp_path)


@pytest.mark.slow
def test_magika_at_three_sizes(configured: Configured, tmp_path: Path) -> None:
    source = onnx_model("magika", "models/standard_v3_3/model.onnx", configured.folder / "magika.mlir")
    model = CompiledModel(configured.tools, configured.module(source), ())
    for batch in (1, 6, 33):
        assert model.assert_as_recorded("tf2onnx", [f"{batch}x2048xi32"], tmp_path) == 13


_LAYOUT = "layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>)"
_UNKNOWN = f"""
util.global private @device : !hal.device
hal.executable private @e {{
  hal.executable.variant public @v target(<"llvm-cpu", "embedded-elf-x86_64">) {{
    hal.executable.export public @none ordinal(0) {_LAYOUT}
    hal.executable.export public @device ordinal(1) {_LAYOUT}
        count(%device: !hal.device, %w: index) -> (index, index, index) {{
      %one = arith.constant 1 : index
      %ok, %value = hal.device.query<%device : !hal.device> key("hal.device" :: "concurrency") : i1, i32
      %count = arith.index_cast %value : i32 to index
      hal.return %one, %count, %one : index, index, index
    }}
  }}
}}
"""


@pytest.mark.parametrize(
    ("export", "message"),
    [
        ("none", "the export none does not say how many workgroups it takes"),
        ("device", "the workgroup count of device depends on the result of hal.device.query"),
    ],
)
def test_counts_that_evaluation_does_not_know(export: str, message: str) -> None:
    with ir.parse_module(_UNKNOWN) as module:
        program = Program(module)
        with pytest.raises(ModelError) as error:
            workgroups_of(program, program.exports["e", export], [7])
    assert error.value.problems[0].message == message
