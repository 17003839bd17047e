"""Where and with what it was measured, as data: a part of the results."""

from __future__ import annotations

from pydantic import Field

from dispatchgen.extract.schema import Data


class Host(Data):
    """What Google Benchmark reports of the machine."""

    cpus: int
    mhz_per_cpu: int
    cpu_scaling_enabled: bool | None = None
    aslr_enabled: bool | None = None
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

    cpu: Cpu
    memory_bytes: int
    system: str = Field(
        description="Operating system and the release of its kernel, without the patch level: `Linux 6.1`."
    )
    virtual_machine: str | None = Field(description="`kvm`, `vmware`, ...; null: none, as far as can be told.")
    container: str | None = Field(description="`docker`, `podman`, ...; null: none, as far as can be told.")
    devices: tuple[DeviceFound, ...]


class Software(Data):
    """What is measured, and by what."""

    compiler: str = Field(description="Version text of iree-compile.")
    runtime: str | None = Field(
        description="Version of the wheel that iree-benchmark-module is from; null: not from a wheel."
    )
    dispatchgen: str = Field(description="Version of dispatchgen.")
    python: str
    kernel: str = Field(description="Release of the system's kernel.")
    flags: dict[str, str] = Field(description="SHA-256 of the compile flags, by `<model>/<backend>`.")
    commit: str | None = Field(description="Of the repository that the manifest is in; null: none.")
    dirty: bool | None = Field(description="Whether files of it were edited and not committed; null: no repository.")


class Environment(Data):
    """Where and with what it was measured."""

    machine: Machine
    software: Software
    host: Host | None = Field(description="Null where nothing was measured.")
    host_name: str | None = Field(default=None, description="Only where it was asked for.")
    pinned: tuple[int, ...] = Field(default=(), description="Processors that benchmarks were kept on; empty: any.")
    uncontrolled: tuple[str, ...] = Field(
        default=(), description="In words, what may have changed times and was not controlled."
    )
