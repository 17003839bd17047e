"""The suite: what a manifest means once every default is filled in, every shape expanded and every reference checked.

These are the types that the rest of dispatchgen works with. The manifest as people write it is in `schema`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from dispatchgen.manifest.fills import DataSettings, File, Fill

Bindings = Literal["isolated", "fused"]
#: What a build does where the dispatches of a model are no longer those of its lock.
Drift = Literal["error", "allow"]
#: What a dispatch finds in the caches that it is measured with.
Caches = Literal["warm", "cold", "both"]
SourceFormat = Literal["mlir", "mlirbc", "onnx"]
SubstitutionKind = Literal["source", "configuration", "object", "directory", "tuning_spec"]

#: Label of the only shape of a model whose inputs have no symbols.
STATIC = "static"


@dataclass(frozen=True)
class Device:
    """A device that benchmarks of a backend run on."""

    id: str  #: `[A-Za-z0-9_.-]+`, the key in the manifest.
    uri: str  #: The value of `--device=`, e.g. `local-sync` or `vulkan://GPU-<uuid>`.
    run_flags: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def driver(self) -> str:
        """Name of the HAL driver, e.g. `vulkan`."""
        return self.uri.split("://", 1)[0]


@dataclass(frozen=True)
class Backend:
    """A target device with its compile flags, and the devices to run on (none: compile only)."""

    name: str  #: As the user wrote it.
    id: str  #: `[A-Za-z0-9_]+`, used in targets, files and symbols.
    target_device: str  #: The value of `--iree-hal-target-device=`.
    local_backend: str | None = None  #: `--iree-hal-local-target-device-backends=` where target_device is `local`.
    compile_flags: tuple[str, ...] = ()
    devices: tuple[Device, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """Where a model's program is: a file below the suite's folder, or a file that an installed Python package ships."""

    path: str  #: POSIX path relative to the suite's folder, or to the package's folder.
    format: SourceFormat
    package: str | None = None  #: Import name of the Python package that ships the file.

    def __str__(self) -> str:
        return self.path if self.package is None else f"package:{self.package}/{self.path}"


@dataclass(frozen=True)
class Input:
    """An argument of an entry function: a tensor (`dims` may hold symbols) or, where `dims` is None, a scalar."""

    element: str  #: `f32`, `i64`, `bf16`, `index`...
    dims: tuple[int | str, ...] | None
    #: The values: one (repeated) or all of them in row-major order; a string is a symbol. None: `fill` says.
    data: tuple[int | float | str, ...] | None = None
    fill: Fill | None = None  #: What it holds where no values are given; None: zeros.


@dataclass(frozen=True)
class Shape:
    """A named binding of the symbols in a model's inputs."""

    label: str  #: `[A-Za-z0-9_]+`, e.g. `B42` or `static`.
    symbols: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class AutoShapes:
    """Shapes that are chosen when the lock is made, from the ranges that the program states."""

    limit: int  #: How many at most.
    symbols: Mapping[str, int] = field(default_factory=dict)  #: Sizes that are fixed.
    ranges: Mapping[str, range] = field(default_factory=dict)  #: What sizes can be, besides what the program states.


@dataclass(frozen=True)
class ProfileShapes:
    """Sizes that a profile holds: what dispatches were run with in a recorded run, and how often."""

    file: str  #: POSIX path relative to the suite's folder.
    label: str  #: `[A-Za-z0-9_]+`, stands for a shape in the names of benchmarks and calls.
    top: int | None = None  #: The most frequent sizes of each dispatch only, so many; None: all.


@dataclass(frozen=True)
class RunSettings:
    """How a benchmark is timed, as far as the manifest says; the rest is the default of what measures."""

    rounds: int | None = None
    precision: float | None = None  #: Half of the confidence interval, relative.
    min_time: str | None = None  #: `--benchmark_min_time=`, e.g. `0.5s` or `100x`.
    repetitions: int | None = None  #: In each round.
    batch_size: int | Literal["auto"] | None = None  #: Dispatches per timed call (`--batch_size=`).
    caches: Caches | None = None


@dataclass(frozen=True)
class Selector:
    """Which dispatches a substitution replaces: those that a text names."""

    text: str
    by: Literal["any", "operation"] = "any"  #: What it may name; `selection.select` has the rules.


@dataclass(frozen=True)
class Substitution:
    """Dispatches of a model replaced by substitutes, as a variant beside the original."""

    name: str  #: As the user wrote it.
    id: str  #: `[A-Za-z0-9_]+`, used in targets, files and symbols; no combination of the model has the same.
    kind: SubstitutionKind
    file: str  #: The substitute, or the folder of a `directory`: POSIX path relative to the suite's folder.
    #: The files of a `directory` by the backends that can take them, sorted, as paths like `file`.
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    selectors: tuple[Selector, ...] = ()  #: Empty for a `directory`, and for a `tuning_spec` of all dispatches.
    backends: tuple[str, ...] = ()  #: Ids of backends, of those that the model uses.
    command: tuple[str, ...] = ()  #: What builds the object, with `{source}` and `{output}`; empty: it is one already.
    inputs: tuple[str, ...] = ()  #: More files that the command reads, as paths like `file`.
    entry: str | None = None  #: Entry point of the object; None: its only one.
    workgroups: str | None = None  #: Affine map from the workload to the workgroup count; None: the original's.
    other_target: bool = False  #: Whether a substitute made for another target is accepted.
    tolerance: float | None = None  #: Largest error of the outputs, as `agreement.compare` has it; None: not compared.
    line: int | None = None  #: 1-based line in the manifest, for messages.


