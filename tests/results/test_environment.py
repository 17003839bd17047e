"""The environment of this machine, and how environments are compared and named."""

from __future__ import annotations

import platform
import re
from dataclasses import replace
from pathlib import Path

import pytest

from dispatchgen.manifest.suite import Device, RunSettings
from dispatchgen.results.environment import (
    Measured,
    differences,
    digest,
    read_environment,
    read_machine,
    slug,
    software_differences,
)
from dispatchgen.results.environment_schema import Cpu, DeviceFound, Machine
from made_up_results import MACHINE, SOFTWARE
from suite_folder import HOST, SuiteFolder, layers_model
from support import IreeTools
from system_files import arm, write


@pytest.fixture
def programs(iree_tools: IreeTools) -> Measured:
    return Measured(iree_tools.benchmark_module, "3.13.0 @ 89ece87b", "3.13.0")


def _cpu(**changes: object) -> Machine:
    return MACHINE.model_copy(update={"cpu": MACHINE.cpu.model_copy(update=changes)})


def test_this_machine(iree_tools: IreeTools, tmp_path: Path) -> None:
    devices = [Device("local", "local-sync"), Device("none", "no-such-driver")]
    found = read_machine(iree_tools.benchmark_module, devices)
    assert found.devices[0] == DeviceFound(id="local", driver="local-sync", name="default")
    assert found.devices[1] == DeviceFound(id="none", driver="no-such-driver", name=None)
    assert found.cpu.cores >= 1
    assert found.memory_bytes % (1 << 30) == 0
    assert found.system == " ".join([platform.system(), *re.findall(r"^\d+\.\d+", platform.release())])
    assert found == read_machine(iree_tools.benchmark_module, devices)
    other = read_machine(None, [], write(tmp_path, {"proc/cpuinfo": arm("0xd0c")}))
    assert (other.cpu.model, other.virtual_machine, other.devices) == ("Neoverse-N1", None, ())


def test_environment(tmp_path: Path, programs: Measured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dispatchgen.results.uncontrolled.last_level_caches", lambda *_: [1 << 30])
    model = layers_model("m")
    cold = replace(model, id="cold", name="cold", cold_memory=1 << 28, run=RunSettings(caches="both"))
    folder = SuiteFolder(tmp_path, models=[model])
    assert not any("cold" in sentence for sentence in read_environment(folder.suite, programs).uncontrolled)
    suite = replace(folder.suite, models=(model, cold))
    assert any("256 MiB" in sentence for sentence in read_environment(suite, programs).uncontrolled)
    found = read_environment(folder.suite, programs, pinned=[1])
    assert found.host_name is None
    assert found.pinned == (1,)
    assert not any("pinned" in sentence for sentence in found.uncontrolled)
    assert [device.id for device in found.machine.devices] == ["local-sync"]
    assert found.software.compiler == "3.13.0 @ 89ece87b"
    assert list(found.software.flags) == ["m/host"]
    assert platform.node() not in re.split(r"\W", found.model_dump_json())


def test_host_name_where_it_is_asked_for(tmp_path: Path, programs: Measured) -> None:
    found = read_environment(SuiteFolder(tmp_path).suite, programs, with_host_name=True)
    assert found.host_name == platform.node()
    assert any("not pinned" in sentence for sentence in found.uncontrolled)


def test_other_flags_have_another_hash(tmp_path: Path, programs: Measured) -> None:
    def flags(*more: str) -> dict[str, str]:
        backend = replace(HOST, compile_flags=(*HOST.compile_flags, *more))
        folder = SuiteFolder(tmp_path, models=[layers_model("m")], backends=(backend,))
        return read_environment(folder.suite, programs).software.flags

    assert flags() == flags()
    assert flags() != flags("--iree-opt-level=O3")
    assert flags("--a", "b") != flags("--a b")


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (_cpu(model="Other CPU"), "cpu: model: Made-up CPU and Other CPU"),
        (_cpu(features=("avx2", "sve")), "cpu: features: -fma, +sve"),
        (_cpu(governor="powersave"), "cpu: governor: unknown and powersave"),
        (_cpu(cores=16), "cpu: cores: 8 and 16"),
        (MACHINE.model_copy(update={"memory_bytes": 1 << 35}), "memory: 16 GiB and 32 GiB"),
        (MACHINE.model_copy(update={"system": "Linux 6.6"}), "system: Linux 6.1 and Linux 6.6"),
        (MACHINE.model_copy(update={"container": "docker"}), "container: none and docker"),
    ],
)
def test_differences(other: Machine, words: str) -> None:
    assert differences(MACHINE, other) == [words]
    assert digest(MACHINE) != digest(other)
    assert slug(MACHINE) != slug(other)


def test_another_device_of_the_same_key() -> None:
    other = MACHINE.model_copy(update={"devices": (DeviceFound(id="local", driver="local-sync", name="other"),)})
    assert differences(MACHINE, other) == ["device local: name: default and other"]
    assert digest(MACHINE) == digest(other)


@pytest.mark.parametrize("devices", [(), (DeviceFound(id="local", driver="local-sync", name=None),)])
def test_devices_that_only_one_run_looked_at_or_found(devices: tuple[DeviceFound, ...]) -> None:
    other = MACHINE.model_copy(update={"devices": devices})
    assert differences(MACHINE, other) == differences(other, MACHINE) == []
    assert slug(MACHINE) == slug(other)


def test_no_difference() -> None:
    copy = Machine.model_validate_json(MACHINE.model_dump_json())
    assert differences(MACHINE, copy) == []
    assert digest(MACHINE) == digest(copy)
    assert software_differences(SOFTWARE, SOFTWARE) == []


def test_software_differences() -> None:
    one = SOFTWARE.model_copy(update={"flags": {"m/host": "a", "only/here": "b"}, "commit": "1234"})
    other = SOFTWARE.model_copy(update={"flags": {"m/host": "c"}, "compiler": "3.14"})
    assert software_differences(one, other) == [
        "compiler: IREE compiler version 3.13.0 and 3.14",
        "flags of m/host differ",
        "commit: 1234 and none",
    ]


@pytest.mark.parametrize(
    ("changes", "virtual_machine", "expected"),
    [
        ({"model": "AMD EPYC", "cores": 2}, "kvm", "amd_epyc_2x_kvm"),
        ({"model": "Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz", "cores": 40}, None, "intel_xeon_gold_6230_40x"),
        ({"model": "AMD Ryzen 9 7950X 16-Core Processor", "cores": 32}, None, "amd_ryzen_9_7950x_32x"),
        ({"model": "Cortex-A53 + Cortex-A72", "cores": 6}, None, "cortex_a53_cortex_a72_6x"),
        ({"model": "漢/../é", "cores": 1}, None, "1x"),
    ],
)
def test_slug(changes: dict[str, object], virtual_machine: str | None, expected: str) -> None:
    cpu: Cpu = MACHINE.cpu.model_copy(update=changes)
    name = slug(MACHINE.model_copy(update={"cpu": cpu, "virtual_machine": virtual_machine}))
    assert re.fullmatch(rf"{expected}_[0-9a-f]{{8}}", name)


def test_the_digest_stays() -> None:
    """Baselines are named after it: a change of how it is computed loses them."""
    assert digest(MACHINE) == "f2df7052"
