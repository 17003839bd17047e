"""Made-up trees of the files by which systems tell of themselves: /proc, /sys and the like."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_X86 = """\
processor\t: {number}
vendor_id\t: GenuineIntel
model name\t: Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz
cpu MHz\t\t: 2100.000
siblings\t: 4
cpu cores\t: 2
flags\t\t: sse2 fma avx2 fpu{more}
bogomips\t: 4200.00
"""
_ARM = """\
processor\t: {number}
BogoMIPS\t: 108.00
Features\t: fp asimd sve
CPU implementer\t: {implementer}
CPU architecture: 8
CPU variant\t: 0x0
CPU part\t: {part}
CPU revision\t: 3
"""
CPUS = "sys/devices/system/cpu"


def x86(processors: int = 4, more: str = "") -> str:
    """What /proc/cpuinfo has of an x86 processor of two threads per core; `more` are further flags."""
    return "\n".join(_X86.format(number=number, more=more and f" {more}") for number in range(processors))


def arm(*parts: str, implementer: str = "0x41") -> str:
    """What /proc/cpuinfo has of an Arm processor, by the part of each core."""
    cores = [_ARM.format(number=number, part=part, implementer=implementer) for number, part in enumerate(parts)]
    return "\n".join([*cores, "Hardware\t: Made-up board\nRevision\t: 1\n"])


def write(root: Path, files: Mapping[str, str]) -> Path:
    """Writes files, by their paths without the slash in front; returns the root of the tree."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    return root
