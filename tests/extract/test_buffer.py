"""The buffer of a benchmark module: IREE's runtime fills it with what the layout says."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import support
from configured import Configured
from dispatchgen.buffers.contents import ZEROS, Content, Given, Piece, filled
from dispatchgen.extract import buffer
from dispatchgen.extract.layout import Layout, archived, layout_of
from dispatchgen.extract.schema import Benchmark
from dispatchgen.manifest.fills import Random, Splat

_DEVICES = {
    "local-sync": (
        '#hal.device.target<"local", [#hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", '
        '{cpu = "generic", cpu_features = "", target_triple = "x86_64-unknown-unknown-eabi-elf"}>]>'
    ),
    "vulkan": (
        '#hal.device.target<"vulkan", [#hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb", '
        '{iree_codegen.target_info = #iree_gpu.target<arch = "", features = "spirv:v1.3,cap:Shader", '
        "wgp = <compute = fp32|int32, storage = b32, subgroup = none, subgroup_size_choices = [64], "
        "max_workgroup_sizes = [128, 128, 64], max_thread_count_per_workgroup = 128, "
        "max_workgroup_memory_bytes = 16384, max_workgroup_counts = [65535, 65535, 65535]>>}>]>"
    ),
}
#: Returns what the buffer holds.
_DUMP = """\
util.func public @dump() -> !hal.buffer_view attributes {iree.abi.stub} {
  %buffer = util.global.load @__buffer : !hal.buffer
  %start = arith.constant 0 : index
  %length = hal.buffer.length<%buffer : !hal.buffer> : index
  %type = hal.element_type<i8> : i32
  %encoding = hal.encoding_type<dense_row_major> : i32
  %view = hal.buffer_view.create buffer(%buffer : !hal.buffer)[%start, %length] shape([%length]) type(%type)
    encoding(%encoding) : !hal.buffer_view
  util.return %view : !hal.buffer_view
}"""
_FLOATS, _IDS = [Piece(0, "f32")], [Piece(0, "i64", 50)]


def _layout(contents: Mapping[str, Sequence[Content]], lengths: Mapping[str, tuple[int, ...]]) -> Layout:
    benchmarks = [
        Benchmark(name=name, workload=(), constants=(), bindings=each, counts={}) for name, each in lengths.items()
    ]
    return layout_of([False] * len(benchmarks[0].bindings), benchmarks, contents)


@pytest.fixture(scope="module")
def mixed() -> Layout:
    """A binding of each kind, at two sizes."""
    shared = [
        filled(Random(), _FLOATS, 0),
        filled(Splat(1.5), _FLOATS, 1),
        ZEROS,
        filled(Splat(-1), _IDS[:0] or [Piece(0, "i64")], 3),
    ]
    files = [Content(given=Given("a.npy", "a", b"abcdefgh")), Content(given=Given("b.npy", "b", bytes(range(40))))]
    contents = {
        "small": [*shared, filled(Random(), _IDS, 4), files[0]],
        "large": [*shared, filled(Random(), [Piece(0, "i64", 90)], 4), files[1]],
    }
    return _layout(contents, {"small": (400, 8, 4, 16, 80, 8), "large": (1200, 16, 4, 8, 800, 40)})


def _held(
    layout: Layout, configured: Configured, folder: Path, flags: Sequence[str] = (), device: str = "local-sync"
) -> subprocess.CompletedProcess[str]:
    source = folder / "buffer.mlir"
    text = "\n".join(
        [
            f"util.global private @device = {_DEVICES[device]} : !hal.device",
            buffer.buffer_operations("@device", layout),
            _DUMP,
        ]
    )
    source.write_text(f"module {{\n{text}\n}}\n")
    module = configured.compiled(source)
    command: list[str | Path] = [configured.tools.run_module, f"--module={module}", f"--device={device}"]
    command += ["--function=dump", *flags, f"--output=@{folder / 'held.bin'}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=support.TIMEOUT)


@pytest.mark.parametrize("device", ["local-sync", pytest.param("vulkan", marks=pytest.mark.lavapipe)])
def test_the_buffer_holds_what_the_layout_says(
    device: str, mixed: Layout, configured: Configured, tmp_path: Path
) -> None:
    archive = tmp_path / "data.irpa"
    archive.write_bytes(buffer.archive_bytes(mixed))
    result = _held(mixed, configured, tmp_path, [f"--parameters=data={archive}"], device)
    assert result.returncode == 0, result.stderr
    held = (tmp_path / "held.bin").read_bytes()
    assert len(held) == mixed.size
    expected = bytearray(mixed.size)
    for region in mixed.regions:
        expected[region.offset : region.offset + region.length] = region.content.data(region.length)
        if region.content.pattern is not None:
            expected[region.offset : region.end] = region.content.data(region.end - region.offset)
    assert held == bytes(expected)


def test_regions_are_shared_where_contents_are_the_same(mixed: Layout) -> None:
    assert [(region.key, region.length) for region in mixed.regions] == [
        ("binding0", 1200),
        ("binding1", 16),
        ("binding2", 4),
        ("binding3", 16),
        ("binding4", 80),
        ("binding4_2", 800),
        ("binding4_3", 800),
        ("binding5", 8),
        ("binding5_2", 40),
        ("binding5_3", 40),
    ]
    assert [region.key for region in archived(mixed)] == [
        "binding0",
        "binding4",
        "binding4_2",
        "binding5",
        "binding5_2",
    ]


def test_functions_of_any_size_find_zeros_where_contents_differ(mixed: Layout) -> None:
    by_offset = {region.offset: region for region in mixed.regions}
    held = [by_offset[offset] for offset in mixed.offsets]
    assert [region.key for region in held] == [
        "binding0",
        "binding1",
        "binding2",
        "binding3",
        "binding4_3",
        "binding5_3",
    ]
    assert [region.length for region in held] == list(mixed.capacities)
    assert [region.content == ZEROS for region in held] == [False, False, True, False, True, True]


def test_archives_are_the_same_bytes(mixed: Layout) -> None:
    assert buffer.archive_bytes(mixed) == buffer.archive_bytes(mixed)


def test_a_missing_archive_is_an_error(mixed: Layout, configured: Configured, tmp_path: Path) -> None:
    result = _held(mixed, configured, tmp_path)
    assert result.returncode == 1
    assert "NOT_FOUND" in result.stderr


def test_patterns_need_no_archive(configured: Configured, tmp_path: Path) -> None:
    layout = _layout({"only": [filled(Splat(2), [Piece(0, "f16")], 0), ZEROS]}, {"only": (6, 100)})
    assert not list(archived(layout))
    result = _held(layout, configured, tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "held.bin").read_bytes() == b"\0\x40" * 128 + bytes(256)
