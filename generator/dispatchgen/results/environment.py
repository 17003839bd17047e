"""Where and with what it is measured: read once per run, and compared before times are."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
from pydantic import BaseModel

from dispatchgen import __version__
from dispatchgen.iree.devices import devices_of, find
from dispatchgen.iree.flags import compile_flags
from dispatchgen.manifest.suite import Device, Suite
from dispatchgen.results.environment_schema import DeviceFound, Environment, Machine, Software
from dispatchgen.results.processor import read_cpu
from dispatchgen.results.repository import revision_of
from dispatchgen.results.settings import settings_of
from dispatchgen.results.uncontrolled import uncontrolled
from dispatchgen.results.virtualization import container, virtual_machine

_GIB = 1 << 30
#: What there is none of where nothing is told; of anything else it is not known.
_NONE = frozenset({"virtual_machine", "container", "runtime", "commit"})


@dataclass(frozen=True)
class Measured:
    """What measures, and what it was made with."""

    iree_benchmark_module: Path
    compiler: str  #: Version text of iree-compile.
    runtime: str | None  #: Version of the wheel that iree-benchmark-module is from.


def read_environment(
    suite: Suite, programs: Measured, *, pinned: Sequence[int] = (), with_host_name: bool = False
) -> Environment:
    """The environment before anything is measured: `host` is not known yet.

    Args:
      suite: What is measured: its devices are looked at, its flags and its repository.
      programs: What measures.
      pinned: Processors that benchmarks are kept on; empty: any.
      with_host_name: Whether the host's name is told.
    """
    devices = {(device.id, device.uri): device for backend in suite.backends for device in backend.devices}
    machine = read_machine(programs.iree_benchmark_module, devices.values())
    return Environment(
        machine=machine,
        software=read_software(suite, programs),
        host=None,
        host_name=platform.node() if with_host_name else None,
        pinned=tuple(pinned),
        uncontrolled=uncontrolled(machine, pinned, cold_memory=_cold_memory(suite)),
    )


def _cold_memory(suite: Suite) -> int | None:
    """The fewest bytes that cold benchmarks of a model rotate over; None: nothing is measured cold."""
    found = (settings_of(model).cold_memory for model in suite.models)
    return min((each for each in found if each is not None), default=None)


def read_machine(iree_benchmark_module: Path | None, devices: Iterable[Device], root: Path = Path("/")) -> Machine:
    """This machine.

    Args:
      iree_benchmark_module: Asked for the devices; None: nothing is told of them.
      devices: Those that benchmarks run on.
      root: Folder that has the system's `proc` and `sys`.
    """
    return Machine(
        cpu=read_cpu(root),
        # Kernels reserve some, each a bit more or less: what is built in is whole GiB.
        memory_bytes=-(-psutil.virtual_memory().total // _GIB) * _GIB,
        system=f"{platform.system()} {_release()}",
        virtual_machine=virtual_machine(root),
        container=container(os.environ, root),
        devices=tuple(_devices(iree_benchmark_module, devices)),
    )


def _release() -> str:
    """Release of the system's kernel without its patch level: `6.1`."""
    match = re.match(r"\d+(?:\.\d+)?", platform.release())
    return match[0] if match else platform.release()


def _devices(iree_benchmark_module: Path | None, devices: Iterable[Device]) -> Iterator[DeviceFound]:
    wanted = list(devices)
    drivers = {device.driver for device in wanted} if iree_benchmark_module is not None else set()
    listed = {driver: devices_of(iree_benchmark_module, driver) for driver in drivers if iree_benchmark_module}
    for device in wanted:
        found = find(device.uri, listed.get(device.driver, ()))
        yield DeviceFound(
            id=device.id,
            driver=device.driver,
            name=found.name if found else None,
            driver_version=found.driver_version if found else None,
        )


def read_software(suite: Suite, programs: Measured) -> Software:
    """What is measured, and by what."""
    revision = revision_of(suite.root.absolute())
    return Software(
        compiler=programs.compiler,
        runtime=programs.runtime,
        dispatchgen=__version__,
        python=platform.python_version(),
        kernel=platform.release(),
        flags=flag_digests(suite),
        commit=revision.commit,
        dirty=revision.dirty,
    )


def flag_digests(suite: Suite) -> dict[str, str]:
    """`Software.flags` of what the suite compiles."""
    return {
        f"{model.id}/{backend}": hashlib.sha256(
            "\0".join(compile_flags(model, suite.backend(backend))).encode()
        ).hexdigest()
        for model in suite.models
        for backend in model.backends
    }


def differences(one: Machine, other: Machine) -> list[str]:
    """In what two machines differ, in words, one difference each; none: their times can be compared.

    What only one of them has as a device is no difference: a run of a part of a suite looks at fewer.
    """
    found = list(_differences(one, other, skipped={"devices", "memory_bytes"}))
    if one.memory_bytes != other.memory_bytes:
        found.append(f"memory: {one.memory_bytes / _GIB:g} GiB and {other.memory_bytes / _GIB:g} GiB")
    for device in one.devices:
        for same in other.devices:
            # Of one that is absent nothing is known, and nothing is measured.
            if device.id == same.id and device.name is not None and same.name is not None:
                found += _differences(device, same, f"device {device.id}: ")
    return found


def software_differences(one: Software, other: Software) -> list[str]:
    """In what is measured, or in what measures, two runs differ; what only one of them has flags of is left out."""
    found = list(_differences(one, other, skipped={"flags", "commit", "dirty"}))
    both = sorted(one.flags.keys() & other.flags.keys())
    found += [f"flags of {name} differ" for name in both if one.flags[name] != other.flags[name]]
    return [*found, *_differences(one, other, skipped=Software.model_fields.keys() - {"commit", "dirty"})]


def digest(machine: Machine) -> str:
    """Eight hex digits that stand for a machine, whatever devices a run looked at."""
    # What is not known is left out: a field that is added later does not change the digests of machines without it.
    text = machine.model_dump_json(exclude_none=True, exclude={"devices"})
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def slug(machine: Machine) -> str:
    """A name for a machine that files can have: what people know it by, and its digest."""
    model = re.sub(r"\((?:R|TM|C)\)|\b(?:CPU|Processor|\d+-Core)\b|@.*", " ", machine.cpu.model, flags=re.IGNORECASE)
    parts = [model, f"{machine.cpu.cores}x", machine.virtual_machine or ""]
    text = re.sub(r"[^a-z0-9]+", "_", " ".join(parts).lower()).strip("_")
    return f"{text[:60].rstrip('_')}_{digest(machine)}"


def _differences(one: BaseModel, other: BaseModel, path: str = "", skipped: Collection[str] = ()) -> Iterator[str]:
    for name in type(one).model_fields:
        left, right = getattr(one, name), getattr(other, name)
        words = f"{path}{name.replace('_', ' ')}: "
        if left == right or name in skipped:
            continue
        if isinstance(left, BaseModel):
            yield from _differences(left, right, words)
        elif isinstance(left, tuple):
            yield words + _only(left, right)
        else:
            yield f"{words}{_text(left, name)} and {_text(right, name)}"


def _only(left: Sequence[str], right: Sequence[str]) -> str:
    """Features that only one of two processors has."""
    lost, gained = sorted({*left} - {*right}), sorted({*right} - {*left})
    return ", ".join([*(f"-{name}" for name in lost), *(f"+{name}" for name in gained)])


def _text(value: object, name: str) -> str:
    """A value for people."""
    if value is None:
        return "none" if name in _NONE else "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
