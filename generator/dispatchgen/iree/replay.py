"""Reading recordings: what IREE's runtime was asked to do in a run with `--device_replay_output=`.

`iree-dump-replay --format=jsonl` reads the format and names the ranges of the file that hold payloads; they are read
from the file itself. What is kept meanwhile does not grow with the number of dispatches.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from dispatchgen.errors import Place, Problem, ProfileError
from dispatchgen.iree import messages, process

#: `iree_hal_replay_buffer_ref_payload_t`: buffer, offset, length, slot of the binding table, padding.
_BUFFER_REF = struct.Struct("<QQQII")
#: `iree_hal_replay_executable_metadata_header_t`: counts of functions and parameters, bytes of all names, reserved.
_METADATA_HEADER = struct.Struct("<QQQQ")
#: `iree_hal_replay_executable_function_metadata_t`; the length of the name comes last.
_FUNCTION = struct.Struct("<QIIIHHHHI")
_WHOLE_BUFFER = (1 << 64) - 1
#: `IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT`.
_ONE_SHOT = 1
#: The scopes in which IREE's tools set up the device and call the function; between them they load the module.
_INIT, _EXECUTE = "init", "execute"

#: Buffer, offset, length and slot of the binding table.
_Reference: TypeAlias = "tuple[int, int, int, int]"
_Table: TypeAlias = "Sequence[_Reference]"


@dataclass(frozen=True)
class Range:
    """Bytes of the recording."""

    offset: int
    length: int


@dataclass(frozen=True)
class RecordedExecutable:
    """An executable that was loaded."""

    format: str  #: E.g. `embedded-elf-x86_64`.
    functions: tuple[str, ...]  #: IREE's symbols of the exports, by ordinal.
    code: Range  #: As the module has it.


@dataclass(frozen=True)
class Slice:
    """A part of a buffer, in bytes."""

    buffer: int  #: Its number in the recording.
    offset: int
    length: int | None  #: None: to the end of the buffer.


@dataclass(frozen=True)
class RecordedDispatch:
    """A dispatch that ran."""

    executable: RecordedExecutable
    export: str  #: IREE's symbol.
    workgroups: tuple[int, int, int] | None  #: None: the device read them from a buffer.
    constants: tuple[int, ...]  #: As unsigned i32.
    bindings: tuple[Slice, ...]
    during_load: bool  #: Whether it ran before the call, as far as the recording tells.


@dataclass(frozen=True)
class Written:
    """The host wrote to a buffer, or had a file read to it."""

    target: Slice
    data: Range | None  #: None: the recording does not have it.


@dataclass(frozen=True)
class Filled:
    """A buffer was filled with a pattern."""

    target: Slice
    pattern: bytes


@dataclass(frozen=True)
class Copied:
    """A part of a buffer was copied."""

    source: Slice
    target: Slice


Event = RecordedDispatch | Written | Filled | Copied


class Recording:
    """A recording, opened for reading; a context manager."""

    def __init__(self, path: Path):
        """Opens the file. Raises ProfileError where it cannot be read."""
        self.path = path
        self.has_whole_call = False  #: Whether the call of IREE's tool ended in what was read so far.
        try:
            self._stream = path.open("rb")
        except OSError as error:
            raise ProfileError(Problem(f"cannot read the recording: {error.strerror}", Place(str(path)))) from error

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stream.close()

    def bytes_of(self, part: Range) -> bytes:
        """The bytes of a range. Raises ProfileError where the file ends before."""
        self._stream.seek(part.offset)
        data = self._stream.read(part.length)
        if len(data) != part.length:
            message = f"the recording ends within {part.length} bytes at {part.offset}"
            raise ProfileError(Problem(message, Place(str(self.path)), "record the run again"))
        return data

    def events(self, dump_replay: Path, *, with_data: bool = True) -> Iterator[Event]:
        """What ran and what was written, in order; of command buffers, each time they are executed.

        Args:
          dump_replay: The program iree-dump-replay.
          with_data: Whether writes, fills and copies are wanted, not dispatches alone.

        Raises:
          ProfileError: it is no recording, damaged, truncated, or of another version of the format.
          ToolError: the program cannot be started.
        """
        state = _State(self)
        handlers = _HANDLERS if with_data else _DISPATCH_HANDLERS
        for record in _records(dump_replay, self.path, handlers.keys()):
            yield from handlers[record["operation"]](state, record, record.get("payload") or {})


def _records(dump_replay: Path, path: Path, wanted: Collection[str]) -> Iterator[dict[str, Any]]:
    """The records of the operations that are wanted, one at a time."""
    child = process.start([str(dump_replay), "--format=jsonl", str(path)])
    assert child.stdout is not None
    said: list[str] = []
    try:
        for line in child.stdout:
            if not line.startswith("{"):
                said.append(line)
            elif _operation_in(line) in wanted:
                yield _parsed(line, path)
        returncode = child.wait()
    finally:
        if child.poll() is None:  # nobody wants the rest
            process.kill_group(child)
        child.stdout.close()
    if returncode != 0:
        output = "".join(said)
        reason = messages.status_message(output) or process.shorten(output) or process.how_it_ended(returncode)
        message = f"the recording cannot be read: {reason}"
        raise ProfileError(Problem(message, Place(str(path)), "record the run again, with this release of IREE"))


def _operation_in(line: str) -> str:
    """The operation that a line is about, without reading it all: most lines are of no interest."""
    _, _, rest = line.partition('"operation":"')
    return rest.partition('"')[0]


def _parsed(line: str, path: Path) -> dict[str, Any]:
    try:
        record: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError as error:
        message = f"iree-dump-replay printed what is not JSON: {error.msg}"
        raise ProfileError(Problem(message, Place(str(path)))) from error
    return record


class _State:
    """What later records of a recording refer to."""

    def __init__(self, recording: Recording):
        self.recording = recording
        self.executables: dict[int, RecordedExecutable] = {}
        self.commands: dict[int, list[_Command]] = {}  #: Of each command buffer that may be executed.
        self.one_shot: set[int] = set()
        self.loading = False

    def data(self, part: Mapping[str, int]) -> bytes:
        """The bytes of a `..._range`."""
        return self.recording.bytes_of(_range(part)) if part["length"] else b""

    def fail(self, what: str) -> ProfileError:
        """The error that the recording does not hold what its own records refer to."""
        hint = "record the run from its start, with this release of IREE"
        return ProfileError(Problem(f"the recording does not say {what}", Place(str(self.recording.path)), hint))


@dataclass(frozen=True)
class _Command:
    """A command that is executed at once, or with its command buffer."""

    operation: str
    payload: Mapping[str, Any]
    constants: tuple[int, ...] = ()
    bindings: tuple[_Reference, ...] = ()


def _range(part: Mapping[str, int]) -> Range:
    return Range(part["offset"], part["length"])


def _references(data: bytes) -> tuple[_Reference, ...]:
    return tuple((buffer, offset, length, slot) for buffer, offset, length, slot, _ in _BUFFER_REF.iter_unpack(data))


def _resolve(reference: _Reference, table: _Table) -> Slice:
    """The part of a buffer that a reference is of, through the binding table where it names a slot of it."""
    buffer, offset, length, slot = reference
    if buffer == 0 and slot < len(table):
        buffer, base, bound, _ = table[slot]
        if length == _WHOLE_BUFFER and bound != _WHOLE_BUFFER:
            length = bound - offset
        offset += base
    return Slice(buffer, offset, None if length == _WHOLE_BUFFER else length)


def _end(payload: Mapping[str, Any], end: str, table: _Table) -> Slice:
    """The `source` or `target` of a command; what is put into a queue directly has another key for it."""
    reference = payload[end] if end in payload else payload[f"{end}_ref"]
    return _resolve((reference["buffer_id"], reference["offset"], reference["length"], reference["buffer_slot"]), table)


def _dispatched(state: _State, command: _Command, table: _Table) -> RecordedDispatch:
    payload = command.payload
    executable = state.executables.get(payload["executable_id"])
    ordinal = payload["function_ordinal"]
    if executable is None or ordinal >= len(executable.functions):
        raise state.fail(f"what function {ordinal} of executable {payload['executable_id']} is")
    x, y, z = payload["workgroup_count"]
    return RecordedDispatch(
        executable=executable,
        export=executable.functions[ordinal],
        workgroups=None if payload["workgroup_count_ref"]["length"] else (x, y, z),
        constants=command.constants,
        bindings=tuple(_resolve(reference, table) for reference in command.bindings),
        during_load=state.loading,
    )


def _updated(state: _State, command: _Command, table: _Table) -> Written:  # noqa: ARG001
    return Written(_end(command.payload, "target", table), _range(command.payload["data_range"]))


def _read(state: _State, command: _Command, table: _Table) -> Written:  # noqa: ARG001
    data = _range(command.payload["captured_data_range"])
    return Written(_end(command.payload, "target", table), data if data.length else None)


def _filled(state: _State, command: _Command, table: _Table) -> Filled:
    return Filled(_end(command.payload, "target", table), state.data(command.payload["pattern_range"]))


def _copied(state: _State, command: _Command, table: _Table) -> Copied:  # noqa: ARG001
    return Copied(_end(command.payload, "source", table), _end(command.payload, "target", table))


#: What becomes of a command when it is executed.
_COMMANDS: Mapping[str, Callable[[_State, _Command, _Table], Event]] = {
    "command_buffer.copy_buffer": _copied,
    "command_buffer.dispatch": _dispatched,
    "command_buffer.fill_buffer": _filled,
    "command_buffer.update_buffer": _updated,
    "device.queue_copy": _copied,
    "device.queue_dispatch": _dispatched,
    "device.queue_fill": _filled,
    "device.queue_read": _read,
    "device.queue_update": _updated,
}


def _command(state: _State, record: Mapping[str, Any], payload: Mapping[str, Any]) -> Iterator[Event]:
    operation = record["operation"]
    command = _Command(operation, payload)
    if _COMMANDS[operation] is _dispatched:
        constants = state.data(payload["constants_range"])
        words = struct.unpack(f"<{len(constants) // 4}I", constants)
        command = _Command(operation, payload, words, _references(state.data(payload["bindings_range"])))
    if operation.startswith("command_buffer."):
        state.commands.setdefault(record["object_id"], []).append(command)
    else:
        yield _COMMANDS[operation](state, command, ())


def _execute(state: _State, record: Mapping[str, Any], payload: Mapping[str, Any]) -> Iterator[Event]:  # noqa: ARG001
    buffer = payload["command_buffer_id"]
    table = _references(state.data(payload["bindings_range"]))
    for command in state.commands.get(buffer, ()):
        yield _COMMANDS[command.operation](state, command, table)
    if buffer in state.one_shot:
        state.one_shot.discard(buffer)
        state.commands.pop(buffer, None)


def _create(state: _State, record: Mapping[str, Any], payload: Mapping[str, Any]) -> Iterator[Event]:
    if payload["mode"] & _ONE_SHOT:
        state.one_shot.add(record["related_object_id"])
    yield from ()


def _begin(state: _State, record: Mapping[str, Any], payload: Mapping[str, Any]) -> Iterator[Event]:  # noqa: ARG001
    state.commands.pop(record["object_id"], None)
    yield from ()


def _prepare(state: _State, record: Mapping[str, Any], payload: Mapping[str, Any]) -> Iterator[Event]:
    state.executables[record["related_object_id"]] = RecordedExecutable(
        format=state.data(payload["format_range"]).decode(errors="replace"),
        functions=tuple(_function_names(state, state.data(payload["metadata_range"]))),
        code=_range(payload["data_range"]),
    )
    yield from ()


def _function_names(state: _State, metadata: bytes) -> Iterator[str]:
    """The names of an executable's functions, from its metadata; they come last in it."""
    try:
        functions, _, names, _ = _METADATA_HEADER.unpack_from(metadata)
        at = len(metadata) - names
        for number in range(functions):
            *_, length, _ = _FUNCTION.unpack_from(metadata, _METADATA_HEADER.size + number * _FUNCTION.size)
            yield metadata[at : at + length].decode()
            at += length
    except (struct.error, UnicodeDecodeError):
        raise state.fail("what the functions of an executable are called") from None


