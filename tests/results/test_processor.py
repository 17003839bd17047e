"""The processor, from made-up system files and from those of this machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dispatchgen.results.processor import read_cpu, read_processors
from system_files import CPUS, arm, write, x86


def test_x86(tmp_path: Path) -> None:
    cpu = read_cpu(
        write(
            tmp_path,
            {
                "proc/cpuinfo": x86(4),
                f"{CPUS}/cpu0/topology/thread_siblings_list": "0,2",
                f"{CPUS}/cpufreq/policy0/scaling_governor": "powersave",
                f"{CPUS}/cpufreq/policy1/scaling_governor": "powersave",
                f"{CPUS}/intel_pstate/no_turbo": "0",
            },
        )
    )
    assert cpu.model == "Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz"
    assert cpu.features == ("avx2", "fma", "fpu", "sse2")
    assert (cpu.cores, cpu.threads_per_core, cpu.governor, cpu.boost) == (4, 2, "powersave", True)


def test_without_topology_threads_are_known_from_the_counts(tmp_path: Path) -> None:
    cpu = read_cpu(write(tmp_path, {"proc/cpuinfo": x86(4)}))
    assert cpu.threads_per_core == 2
    assert cpu.governor is None
    assert cpu.boost is None


def test_different_governors_are_all_told(tmp_path: Path) -> None:
    files = {
        "proc/cpuinfo": x86(2),
        f"{CPUS}/cpufreq/policy0/scaling_governor": "powersave",
        f"{CPUS}/cpufreq/policy1/scaling_governor": "performance",
        f"{CPUS}/cpufreq/boost": "0",
    }
    cpu = read_cpu(write(tmp_path, files))
    assert (cpu.governor, cpu.boost) == ("performance+powersave", False)


@pytest.mark.parametrize(
    ("text", "model", "cores"),
    [
        (arm("0xd0c", "0xd0c"), "Neoverse-N1", 2),
        (arm("0xd03", "0xd03", "0xd08"), "Cortex-A53 + Cortex-A72", 3),
        (arm("0x001", implementer="0xc0"), "implementer 0xc0 part 0x001", 1),
        ("processor : 0\nhart : 1\nisa : rv64imafdc\nuarch : sifive,u74-mc\n", "sifive,u74-mc", 1),
        ("processor : 0\ncpu : POWER9, altivec supported\n", "POWER9, altivec supported", 1),
    ],
)
def test_other_architectures(tmp_path: Path, text: str, model: str, cores: int) -> None:
    cpu = read_cpu(write(tmp_path, {"proc/cpuinfo": text}))
    assert (cpu.model, cpu.cores) == (model, cores)


def test_features_of_arm(tmp_path: Path) -> None:
    assert read_cpu(write(tmp_path, {"proc/cpuinfo": arm("0xd0c")})).features == ("asimd", "fp", "sve")


def test_a_system_without_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "sysctl"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\n[ "$*" = "-n machdep.cpu.brand_string" ] && echo "Apple M2 Pro"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    cpu = read_cpu(tmp_path)
    assert cpu.model == "Apple M2 Pro"
    assert cpu.cores == os.cpu_count()
    assert (cpu.features, cpu.threads_per_core, cpu.governor, cpu.boost) == ((), None, None, None)


def test_files_that_say_nothing(tmp_path: Path) -> None:
    cpu = read_cpu(write(tmp_path, {"proc/cpuinfo": "", f"{CPUS}/cpufreq/policy0/scaling_governor": ""}))
    assert cpu.governor is None
    assert cpu.model


def test_lists_of_processors() -> None:
    assert read_processors("0-3,8,10-11") == [range(4), range(8, 9), range(10, 12)]
    assert read_processors("") == []
