"""Where and with what it was measured, as data: a part of the results."""

from __future__ import annotations

from pydantic import Field

from dispatchgen.extract.schema import Data


class Host(Data):
    """What Google Benchmark reports of the machine."""

    cpus: int = Field(description="Number of processors.")
    mhz_per_cpu: int = Field(description="Their clock.")
    cpu_scaling_enabled: bool | None = Field(default=None, description="Whether the clock changes. Null: not told.")
    aslr_enabled: bool | None = Field(default=None, description="Whether addresses are random. Null: not told.")
    load_avg: tuple[float, ...] = Field(default=(), description="Load average before the first benchmark.")


class Cpu(Data):
    """The processor."""

    model: str = Field(description="Its name, as the system has it.")
    architecture: str = Field(description="`x86_64`, `aarch64`, ...")
    features: tuple[str, ...] = Field(description="Instruction sets and the like, sorted.")
    cores: int = Field(description="Processors that the system uses.")
    threads_per_core: int | None = Field(default=None, description="Null: not told.")
    governor: str | None = Field(default=None, description="Of frequency scaling; null: not readable.")
    boost: bool | None = Field(
        default=None, description="Whether it may exceed its base frequency; null: not readable."
    )


class DeviceFound(Data):
    """A device that benchmarks ran on, as its driver tells of it."""

    id: str = Field(description="Key of the device in the manifest.")
    driver: str = Field(description="IREE's driver: `local-sync`, `vulkan`, ...")
    name: str | None = Field(description="What the driver calls it; null: nothing.")
    driver_version: str | None = Field(default=None, description="Null: not told.")


class Machine(Data):
    """What times depend on besides the programs: results of different machines are not compared."""

    cpu: Cpu = Field(description="The processor.")
    memory_bytes: int = Field(description="Of the machine, in whole GiB.")
    system: str = Field(
        description="Operating system and the release of its kernel, without the patch level: `Linux 6.1`."
    )
    virtual_machine: str | None = Field(description="`kvm`, `vmware`, ...; null: none, as far as can be told.")
    container: str | None = Field(description="`docker`, `podman`, ...; null: none, as far as can be told.")
    devices: tuple[DeviceFound, ...] = Field(description="The devices of the manifest that were looked at.")


class Software(Data):
    """What is measured, and by what."""

    compiler: str = Field(description="Version text of iree-compile.")
    runtime: str | None = Field(
        description="Version of the wheel that iree-benchmark-module is from; null: not from a wheel."
    )
    dispatchgen: str = Field(description="Version of dispatchgen.")
    python: str = Field(description="Version of Python.")
    kernel: str = Field(description="Release of the system's kernel.")
    flags: dict[str, str] = Field(description="SHA-256 of the compile flags, by `<model>/<backend>`.")
    commit: str | None = Field(description="Of the repository that the manifest is in; null: none.")
    dirty: bool | None = Field(description="Whether files of it were edited and not committed; null: no repository.")


class Environment(Data):
    """Where and with what it was measured."""

    machine: Machine = Field(description="The machine; results of different ones are not compared.")
    software: Software = Field(description="What was measured, and by what.")
    host: Host | None = Field(description="Null where nothing was measured.")
    host_name: str | None = Field(default=None, description="Only where it was asked for.")
    pinned: tuple[int, ...] = Field(default=(), description="Processors that benchmarks were kept on; empty: any.")
    uncontrolled: tuple[str, ...] = Field(
        default=(), description="In words, what may have changed times and was not controlled."
    )