@dataclass(frozen=True)
class Combination:
    """Substitutions that are applied together, to the whole program."""

    name: str
    id: str
    members: tuple[str, ...]  #: Ids of substitutions that no two of replace one dispatch.
    backends: tuple[str, ...]  #: Ids of the backends that all members are for.
    line: int | None = None  #: 1-based line in the manifest, for messages.


@dataclass(frozen=True)
class Model:
    """A program with the shapes and backends it is benchmarked with."""

    name: str  #: As the user wrote it.
    id: str  #: `[A-Za-z0-9_]+`, used in targets, files and symbols.
    source: Source
    import_flags: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()  #: `[scope=]path` of parameter archives, paths relative to the suite's folder.
    entry: str | None = None  #: Entry function; None: every public function that dispatches.
    #: Inputs per entry function. The key None stands for "the entry function(s)" where the manifest names none;
    #: an empty mapping: the types are read from the program.
    inputs: Mapping[str | None, tuple[Input, ...]] = field(default_factory=dict)
    shapes: tuple[Shape, ...] = (Shape(STATIC),)
    auto: AutoShapes | None = None  #: More shapes, from the program.
    profiles: tuple[ProfileShapes, ...] = ()  #: More benchmarks, from recorded runs.
    #: Labels of the only shapes and profiles to run; None: all. Those of `auto` are known from the lock.
    wanted: frozenset[str] | None = None
    sizes: tuple[Shape, ...] = ()  #: Shapes that are run besides, though nothing lists them.
    #: Sizes that only the device computes, by the name of what computes them: a size, or a symbol.
    overrides: Mapping[str, int | str] = field(default_factory=dict)
    data: DataSettings = field(default_factory=DataSettings)
    backends: tuple[str, ...] = ()  #: Ids of backends.
    #: Flags of this model per backend id (model-wide flags first), to be added to the backend's own.
    compile_flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Files of the suite that the compile flags of a backend name, by its id: paths as they are written there.
    flag_files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    bindings: Bindings = "isolated"
    drift: Drift = "error"
    run: RunSettings = RunSettings()
    cold_memory: int | None = None  #: Bytes that cold benchmarks rotate over; None: there are none.
    substitutions: tuple[Substitution, ...] = ()
    combinations: tuple[Combination, ...] = ()
    line: int | None = None  #: 1-based line of the model in the manifest, for messages.

    @property
    def data_files(self) -> tuple[str, ...]:
        """The files of the suite that tell what buffers hold, and the profiles: sorted paths, as fills have them.

        What a profile keeps of buffers is in an archive beside it.
        """
        fills = [self.data.default, *(binding.fill for binding in self.data.bindings)]
        fills += [each.fill for inputs in self.inputs.values() for each in inputs if each.fill is not None]
        files = {fill.path for fill in fills if isinstance(fill, File)}
        profiles = {profile.file for profile in self.profiles}
        archives = {f"{file}.irpa" for file in profiles if self.data.is_recorded}
        return tuple(sorted(files | profiles | archives))


@dataclass(frozen=True)
class Preset:
    """A named selection; an empty field selects all."""

    name: str
    id: str
    models: tuple[str, ...] = ()  #: Ids.
    backends: tuple[str, ...] = ()  #: Ids.
    labels: tuple[str, ...] = ()  #: A model, backend or device that carries one of them.
    budget: float | None = None  #: Seconds that measuring it may take; None: no limit.
    baseline: str | None = None  #: Name of what it is compared with.
    fail_on: tuple[str, ...] | None = None  #: What of a comparison is a failure; None: the default of the job.
    run: Mapping[str, Any] = field(default_factory=dict)  #: Fields of RunSettings that go before the models' own.

    @property
    def is_nightly(self) -> bool:
        """Whether it is more than a selection: then the build has targets that do `dispatchgen nightly`."""
        return self.budget is not None or self.baseline is not None

    def selects(self, model: Model, backend: Backend) -> bool:
        """Whether the preset takes `model` on `backend`."""
        labels = {*model.labels, *backend.labels, *(label for device in backend.devices for label in device.labels)}
        return (
            (not self.models or model.id in self.models)
            and (not self.backends or backend.id in self.backends)
            and (not self.labels or not labels.isdisjoint(self.labels))
        )


@dataclass(frozen=True)
class Threshold:
    """How much slower than a baseline some benchmarks may get."""

    benchmarks: str  #: Pattern of their names.
    model: str | None  #: Id of the model; None: of any.
    limit: float  #: As a part of the baseline's time; infinite: any slowdown.
    line: int | None = None  #: 1-based line in the manifest, for messages.


@dataclass(frozen=True)
class Suite:
    """A manifest's whole."""

    manifest: Path  #: The manifest's path as it was given.
    backends: tuple[Backend, ...]
    models: tuple[Model, ...]
    presets: tuple[Preset, ...] = ()
    thresholds: tuple[Threshold, ...] = ()  #: Of several that fit a benchmark, the first counts.

    @property
    def root(self) -> Path:
        """The suite's folder: paths in the manifest are relative to it."""
        return self.manifest.parent

    def relative(self, path: Path) -> str | None:
        """A path as the manifest has it, relative to the suite's folder; None: it lies outside."""
        resolved, root = path.resolve(), self.root.resolve()
        return resolved.relative_to(root).as_posix() if resolved.is_relative_to(root) else None

    def backend(self, backend_id: str) -> Backend:
        """The backend of that id; KeyError if there is none."""
        for backend in self.backends:
            if backend.id == backend_id:
                return backend
        raise KeyError(backend_id)

    def lock_path(self, model: Model) -> Path:
        """Where the model's lock file is."""
        return self.root / "locks" / f"{model.id}.json"
