"""What is said not to be controlled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from dispatchgen.results.environment_schema import Cpu, DeviceFound, Machine
from dispatchgen.results.uncontrolled import Watch, disturbances, start_watch, uncontrolled
from system_files import CPUS, write

_CPU = Cpu(
    model="Made-up CPU",
    architecture="x86_64",
    features=(),
    cores=4,
    threads_per_core=1,
    governor="performance",
    boost=False,
)
_MACHINE = Machine(
    cpu=_CPU,
    memory_bytes=1 << 34,
    system="Linux 6.1",
    virtual_machine=None,
    container=None,
    devices=(DeviceFound(id="local", driver="local-task", name="default"),),
)


@pytest.fixture(autouse=True)
def _mains(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine that runs the tests has no battery."""
    monkeypatch.setattr("psutil.sensors_battery", lambda: None, raising=False)


def _of(tmp_path: Path, pinned: tuple[int, ...] | None = (3,), **changes: object) -> tuple[str, ...]:
    cpu = _CPU.model_copy(update={key: value for key, value in changes.items() if key in Cpu.model_fields})
    machine = _MACHINE.model_copy(
        update={"cpu": cpu, **{key: value for key, value in changes.items() if key in Machine.model_fields}}
    )
    return uncontrolled(machine, pinned, tmp_path)


def test_a_machine_under_control(tmp_path: Path) -> None:
    assert _of(tmp_path) == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"governor": None}, "the governor cannot be read"),
        ({"governor": "powersave"}, "governor powersave"),
        ({"boost": True}, "boost"),
        ({"threads_per_core": 2}, "2 threads run on each"),
        ({"virtual_machine": "kvm"}, "virtual machine (kvm)"),
        ({"pinned": ()}, "not pinned"),
        ({"devices": (DeviceFound(id="gpu", driver="vulkan", name="A"),)}, "device gpu: its clock"),
    ],
)
def test_each_sentence(tmp_path: Path, changes: Mapping[str, object], words: str) -> None:
    (sentence,) = _of(tmp_path, **changes)  # type: ignore[arg-type]
    assert words in sentence


def test_pinning_is_not_told_where_it_is_not_known(tmp_path: Path) -> None:
    assert _of(tmp_path, pinned=None) == ()


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"sys/fs/cgroup/cpu.max": "150000 100000"}, "1.5 processors"),
        ({"sys/fs/cgroup/cpu.max": "max 100000"}, None),
        (
            {"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"},
            "2 processors",
        ),
        ({"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"}, None),
    ],
)
def test_quota(tmp_path: Path, files: Mapping[str, str], expected: str | None) -> None:
    found = _of(write(tmp_path, files))
    assert len(found) == (expected is not None)
    assert expected is None or expected in found[0]


@pytest.mark.parametrize(
    ("driver", "pinned", "cold_memory", "cache"),
    [
        ("local-sync", (), 128, None),
        ("local-sync", (), 127, 64),
        ("local-task", (), 128, 96),  # the caches of all processors
        ("local-task", (3,), 128, None),
        ("local-task", (3,), 60, 32),
        ("vulkan", (), 1, None),
        ("local-sync", (), None, None),
    ],
)
def test_caches_that_cold_benchmarks_fit_into(
    tmp_path: Path, driver: str, pinned: tuple[int, ...], cold_memory: int | None, cache: int | None
) -> None:
    write(tmp_path, {name: text for cpu in range(4) for name, text in _caches(cpu).items()})
    machine = _MACHINE.model_copy(update={"devices": (DeviceFound(id="d", driver=driver, name="d"),)})
    bytes_of = None if cold_memory is None else cold_memory << 20
    found = [line for line in uncontrolled(machine, pinned, tmp_path, cold_memory=bytes_of) if "cold caches" in line]
    assert len(found) == (cache is not None)
    assert cache is None or f"twice the last-level cache of {cache} MiB" in found[0]


def _caches(cpu: int) -> dict[str, str]:
    """Two processors share 64 MiB, two others 32 MiB."""
    shared, last = ("0-1", "65536K") if cpu < 2 else ("2-3", "32768K")
    levels = [("Data", 1, "48K", f"{cpu}"), ("Instruction", 1, "32K", f"{cpu}"), ("Unified", 3, last, shared)]
    return {
        f"{CPUS}/cpu{cpu}/cache/index{index}/{name}": str(value)
        for index, each in enumerate(levels)
        for name, value in zip(("type", "level", "size", "shared_cpu_list"), each, strict=True)
    }


def test_battery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psutil.sensors_battery", lambda: SimpleNamespace(power_plugged=False), raising=False)
    assert "battery" in _of(tmp_path)[0]


_START = Watch(at=0.0, busy=100.0, stolen=1.0, own=10.0, throttled=3)


def test_what_this_process_uses_disturbs_nothing() -> None:
    assert disturbances(_START, replace(_START, at=10.0, busy=110.0, own=20.0)) == ()
    assert disturbances(_START, _START) == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"busy": 113.0}, "on average 1.3 processors were busy"),
        ({"busy": 100.0, "stolen": 2.0}, "of the processors' time"),
        ({"busy": 100.0, "throttled": 5}, "slowed 2 times"),
    ],
)
def test_disturbances(changes: dict[str, float], words: str) -> None:
    (sentence,) = disturbances(_START, replace(_START, at=10.0, **changes))  # type: ignore[arg-type]
    assert words in sentence


def test_watching_this_machine(tmp_path: Path) -> None:
    count = f"{CPUS}/cpu{{}}/thermal_throttle/core_throttle_count"
    root = write(tmp_path, {count.format(0): "2", count.format(11): "5"})
    start = start_watch(root)
    end = start_watch(root)
    assert start.throttled == 7
    assert start.busy > 0
    assert end.at >= start.at
    assert end.own >= start.own > 0
