"""Reading a recorded run: what `iree-run-module --device_replay_output=` saw the device do.

An oracle for evaluation of the host program: it knows nothing of the program, only what IREE's runtime was asked for.
"""

from __future__ import annotations

import json
import struct
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support import TIMEOUT, IreeTools

#: `iree_hal_buffer_ref_t` as recorded: buffer, offset, length, slot of the binding table, padding.
_BINDING = struct.Struct("<QQQII")
#: Metadata of an executable: function count, parameter count, size of the string table, reserved.
_METADATA_HEADER = struct.Struct("<QQQQ")
#: Per function: flags, workgroup size (3), counts of constants, bindings and parameters, length of the name, padding.
_FUNCTION = struct.Struct("<QIIIHHHHI")
_WHOLE_BUFFER = (1 << 64) - 1


@dataclass(frozen=True)
class RecordedDispatch:
    """A dispatch that ran: `export` is IREE's symbol; constants as u32; lengths of the bindings in bytes."""

    export: str
    constants: tuple[int, ...]
    lengths: tuple[int, ...]
    workgroups: tuple[int, ...]  #: In x, y and z.
    during_load: bool


def record(
    tools: IreeTools, module: Path, function: str, inputs: Sequence[str], output: Path
) -> Sequence[RecordedDispatch]:
    """Runs a function of a module on the CPU under recording and reads what was recorded."""
    command: list[str | Path] = [
        tools.run_module,
        f"--module={module}",
        "--device=local-sync",
        f"--function={function}",
    ]
    command += [f"--device_replay_output={output}", *(f"--input={value}" for value in inputs)]
    subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT)
    command = [tools.dump_replay, "--format=jsonl", output]
    dump = subprocess.run(command, check=True, capture_output=True, text=True, timeout=TIMEOUT)
    return list(_read([json.loads(line) for line in dump.stdout.splitlines()], output.read_bytes()))


def _read(records: Sequence[dict[str, Any]], raw: bytes) -> Iterator[RecordedDispatch]:
    def data(place: dict[str, int] | None) -> bytes:
        return raw[place["offset"] : place["offset"] + place["length"]] if place else b""

    names: dict[int, list[str]] = {}
    recorded: dict[int, list[dict[str, Any]]] = {}
    scope = None
    for each in records:
        operation, payload = each.get("operation"), each.get("payload") or {}
        if operation == "replay.scope_begin":
            scope = payload["name"]
        elif operation == "executable_cache.prepare_executable":
            names[each["related_object_id"]] = _function_names(data(payload["metadata_range"]))
        elif operation == "command_buffer.dispatch":
            recorded.setdefault(each["object_id"], []).append(payload)
        elif operation == "device.queue_dispatch":
            yield _dispatch(
                payload, names, data(payload["constants_range"]), data(payload["bindings_range"]), [], scope
            )
        elif operation == "device.queue_execute":
            table = [*_BINDING.iter_unpack(data(payload.get("bindings_range")))]
            for dispatch in recorded.get(payload["command_buffer_id"], []):
                constants, bindings = data(dispatch["constants_range"]), data(dispatch["bindings_range"])
                yield _dispatch(dispatch, names, constants, bindings, table, scope)


def _dispatch(
    payload: dict[str, Any],
    names: dict[int, list[str]],
    constants: bytes,
    bindings: bytes,
    table: Sequence[tuple[int, ...]],
    scope: str | None,
) -> RecordedDispatch:
    lengths = []
    for buffer, _, length, slot, _ in _BINDING.iter_unpack(bindings):
        indirect = buffer == 0 and slot < len(table)
        lengths.append(table[slot][2] if indirect and length == _WHOLE_BUFFER else length)
    return RecordedDispatch(
        export=names[payload["executable_id"]][payload["function_ordinal"]],
        constants=struct.unpack(f"<{len(constants) // 4}I", constants),
        lengths=tuple(lengths),
        workgroups=tuple(payload["workgroup_count"]),
        during_load=scope != "execute",
    )


def _function_names(metadata: bytes) -> list[str]:
    functions, _, strings, _ = _METADATA_HEADER.unpack_from(metadata, 0)
    sizes = [_FUNCTION.unpack_from(metadata, _METADATA_HEADER.size + i * _FUNCTION.size)[7] for i in range(functions)]
    names, at = [], len(metadata) - strings
    for size in sizes:
        names.append(metadata[at : at + size].decode())
        at += size
    return names
