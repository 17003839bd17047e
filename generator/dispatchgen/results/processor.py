"""The processor, as the system tells of it: /proc and /sys of Linux, and what Python knows elsewhere."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from dispatchgen.errors import ToolError
from dispatchgen.iree import process
from dispatchgen.results.environment_schema import Cpu

_CPUS = "sys/devices/system/cpu"
#: Keys of /proc/cpuinfo with the name: of x86, Power and RISC-V.
_MODEL_KEYS = ("model name", "cpu", "uarch")
#: The same with the features: of x86, Arm and RISC-V.
_FEATURE_KEYS = ("flags", "Features", "isa")
#: Numbers of Arm's cores, from the "Main ID Register" in their manuals, by implementer and part.
_ARM_CORES = {
    ("0x41", "0xd03"): "Cortex-A53",
    ("0x41", "0xd05"): "Cortex-A55",
    ("0x41", "0xd07"): "Cortex-A57",
    ("0x41", "0xd08"): "Cortex-A72",
    ("0x41", "0xd0b"): "Cortex-A76",
    ("0x41", "0xd0c"): "Neoverse-N1",
    ("0x41", "0xd40"): "Neoverse-V1",
    ("0x41", "0xd41"): "Cortex-A78",
    ("0x41", "0xd44"): "Cortex-X1",
    ("0x41", "0xd49"): "Neoverse-N2",
    ("0x41", "0xd4f"): "Neoverse-V2",
    ("0x41", "0xd84"): "Neoverse-V3",
    ("0x41", "0xd8e"): "Neoverse-N3",
}
_SECONDS = 10.0


def read_cpu(root: Path = Path("/")) -> Cpu:
    """The processor of this machine.

    Args:
      root: Folder that has the system's `proc` and `sys`.
    """
    processors = list(_processors(read_text(root / "proc/cpuinfo") or ""))
    first = processors[0] if processors else {}
    features = next((first[key] for key in _FEATURE_KEYS if key in first), "")
    return Cpu(
        model=_model(processors) or _model_elsewhere() or "unknown",
        architecture=platform.machine(),
        features=tuple(sorted(set(features.split()))),
        cores=len(processors) or os.cpu_count() or 1,
        threads_per_core=_threads_per_core(root, first),
        governor=_governor(root),
        boost=_boost(root),
    )


def read_text(path: Path) -> str | None:
    """Text of one of the system's files without blanks around it; None where there is none, or it says nothing."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def read_processors(text: str) -> list[range]:
    """Ranges of a list of processors as the kernel writes it, `0-3,8`."""
    ranges = re.findall(r"(\d+)(?:-(\d+))?", text)
    return [range(int(first), int(last or first) + 1) for first, last in ranges]


def last_level_caches(root: Path = Path("/"), processors: Collection[int] | None = None) -> list[int]:
    """Bytes of each last-level cache that some of these processors use; None: of all. Empty: the system does not tell.

    Linux tells in `cpu*/cache/index*`, see Documentation/ABI/testing/sysfs-devices-system-cpu of its sources.
    """
    last: dict[str, tuple[int, int]] = {}  # level and size, by the processors that share it
    for folder in (root / _CPUS).glob("cpu[0-9]*/cache/index[0-9]*"):
        if read_text(folder / "type") not in ("Data", "Unified"):
            continue
        level, size = read_text(folder / "level") or "", re.match(r"(\d+)K", read_text(folder / "size") or "")
        shared = read_text(folder / "shared_cpu_list") or folder.parents[1].name.removeprefix("cpu")
        users = {number for each in read_processors(shared) for number in each}
        if size and level.isdecimal() and (processors is None or users & {*processors}):
            last[shared] = max(last.get(shared, (0, 0)), (int(level), int(size[1]) << 10))
    top = max((level for level, _ in last.values()), default=0)
    return [size for level, size in last.values() if level == top]


def _processors(cpuinfo: str) -> Iterator[Mapping[str, str]]:
    """What /proc/cpuinfo has of each processor; Arm's ends with a paragraph on the board."""
    for paragraph in cpuinfo.split("\n\n"):
        pairs = (line.partition(":") for line in paragraph.splitlines())
        found = {key.strip(): value.strip() for key, _, value in pairs}
        if "processor" in found:
            yield found


def _model(processors: list[Mapping[str, str]]) -> str | None:
    """Name of the processors; of several kinds, as in phones, each once."""
    names = [
        next((each[key] for key in _MODEL_KEYS if key in each), None) or _arm_core(each)  # Arm's has none of them
        for each in processors
    ]
    return " + ".join(dict.fromkeys(filter(None, names))) or None


def _arm_core(processor: Mapping[str, str]) -> str | None:
    implementer, part = processor.get("CPU implementer"), processor.get("CPU part")
    if implementer is None or part is None:
        return None
    return _ARM_CORES.get((implementer, part), f"implementer {implementer} part {part}")


def _model_elsewhere() -> str | None:
    """Name of the processor where there is no /proc."""
    if platform.system() == "Darwin":
        try:
            result = process.run(["sysctl", "-n", "machdep.cpu.brand_string"], timeout=_SECONDS, check=False)
        except ToolError:
            return None
        return result.stdout.strip() or None
    return platform.processor() or None


def _threads_per_core(root: Path, first: Mapping[str, str]) -> int | None:
    siblings = read_text(root / _CPUS / "cpu0/topology/thread_siblings_list")
    if siblings is not None:
        return sum(map(len, read_processors(siblings))) or None
    threads, cores = first.get("siblings", ""), first.get("cpu cores", "")
    return int(threads) // int(cores) if threads.isdecimal() and cores.isdecimal() and int(cores) else None


def _governor(root: Path) -> str | None:
    """Governor of all processors; different ones are joined."""
    files = sorted((root / _CPUS).glob("cpufreq/policy*/scaling_governor"))
    return "+".join(sorted({text for file in files for text in [read_text(file)] if text})) or None


def _boost(root: Path) -> bool | None:
    boost = read_text(root / _CPUS / "cpufreq/boost")
    if boost is not None:
        return boost == "1"
    no_turbo = read_text(root / _CPUS / "intel_pstate/no_turbo")
    return None if no_turbo is None else no_turbo == "0"
