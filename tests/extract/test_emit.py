"""The host's part of a benchmark module, byte for byte: a change of it compiles every dispatch of every suite anew.

`UPDATE_GOLDEN=1 pytest tests/extract/test_emit.py` writes what is made today; look at the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

from dispatchgen.buffers.contents import ZEROS, Content, Given, Piece, filled
from dispatchgen.extract import commands
from dispatchgen.extract.buffer import buffer_operations
from dispatchgen.extract.dispatching import Operands, Target, dispatching_function
from dispatchgen.extract.layout import layout_of
from dispatchgen.extract.schema import Benchmark
from dispatchgen.manifest.fills import Splat

_GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "benchmark_module" / "host.mlir"


def test_the_host_part_of_a_module_is_the_same_bytes() -> None:
    benchmark = Benchmark(
        name="matmul_Dx4_f32__B2", workload=(2,), constants=(("i32", 4294967295),), bindings=(8, 300, 64), counts={}
    )
    held = (filled(Splat(1.5), [Piece(0, "f32")], 0), Content(given=Given("a.npy", "a", bytes(300))), ZEROS)
    layout = layout_of([False, False, True], [benchmark], {benchmark.name: held})
    lines = commands.scalars(benchmark)
    lines += commands.indices("offset", layout.offsets_of(benchmark))
    lines += commands.indices("length", benchmark.bindings)
    operands = Operands(
        lines, ["%workload0"], ["%constant0"], [f"%offset{i}" for i in range(3)], [f"%length{i}" for i in range(3)]
    )
    target = Target("@executable", "@executable::@variant::@export", "@device")
    function = dispatching_function(f"@{benchmark.name}(%batch_size: i32)", operands, target)
    text = f"{buffer_operations('@device', layout)}\n{function}\n"
    if os.environ.get("UPDATE_GOLDEN"):
        _GOLDEN.parent.mkdir(parents=True, exist_ok=True)
        _GOLDEN.write_text(text, encoding="utf-8")
    assert text == _GOLDEN.read_text(encoding="utf-8")