def _scope(state: _State, record: Mapping[str, Any], payload: Mapping[str, Any]) -> Iterator[Event]:  # noqa: ARG001
    if payload["name"] in (_INIT, _EXECUTE):
        state.loading = payload["name"] == _INIT
    yield from ()


def _scope_end(state: _State, record: Mapping[str, Any], payload: Mapping[str, Any]) -> Iterator[Event]:  # noqa: ARG001
    state.recording.has_whole_call |= payload["name"] == _EXECUTE
    yield from ()


def _unmap(state: _State, record: Mapping[str, Any], payload: Mapping[str, Any]) -> Iterator[Event]:  # noqa: ARG001
    if "data_range" in payload:
        data = _range(payload["data_range"])
        yield Written(Slice(record["object_id"], payload["byte_offset"], data.length), data)


def _import(state: _State, record: Mapping[str, Any], payload: Mapping[str, Any]) -> Iterator[Event]:  # noqa: ARG001
    data = _range(payload["data_range"])
    yield Written(Slice(record["related_object_id"], 0, data.length), data)


_Handler = Callable[[_State, Mapping[str, Any], Mapping[str, Any]], Iterator[Event]]
_HANDLERS: Mapping[str, _Handler] = {
    **dict.fromkeys(_COMMANDS, _command),
    "allocator.import_buffer": _import,
    "buffer.flush_range": _unmap,
    "buffer.unmap_range": _unmap,
    "command_buffer.begin": _begin,
    "device.create_command_buffer": _create,
    "device.queue_execute": _execute,
    "executable_cache.prepare_executable": _prepare,
    "replay.scope_begin": _scope,
    "replay.scope_end": _scope_end,
}
#: Those without which dispatches cannot be told.
_DISPATCH_HANDLERS = {
    operation: handler
    for operation, handler in _HANDLERS.items()
    if handler not in (_unmap, _import) and _COMMANDS.get(operation, _dispatched) is _dispatched
}
