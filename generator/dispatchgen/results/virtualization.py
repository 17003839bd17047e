"""Whether this machine is a virtual one, and whether this is a container, by the files that tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from dispatchgen.results.processor import read_text

#: What the firmware says of itself -> the virtual machine, in the words of systemd-detect-virt.
_FIRMWARE = (
    ("VMware", "vmware"),
    ("VirtualBox|innotek", "oracle"),
    ("Microsoft Corporation\nVirtual Machine", "microsoft"),
    ("Google Compute Engine", "google"),
    ("Parallels", "parallels"),
    ("BHYVE", "bhyve"),
    ("Xen|HVM domU", "xen"),
    ("KVM", "kvm"),
    (r"Amazon EC2\n(?!.*\.metal$)", "amazon"),
)
#: Clocks that a kernel has of the virtual machine that it runs in.
_CLOCKS = (("kvm-clock", "kvm"), ("hyperv_clocksource", "microsoft"), ("xen", "xen"))
#: What names of control groups, or of the top of the file system, show of a container.
_GROUPS = (("kubepods", "kubernetes"), ("docker|/overlay2/", "docker"), ("libpod", "podman"), ("lxc", "lxc"))


def virtual_machine(root: Path = Path("/")) -> str | None:
    """`kvm`, `vmware`, ...; None: none, as far as can be told. `unknown`: one whose name nothing tells.

    Args:
      root: Folder that has the system's `proc` and `sys`.
    """
    firmware = "\n".join(read_text(root / "sys/class/dmi/id" / name) or "" for name in ("sys_vendor", "product_name"))
    for pattern, name in _FIRMWARE:
        if re.search(pattern, firmware):
            return name
    hypervisor = read_text(root / "sys/hypervisor/type")
    if hypervisor is not None:
        return hypervisor
    clocks = read_text(root / "sys/devices/system/clocksource/clocksource0/available_clocksource") or ""
    for clock, name in _CLOCKS:
        if clock in clocks:
            return name
    if re.search("QEMU|Bochs", firmware):  # asked last: its processor may be one of the above
        return "qemu"
    cpuinfo = read_text(root / "proc/cpuinfo") or ""
    return "unknown" if re.search(r"^flags\s*:.*\bhypervisor\b", cpuinfo, re.MULTILINE) else None


def container(environment: Mapping[str, str], root: Path = Path("/")) -> str | None:
    """`docker`, `podman`, ...; None: none, as far as can be told.

    Args:
      environment: Variables of this process.
      root: Folder that has the files of the system.
    """
    if "KUBERNETES_SERVICE_HOST" in environment:
        return "kubernetes"
    told = read_text(root / "run/systemd/container") or environment.get("container")
    if told:
        return told
    for file, name in ((".dockerenv", "docker"), ("run/.containerenv", "podman")):
        if (root / file).exists():
            return name
    groups = read_text(root / "proc/1/cgroup") or ""
    return next((name for pattern, name in _GROUPS if re.search(pattern, groups)), None)
