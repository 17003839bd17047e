"""Which executables can be run by themselves."""

from __future__ import annotations

import pytest

from dispatchgen.iree import ir
from dispatchgen.iree.executable import read_executables
from dispatchgen.sweep.executable import why_not_alone

_LAYOUT = "layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>)"
_COUNT = """count(%device: !hal.device, %w: index) -> (index, index, index) {
      hal.return %w, %w, %w : index, index, index
    }"""
_CONDITION = """condition(%device: !hal.device, %w: index) -> i1 {
      %true = arith.constant true
      hal.return %true : i1
    } fallback(@plain)"""
_CONSTANTS = """hal.executable.constant.block(%device: !hal.device) -> i32 as "c" {
      %c = arith.constant 4 : i32
      hal.return %c : i32
    }"""


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("", None),
        (_CONSTANTS, "the host computes constants or a condition when it loads its executable"),
        (
            f"hal.executable.export public @special ordinal(1) {_LAYOUT} {_CONDITION} {_COUNT}",
            "which export of its executable runs depends on the workload",
        ),
    ],
)
def test_why_not(more: str, reason: str | None) -> None:
    text = f"""
hal.executable private @e {{
  hal.executable.variant public @v target(<"llvm-cpu", "embedded-elf-x86_64">) {{
    hal.executable.export public @plain ordinal(0) {_LAYOUT} {_COUNT}
    {more}
  }}
}}
"""
    with ir.parse_module(text) as module:
        (executable,) = read_executables(module)
        assert why_not_alone(executable) == reason
