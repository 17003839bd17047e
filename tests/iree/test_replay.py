"""Recordings: what is read of real ones, in how much memory, and what is said of files that are none."""

from __future__ import annotations

import json
import stat
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import recording as oracle
from configured import Configured
from dispatchgen.errors import DispatchgenError, ProfileError
from dispatchgen.iree.replay import Copied, Filled, RecordedDispatch, Recording, Slice, Written
from support import TIMEOUT, IreeTools


@pytest.fixture(scope="module")
def embed(iree_tools: IreeTools, models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded call of the gather, all of whose positions are 7."""
    configured = Configured(iree_tools, tmp_path_factory.mktemp("embed"))
    module = configured.compiled(configured.module(models_dir / "embed.mlir"))
    path = configured.folder / "embed.ireereplay"
    oracle.record(iree_tools, module, "main", ["3x17xi64=7", "1000x256xf32=2"], path)
    return path


def events(tools: IreeTools, path: Path, *, with_data: bool = True) -> list[object]:
    with Recording(path) as recording:
        return list(recording.events(tools.dump_replay, with_data=with_data))


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("ctrl", ["130x64xf32", "7x64xf32", "3"]),
        ("nonzero", ["130xf32=1"]),
        ("multi", ["2x24x32xf32"] * 2 + ["57xf32"]),
    ],
)
def test_dispatches_are_those_that_ran(
    name: str, inputs: list[str], iree_tools: IreeTools, models_dir: Path, tmp_path: Path
) -> None:
    configured = Configured(iree_tools, tmp_path)
    module = configured.compiled(configured.module(models_dir / f"{name}.mlir"))
    function = "attn" if name == "multi" else "main"
    expected = oracle.record(iree_tools, module, function, inputs, tmp_path / "run.ireereplay")
    found = [e for e in events(iree_tools, tmp_path / "run.ireereplay") if isinstance(e, RecordedDispatch)]
    assert expected
    assert [
        oracle.RecordedDispatch(
            export=each.export,
            constants=each.constants,
            lengths=tuple(binding.length or 0 for binding in each.bindings),
            workgroups=each.workgroups or (),
            during_load=each.during_load,
        )
        for each in found
    ] == list(expected)


def test_bytes_that_the_host_wrote(embed: Path, iree_tools: IreeTools) -> None:
    with Recording(embed) as recording:
        found = list(recording.events(iree_tools.dump_replay))
        written = [each for each in found if isinstance(each, Written)]
        data = [recording.bytes_of(each.data) for each in written if each.data is not None]
        (dispatch,) = (each for each in found if isinstance(each, RecordedDispatch))
        code = recording.bytes_of(dispatch.executable.code)
    assert struct.pack("<51q", *[7] * 51) in data
    assert struct.pack("<256000f", *[2.0] * 256000) in data
    targets = {each.target.buffer for each in written}
    assert [binding.buffer in targets for binding in dispatch.bindings] == [True, True, False]
    assert any(isinstance(each, Copied) for each in found), "the result, to where the host reads it"
    assert code.startswith(b"\x7fELF") and dispatch.executable.format == "embedded-elf-x86_64"


def test_dispatches_alone(embed: Path, iree_tools: IreeTools) -> None:
    assert [type(each) for each in events(iree_tools, embed, with_data=False)] == [RecordedDispatch]


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def damaged(data: bytes) -> bytes:
    """The length of a record in the middle is larger than the file."""
    return data[:24] + b"\xff\xff\xff\xff" + data[28:]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (cut, "extends past file contents"),
        (damaged, "replay record"),
        (lambda data: data[:0], "failed to map"),
        (lambda data: data[:10], "too small"),
        (lambda data: b"{}" + data, "magic"),
        (lambda data: data[:4] + b"\x63" + data[5:], "version"),
    ],
)
def test_what_is_no_recording_is_an_error(
    change: object, message: str, embed: Path, iree_tools: IreeTools, tmp_path: Path
) -> None:
    path = tmp_path / "other.ireereplay"
    assert callable(change)
    path.write_bytes(change(embed.read_bytes()))
    with pytest.raises(ProfileError, match=rf"the recording cannot be read: .*{message}") as caught:
        events(iree_tools, path)
    assert str(path) in str(caught.value)


def test_a_recording_that_is_not_there(iree_tools: IreeTools, tmp_path: Path) -> None:
    with pytest.raises(DispatchgenError, match=r"cannot read the recording: No such file"):
        events(iree_tools, tmp_path / "none")


def test_bindings_through_a_table(tmp_path: Path) -> None:
    """A command buffer that is executed twice: its references are to slots of a table that each execution has."""
    whole = (1 << 64) - 1
    payload, places = bytearray(METADATA), {}
    for name, data in {
        "bindings": references((0, 64, 32, 1), (0, 16, whole, 0), (0, 8, whole, 2), (9, 4, 12, 0)),
        "first": references((5, 128, 256, 0), (6, 1000, 512, 0), (7, 24, whole, 0)),
        "second": references((6, 0, 64, 0), (5, 256, 128, 0), (7, 0, 48, 0)),
    }.items():
        places[name] = {"offset": len(payload), "length": len(data)}
        payload += data
    path = tmp_path / "table.ireereplay"
    path.write_bytes(payload)
    nothing = {"offset": 0, "length": 0}
    executable = {
        "format_range": nothing,
        "data_range": nothing,
        "metadata_range": {"offset": 0, "length": len(METADATA)},
    }
    dispatch = {"executable_id": 2, "function_ordinal": 0, "workgroup_count": [1, 1, 1], "workgroup_count_ref": nothing}
    target = {"buffer_id": 0, "offset": 40, "length": 8, "buffer_slot": 1}
    records = [
        ("executable_cache.prepare_executable", executable, 1, 2),
        ("device.create_command_buffer", {"mode": 0}, 1, 3),
        (
            "command_buffer.dispatch",
            {**dispatch, "constants_range": nothing, "bindings_range": places["bindings"]},
            3,
            0,
        ),
        ("command_buffer.fill_buffer", {"target_ref": target, "pattern_range": nothing}, 3, 0),
        ("device.queue_execute", {"command_buffer_id": 3, "bindings_range": places["first"]}, 1, 0),
        ("device.queue_execute", {"command_buffer_id": 3, "bindings_range": places["second"]}, 1, 0),
    ]
    keys = ("operation", "payload", "object_id", "related_object_id")
    lines = [json.dumps(dict(zip(keys, record, strict=True)), separators=(",", ":")) for record in records]
    dump = tmp_path / "dump"
    dump.write_text("\n".join(["#!/bin/sh", "cat <<'END'", *lines, "END", ""]))
    dump.chmod(dump.stat().st_mode | stat.S_IXUSR)
    with Recording(path) as recording:
        found = list(recording.events(dump))
    assert [each.bindings for each in found if isinstance(each, RecordedDispatch)] == [
        (Slice(6, 1064, 32), Slice(5, 144, 240), Slice(7, 32, None), Slice(9, 4, 12)),
        (Slice(5, 320, 32), Slice(6, 16, 48), Slice(7, 8, 40), Slice(9, 4, 12)),
    ]
    assert [each.target for each in found if isinstance(each, Filled)] == [Slice(6, 1040, 8), Slice(5, 296, 8)]


def references(*each: tuple[int, int, int, int]) -> bytes:
    """Buffer, offset, length and slot."""
    return b"".join(struct.pack("<QQQII", *reference, 0) for reference in each)


NAME = b"main_dispatch_0_elementwise_D_f32"
#: Metadata of an executable of one function.
METADATA = (
    struct.pack("<QQQQ", 1, 0, len(NAME), 0) + struct.pack("<QIIIHHHHI", 0, 1, 1, 1, 2, 1, 0, len(NAME), 0) + NAME
)


#: Stands in for iree-dump-replay: a recording of so many dispatches, each in a command buffer of its own.
_DUMP = """\
#!{python}
import json
no_bytes = {{"offset": 0, "length": 0}}
def say(operation, payload, object_id=0, related=0):
    record = {{"operation": operation, "object_id": object_id, "related_object_id": related, "payload": payload}}
    print(json.dumps(record, separators=(",", ":")))
say("executable_cache.prepare_executable", {{"format_range": no_bytes, "data_range": no_bytes,
    "metadata_range": {{"offset": 0, "length": {metadata}}}}}, 1, 2)
for number in range(3, 3 + {count}):
    say("device.create_command_buffer", {{"mode": 1}}, 1, number)
    say("command_buffer.begin", None, number)
    say("command_buffer.dispatch", {{"executable_id": 2, "function_ordinal": 0, "workgroup_count": [1, 1, 1],
        "workgroup_count_ref": no_bytes, "constants_range": {{"offset": {metadata}, "length": 8}},
        "bindings_range": {{"offset": {metadata} + 8, "length": 32}}}}, number)
    say("device.queue_execute", {{"command_buffer_id": number, "bindings_range": no_bytes}}, 1, number)
"""
_READ = """\
import resource, sys
from pathlib import Path
from dispatchgen.iree.replay import Recording
with Recording(Path(sys.argv[1])) as recording:
    dispatches = sum(1 for _ in recording.events(Path(sys.argv[2])))
print(dispatches, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_dispatches(tmp_path: Path) -> None:
    path = tmp_path / "synthetic.ireereplay"
    path.write_bytes(METADATA + struct.pack("<2I", 1, 0) + references((5, 0, 64, 0)))
    peaks = {}
    for count in (1_000, 100_000):
        dump = tmp_path / f"dump{count}"
        dump.write_text(_DUMP.format(python=sys.executable, metadata=len(METADATA), count=count))
        dump.chmod(dump.stat().st_mode | stat.S_IXUSR)
        command: list[str | Path] = [sys.executable, "-c", _READ, path, dump]
        result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=TIMEOUT)
        dispatches, peaks[count] = map(int, result.stdout.split())
        assert dispatches == count
    assert peaks[100_000] - peaks[1_000] < 4096, f"kilobytes: {peaks}"
