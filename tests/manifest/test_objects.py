"""Commands that build objects from the sources of kernels, run as they stand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import support
from dispatchgen.manifest.objects import DEFAULT_COMMANDS, OBJECT_SUFFIXES

_C = "void kernel(float *a, unsigned n) { for (unsigned i = 0; i < n; ++i) a[i] *= 2; }\n"
_GLSL = """#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Data { float data[]; };
void main() { data[gl_GlobalInvocationID.x] *= 2.0; }
"""


@pytest.mark.parametrize(
    ("suffix", "text", "magic"),
    [(".c", _C, b"\x7fELF"), (".comp", _GLSL, b"\x03\x02#\x07"), (".glsl", _GLSL, b"\x03\x02#\x07")],
)
def test_default_commands_make_objects(suffix: str, text: str, magic: bytes, tmp_path: Path) -> None:
    _, command = DEFAULT_COMMANDS[suffix]
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]}")
    (tmp_path / f"kernel{suffix}").write_text(text)
    places = {"{source}": f"kernel{suffix}", "{output}": "kernel.object"}
    support.run_program([places.get(argument, argument) for argument in command], cwd=tmp_path)
    assert (tmp_path / "kernel.object").read_bytes().startswith(magic)


def test_sources_are_no_objects() -> None:
    ends = [end for ends in OBJECT_SUFFIXES.values() for end in ends]
    assert len(set(ends)) == len(ends)
    assert not set(ends) & set(DEFAULT_COMMANDS)
