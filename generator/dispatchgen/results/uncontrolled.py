"""What may change times and is not controlled, in words: before anything is measured, and what happened meanwhile."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from dispatchgen.results.environment_schema import Machine
from dispatchgen.results.processor import last_level_caches, read_text

#: What others used is told from here on, in processors: interrupts and the like always use some.
_OTHERS_FROM = 0.05
#: Stolen time is told from here on, as a part of all processors' time.
_STOLEN_FROM = 0.002
_MIB = 1 << 20


def uncontrolled(
    machine: Machine, pinned: Sequence[int] | None, root: Path = Path("/"), *, cold_memory: int | None = None
) -> tuple[str, ...]:
    """What is known before anything is measured.

    Args:
      machine: Where it is measured.
      pinned: Processors that benchmarks are kept on; empty: any. None: that is not told.
      root: Folder that has the system's `sys`.
      cold_memory: Bytes that cold benchmarks rotate over, the fewest of all models. None: nothing is measured cold.
    """
    return (*_uncontrolled(machine, pinned, root), *_not_cold(machine, pinned, root, cold_memory))


def _uncontrolled(machine: Machine, pinned: Sequence[int] | None, root: Path) -> Iterator[str]:
    cpu = machine.cpu
    if cpu.governor is None:
        yield "frequency scaling: the governor cannot be read"
    elif cpu.governor != "performance":
        yield f"frequency scaling: the processor's clock follows its load (governor {cpu.governor})"
    if cpu.boost:
        yield "boost: how far the processor exceeds its base frequency depends on heat and on other cores"
    if cpu.threads_per_core is not None and cpu.threads_per_core > 1:
        yield f"shared cores: {cpu.threads_per_core} threads run on each, whatever else they do"
    if machine.virtual_machine is not None:
        yield f"virtual machine ({machine.virtual_machine}): others may use the same processors and caches"
    quota = _quota(root)
    if quota is not None:
        yield f"processor quota: processes are stopped while they have used the time of {quota:g} processors"
    if pinned is not None and not pinned:
        yield "not pinned: benchmarks may move from processor to processor"
    for device in machine.devices:
        if not device.driver.startswith("local"):
            yield f"device {device.id}: its clock follows its load and heat"
    if _is_on_battery():
        yield "battery: the machine may save power"


def _not_cold(machine: Machine, pinned: Sequence[int] | None, root: Path, cold_memory: int | None) -> Iterator[str]:
    sizes = last_level_caches(root, pinned or None)
    drivers = {device.driver for device in machine.devices}
    # Only `local-task` runs on several cores at once, which may have a cache each.
    cache = sum(sizes) if "local-task" in drivers else max(sizes, default=0)
    if cold_memory is not None and cold_memory < 2 * cache and any(driver.startswith("local") for driver in drivers):
        yield (
            f"cold caches: {cold_memory / _MIB:g} MiB of buffers are less than twice the last-level cache of "
            f"{cache / _MIB:g} MiB, which may hold part of them"
        )


def _quota(root: Path) -> float | None:
    """How many processors' time the control group of the container has; None: all, or it is not told."""
    limits = (read_text(root / "sys/fs/cgroup/cpu.max") or "").split()  # version 2: `<microseconds or max> <period>`
    if not limits:
        names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
        limits = [read_text(root / "sys/fs/cgroup/cpu" / name) or "" for name in names]
    if len(limits) != 2 or not all(each.isdecimal() for each in limits) or int(limits[1]) == 0:
        return None  # without a limit it is `max`, or -1
    return int(limits[0]) / int(limits[1])


def _is_on_battery() -> bool:
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    return battery is not None and battery.power_plugged is False


@dataclass(frozen=True)
class Watch:
    """What the system had counted at some moment; times are in seconds, of all processors together."""

    at: float
    busy: float
    stolen: float
    own: float  #: Of `busy`, that of this process and its children that have ended.
    throttled: int  #: How often processors were slowed because of heat.


def start_watch(root: Path = Path("/")) -> Watch:
    """Begins to watch what else happens on the machine, until `disturbances` is asked."""
    times = psutil.cpu_times()
    own = os.times()
    stolen = getattr(times, "steal", 0.0)
    # Linux counts guests' time in `user` and `nice` already; `iowait` is idle.
    counted = ("user", "nice", "system", "irq", "softirq", "interrupt", "dpc")
    return Watch(
        at=time.monotonic(),
        busy=sum(getattr(times, name, 0.0) for name in counted),
        stolen=stolen,
        own=own.user + own.system + own.children_user + own.children_system,
        throttled=_throttled(root),
    )


def disturbances(start: Watch, end: Watch | None = None) -> tuple[str, ...]:
    """What disturbed measuring since a watch was started, in words; until now, where no end is given."""
    return tuple(_disturbances(start, end or start_watch()))


def _disturbances(start: Watch, end: Watch) -> Iterator[str]:
    elapsed = end.at - start.at
    if elapsed <= 0:
        return
    others = (end.busy - start.busy - (end.own - start.own)) / elapsed
    if others >= _OTHERS_FROM:
        yield f"other programs ran meanwhile: on average {others:.1f} processors were busy with them"
    stolen = (end.stolen - start.stolen) / (elapsed * (psutil.cpu_count() or 1))
    if stolen >= _STOLEN_FROM:
        yield f"other virtual machines ran meanwhile: they took {stolen:.1%} of the processors' time"
    if end.throttled > start.throttled:
        yield f"heat: processors were slowed {end.throttled - start.throttled} times meanwhile"


def _throttled(root: Path) -> int:
    files = (root / "sys/devices/system/cpu").glob("cpu[0-9]*/thermal_throttle/core_throttle_count")
    return sum(int(text) for file in files for text in [read_text(file)] if text is not None and text.isdecimal())
