"""From the manifest as written to the suite it means: defaults, shapes expanded, references and files checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dispatchgen.manifest import sources
from dispatchgen.manifest.checks import Checks, Path_
from dispatchgen.manifest.inputs import data_problem, symbols_of, why_not_a_symbol
from dispatchgen.manifest.names import MAX_NAME, did_you_mean, make_device_id, make_id, misspelled_driver, show
from dispatchgen.manifest.quantities import parse_duration, parse_percent
from dispatchgen.manifest.resolve_caches import with_cold_memory
from dispatchgen.manifest.resolve_data import resolve_data, resolve_inputs
from dispatchgen.manifest.resolve_substitutions import SubstitutionResolver
from dispatchgen.manifest.schema import (
    DEFAULT_BACKENDS,
    BackendSection,
    DeviceSection,
    ModelSection,
    PresetSection,
    RunSection,
)
from dispatchgen.manifest.shapes import expand_shapes
from dispatchgen.manifest.suite import (
    AutoShapes,
    Backend,
    Device,
    Input,
    Model,
    Preset,
    ProfileShapes,
    RunSettings,
    Shape,
    Source,
    Suite,
    Threshold,
)

#: Most shapes of all models together.
MAX_ALL_SHAPES = 100_000
#: Ids of models that would meet a folder of the build tree (compared without case).
_TAKEN_IDS = ("cmakefiles", "results", "testing")


class Resolver(Checks):
    """Turns a manifest into a suite and collects what is wrong on the way."""

    def suite(self) -> Suite:
        """The suite; what is wrong is in `problems`, and left out here."""
        lines = self.document.lines(("models",))
        sections = self.manifest.backends
        if sections is None:
            sections = {name: BackendSection.model_validate(backend) for name, backend in DEFAULT_BACKENDS.items()}
        self.check_ids(("backends", name) for name in sections)
        self.check_ids((("models", name) for name in self.manifest.models), _TAKEN_IDS)
        self.check_ids(("presets", name) for name in self.manifest.presets)
        backends = tuple(self._backend(name, section) for name, section in sections.items())
        models = tuple(self._model(name, section, backends, lines) for name, section in self.manifest.models.items())
        if sum(len(model.shapes) for model in models) > MAX_ALL_SHAPES:
            self.add(("models",), f"too many shapes: at most {MAX_ALL_SHAPES} in all models together are allowed")
        self._check_calls(models)
        suite = Suite(self.path, backends, models)
        presets = tuple(self._preset(name, section, suite) for name, section in self.manifest.presets.items())
        models = with_cold_memory(self, replace(suite, presets=presets))
        return Suite(self.path, backends, models, presets, self._thresholds(models))

    # Names.

    def _check_calls(self, models: Sequence[Model]) -> None:
        """Build targets are named `<model>_<backend>`."""
        first: dict[str, Model] = {}
        for model in models:
            for backend in model.backends:
                other = first.setdefault(f"{model.id}_{backend}".casefold(), model)
                if other.id.casefold() != model.id.casefold():
                    target = show(f"{model.id}_{backend}")
                    why = f"{show(model.name)} and {show(other.name)} both need the target {target}"
                    self.add(("models", model.name), why, "rename one of the models or backends", at_key=True)

    # Backends.

    def _backend(self, name: str, section: BackendSection) -> Backend:
        path: Path_ = ("backends", name)
        if section.target_device == "local" and section.local_backend is None:
            hint = "`local_backend: llvm-cpu` or `local_backend: vmvx`"
            self.add(path, "the key `local_backend` is missing: `target_device: local` needs it", hint)
        if section.target_device != "local" and section.local_backend is not None:
            message = f"`local_backend` goes with `target_device: local` only, not with {show(section.target_device)}"
            self.add((*path, "local_backend"), message, "remove it")
        return Backend(
            name,
            make_id(name),
            section.target_device,
            section.local_backend,
            tuple(section.compile_flags),
            self._devices((*path, "devices"), section.devices),
            tuple(section.labels),
        )

    def _devices(self, path: Path_, section: list[str] | dict[str, DeviceSection]) -> tuple[Device, ...]:
        if isinstance(section, list):
            entries: list[tuple[str | int, str, DeviceSection]] = [
                (index, uri, DeviceSection()) for index, uri in enumerate(section)
            ]
        else:
            entries = [(name, name, device) for name, device in section.items()]
        devices: dict[str, Device] = {}
        for key, name, device in entries:
            device_id = make_device_id(name)
            if not device_id or len(device_id) > MAX_NAME:
                self.add((*path, key), f"a device's name has 1 to {MAX_NAME} characters", at_key=True)
            elif device_id.casefold() in devices:
                self.add((*path, key), f"the device {show(device_id)} is there twice", at_key=True)
            elif device.uri is None and (";" in name or not name.isprintable()):
                message = "neither `;` nor line ends nor control characters are allowed in a device's URI"
                self.add((*path, key), message, "give the device a `uri`", at_key=True)
            elif (driver := misspelled_driver(device.uri or name)) is not None:
                # The runtime calls it absent, and an absent device is skipped: nothing would be measured, in silence.
                message = f"{show(device.uri or name)} names no HAL driver of IREE"
                self.add((*path, key), message, show(driver), at_key=True)
            else:
                devices[device_id.casefold()] = Device(
                    device_id, device.uri or name, tuple(device.run_flags), tuple(device.labels)
                )
        return tuple(devices.values())

    # Models.

    def _model(self, name: str, section: ModelSection, backends: Sequence[Backend], lines: Mapping[str, int]) -> Model:
        path: Path_ = ("models", name)
        used = self._backends_of(path, section, backends)
        inputs = resolve_inputs(self, path, section)
        run = _merge_run(self.manifest.run, section.run)
        source = self._source(path, section)
        if section.import_flags and source.format != "onnx":
            self.add((*path, "import_flags"), "`import_flags` are for `.onnx` sources only", "remove them")
        if isinstance(section.inputs, dict) and section.entry is not None:
            for function in section.inputs.keys() - {section.entry}:
                message = f"inputs of {show(function)}, but `entry` is {show(section.entry)}"
                self.add((*path, "inputs", function), message, "remove one of them", at_key=True)
        flags = self._compile_flags(path, section, backends, used)
        variants = SubstitutionResolver(self, path, [backend for backend in backends if backend.id in used])
        substitutions = variants.substitutions(section.substitutions)
        shapes, auto, profiles = self._shapes(path, section, inputs)
        return Model(
            name=name,
            id=make_id(name),
            source=source,
            import_flags=tuple(section.import_flags),
            parameters=self._parameters(path, section),
            entry=section.entry,
            inputs=inputs,
            shapes=shapes,
            auto=auto,
            profiles=profiles,
            overrides=section.overrides,
            data=resolve_data(self, (*path, "data"), section.data),
            backends=used,
            compile_flags=flags,
            flag_files=self._flag_files(backends, flags),
            labels=tuple(section.labels),
            bindings=section.bindings or self.manifest.bindings,
            drift=section.drift or self.manifest.drift,
            run=run,
            substitutions=substitutions,
            combinations=variants.combinations(section.combinations, substitutions),
            line=lines.get(name),
        )

    def _backends_of(self, path: Path_, section: ModelSection, backends: Sequence[Backend]) -> tuple[str, ...]:
        if section.backends is None:
            return tuple(backend.id for backend in backends)
        known = {backend.name: backend.id for backend in backends}
        return self.ids("backends", (*path, "backends"), section.backends, known)

    def _compile_flags(
        self, path: Path_, section: ModelSection, backends: Sequence[Backend], used: Sequence[str]
    ) -> dict[str, tuple[str, ...]]:
        flags = {backend: tuple(section.compile_flags) for backend in used}
        known = {backend.name: backend.id for backend in backends}
        by_any = {backend.id: backend.id for backend in backends} | known
        for name, more in section.backend_flags.items():
            where = (*path, "backend_flags", name)
            if name in self.broken.get("backends", ()):
                continue
            if name not in by_any:
                self.add(where, f"there is no backend {show(name)}", did_you_mean(name, known), at_key=True)
            elif by_any[name] not in flags:
                self.add(where, f"the model does not use the backend {show(name)}", "add it to `backends`", at_key=True)
            else:
                flags[by_any[name]] += tuple(more)
        return flags

    def _flag_files(
        self, backends: Sequence[Backend], flags: Mapping[str, Sequence[str]]
    ) -> dict[str, tuple[str, ...]]:
        """The files of the suite that flags name, by backend: the build has to notice when they change."""
        found = {}
        for backend in backends:
            every = [*backend.compile_flags, *flags[backend.id]] if backend.id in flags else []
            # `--flag=path`, and `--flag=scope=path` of parameter archives.
            values = {value for flag in every for value in (flag.partition("=")[2], flag.rpartition("=")[2]) if value}
            if files := {file for value in values if (file := sources.suite_file(value, self.root)) is not None}:
                found[backend.id] = tuple(sorted(files))
        return found

    def _source(self, path: Path_, section: ModelSection) -> Source:
        source = section.source
        text, package = (source, None) if isinstance(source, str) else (source.path, source.package)
        where = (*path, "source") if package is None else (*path, "source", "path")
        if package is not None and not sources.package_folders(package):
            hint = "install it for the Python that runs dispatchgen"
            self.add((*path, "source", "package"), f"there is no Python package {show(package)}", hint)
            return Source(text, "mlir", package)
        fallback = Source(text, "mlir", package)

        def check() -> Source:
            form = sources.source_format(text)
            if package is not None:
                return Source(sources.checked_package_path(package, text), form, package)
            return Source(sources.checked_suite_path(text, self.root, allow_outside=self.manifest.allow_outside), form)

        return self.or_problem(where, check, fallback)

    def _parameters(self, path: Path_, section: ModelSection) -> tuple[str, ...]:
        result = []
        for index, text in enumerate(section.parameters):
            scope, equals, file = text.rpartition("=")
            result.append(f"{scope}{equals}{self.file((*path, 'parameters', index), file)}")
        return tuple(result)

    def _shapes(
        self, path: Path_, section: ModelSection, inputs: Mapping[str | None, tuple[Input, ...]]
    ) -> tuple[tuple[Shape, ...], AutoShapes | None, tuple[ProfileShapes, ...]]:
        every = [value for values in inputs.values() for value in values]
        of_inputs = list(dict.fromkeys(symbols_of(every)))
        overrides = [name for name in self._override_symbols(path, section) if name not in of_inputs]
        symbols = list(dict.fromkeys([*of_inputs, *overrides]))
        found = expand_shapes(section.shapes, symbols, has_inputs=bool(inputs), overrides=overrides)
        for problem in found.problems:
            self.add((*path, "shapes", *problem.path), problem.message, problem.hint, at_key=problem.at_key)
        # `dispatchgen capture` reads the manifest before it writes them.
        profiles = tuple(
            replace(profile, file=self.place((*path, "shapes", *where), profile.file))
            for where, profile in zip(found.files, found.profiles, strict=True)
        )
        for value in every if not found.problems else []:
            wrong = ((shape, data_problem(value, shape.symbols)) for shape in found.shapes if value.data is not None)
            if problem_at := next(((shape, text) for shape, text in wrong if text), None):
                self.add((*path, "inputs"), f"{problem_at[1]} (at the shape {show(problem_at[0].label)})")
        return tuple(found.shapes), found.auto, profiles

    def _override_symbols(self, path: Path_, section: ModelSection) -> list[str]:
        """The symbols that stand for sizes which only the device computes."""
        symbols = []
        for name, value in section.overrides.items():
            if isinstance(value, str):
                symbols.append(value)
                if problem := why_not_a_symbol(value):
                    self.add((*path, "overrides", name), problem, "another name, in `shapes` too")
        return symbols

    # Presets.

    def _preset(self, name: str, section: PresetSection, suite: Suite) -> Preset:
        path: Path_ = ("presets", name)
        before = len(self.problems)
        known_models = {model.name: model.id for model in suite.models}
        known_backends = {backend.name: backend.id for backend in suite.backends}
        preset = Preset(
            name,
            make_id(name),
            self.ids("models", (*path, "models"), section.models or (), known_models),
            self.ids("backends", (*path, "backends"), section.backends or (), known_backends),
            tuple(dict.fromkeys(section.labels or ())),
            budget=None if section.budget is None else parse_duration(section.budget),
            baseline=section.baseline,
            fail_on=None if section.fail_on is None else tuple(dict.fromkeys(section.fail_on)),
            run={key: value for key, value in vars(_merge_run(RunSection(), section.run)).items() if value is not None},
        )
        if section.fail_on is not None and section.baseline is None:
            self.add((*path, "fail_on"), "it names no `baseline`: there is nothing to compare with", "baseline: main")
        labels = {label for model in suite.models for label in model.labels}
        for backend in suite.backends:
            labels.update(backend.labels, *(device.labels for device in backend.devices))
        if not any(self.broken.values()):
            for index, label in enumerate(section.labels or ()):
                if label not in labels:
                    hint = did_you_mean(label, sorted(labels))
                    self.add((*path, "labels", index), f"nothing has the label {show(label)}", hint)
            is_empty = not any(
                preset.selects(model, suite.backend(backend)) for model in suite.models for backend in model.backends
            )
            if is_empty and len(self.problems) == before:
                self.add(path, f"the preset {show(name)} selects nothing: no model on a backend fits all its keys")
        return preset

    # Thresholds.

    def _thresholds(self, models: Sequence[Model]) -> tuple[Threshold, ...]:
        result = []
        known = {model.name: model.id for model in models}
        by_any = {model.id: model.id for model in models} | known
        for index, section in enumerate(self.manifest.thresholds):
            path: Path_ = ("thresholds", index)
            model = None if section.model is None else by_any.get(section.model)
            if model is None and section.model is not None and section.model not in self.broken.get("models", ()):
                message = f"there is no model {show(section.model)}"
                self.add((*path, "model"), message, did_you_mean(section.model, known))
            line = self.document.place((*path, "benchmarks")).line
            result.append(Threshold(section.benchmarks, model, section.limit, line))
        return tuple(result)


def _merge_run(defaults: RunSection, own: RunSection) -> RunSettings:
    """The run settings of a model: its own, for the rest those of all."""

    def chosen(key: str) -> Any:
        found = getattr(own, key)
        return getattr(defaults, key) if found is None else found

    precision = chosen("precision")
    return RunSettings(
        rounds=chosen("rounds"),
        precision=None if precision is None else parse_percent(precision),
        min_time=chosen("min_time"),
        repetitions=chosen("repetitions"),
        batch_size=chosen("batch_size"),
        caches=chosen("caches"),
    )
