"""Virtual machines and containers, by made-up system files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from dispatchgen.results.virtualization import container, virtual_machine
from system_files import arm, write, x86

_CLOCKS = "sys/devices/system/clocksource/clocksource0/available_clocksource"


def _firmware(vendor: str, product: str) -> dict[str, str]:
    return {"sys/class/dmi/id/sys_vendor": vendor, "sys/class/dmi/id/product_name": product}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"proc/cpuinfo": x86()}, None),
        ({"proc/cpuinfo": arm("0xd0c")}, None),
        ({}, None),
        (_firmware("Dell Inc.", "PowerEdge R740"), None),
        (_firmware("VMware, Inc.", "VMware7,1"), "vmware"),
        (_firmware("innotek GmbH", "VirtualBox"), "oracle"),
        (_firmware("Microsoft Corporation", "Virtual Machine"), "microsoft"),
        (_firmware("Microsoft Corporation", "Surface Laptop 5"), None),
        (_firmware("Google", "Google Compute Engine"), "google"),
        (_firmware("Amazon EC2", "c7g.xlarge"), "amazon"),
        (_firmware("Amazon EC2", "c7g.metal"), None),
        (_firmware("Xen", "HVM domU"), "xen"),
        (_firmware("Red Hat", "KVM"), "kvm"),
        (_firmware("QEMU", "Standard PC (Q35 + ICH9, 2009)") | {_CLOCKS: "kvm-clock tsc"}, "kvm"),
        (_firmware("QEMU", "Standard PC (Q35 + ICH9, 2009)"), "qemu"),
        ({_CLOCKS: "tsc kvm-clock"}, "kvm"),
        ({_CLOCKS: "tsc hpet acpi_pm"}, None),
        ({"sys/hypervisor/type": "xen"}, "xen"),
        ({"proc/cpuinfo": x86(more="hypervisor")}, "unknown"),
    ],
)
def test_virtual_machine(tmp_path: Path, files: Mapping[str, str], expected: str | None) -> None:
    assert virtual_machine(write(tmp_path, files)) == expected


@pytest.mark.parametrize(
    ("files", "environment", "expected"),
    [
        ({}, {}, None),
        ({"proc/1/cgroup": "0::/init.scope"}, {}, None),
        ({".dockerenv": ""}, {}, "docker"),
        ({"run/.containerenv": ""}, {}, "podman"),
        ({"run/systemd/container": "systemd-nspawn"}, {}, "systemd-nspawn"),
        ({}, {"container": "lxc"}, "lxc"),
        ({".dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ({"proc/1/cgroup": "12:cpu:/docker/0123abcd"}, {}, "docker"),
        ({"proc/1/cgroup": "12:cpu:/kubepods/besteffort/pod1"}, {}, "kubernetes"),
    ],
)
def test_container(
    tmp_path: Path, files: Mapping[str, str], environment: Mapping[str, str], expected: str | None
) -> None:
    assert container(environment, write(tmp_path, files)) == expected
