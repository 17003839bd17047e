"""Narrowing a suite to what the command line asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from dispatchgen.errors import ManifestError, Place, Problem
from dispatchgen.manifest.names import did_you_mean, show
from dispatchgen.manifest.select_shapes import WantedShapes, parse_shapes
from dispatchgen.manifest.suite import Model, Preset, Suite


def select(
    suite: Suite,
    models: Sequence[str] = (),
    backends: Sequence[str] = (),
    preset: str | None = None,
    shapes: Sequence[str] = (),
) -> Suite:
    """The suite with these models and backends (by name or id), a preset (likewise) and shapes only.

    Shapes are meant by label, as it is written or with `_` for what ids cannot hold, or by sizes (`B=77,S=128`).

    An empty selection takes all. A model is left out where none of the backends or shapes is its own. Raises
    ManifestError for a name that there is not, and where nothing is left.
    """
    problems: list[Problem] = []
    place = Place(str(suite.manifest))

    def lookup(kind: str, wanted: Iterable[str], known: Sequence[tuple[str, str]]) -> set[str]:
        ids = {name_id: name_id for _, name_id in known} | dict(known)
        found = set()
        for name in dict.fromkeys(wanted):
            if name in ids:
                found.add(ids[name])
            else:
                hint = did_you_mean(name, [name for name, _ in known])
                problems.append(Problem(f"there is no {kind} {show(name)}", place, hint))
        return found

    model_ids = lookup("model", models, [(model.name, model.id) for model in suite.models])
    backend_ids = lookup("backend", backends, [(backend.name, backend.id) for backend in suite.backends])
    preset_ids = lookup("preset", [] if preset is None else [preset], [(p.name, p.id) for p in suite.presets])
    named = [model for model in suite.models if not models or model.id in model_ids]
    wanted = WantedShapes()
    try:
        wanted = parse_shapes(shapes, suite, named)
    except ManifestError as error:
        problems += error.problems
    if problems:
        raise ManifestError(*problems)
    chosen = next((p for p in suite.presets if p.id in preset_ids), None)

    def takes(model: Model, backend: str) -> bool:
        is_named = not backend_ids or backend in backend_ids
        return is_named and (chosen is None or chosen.selects(model, suite.backend(backend)))

    kept = [wanted.narrow(_narrow(model, takes)) for model in named]
    result = _with_models(suite, [model for model in kept if model is not None and model.backends])
    if not result.models:
        raise ManifestError(
            Problem("the selection is empty: no model has all that was asked for", place, "fewer options")
        )
    return result


def _narrow(model: Model, takes: Callable[[Model, str], bool]) -> Model:
    backends = tuple(backend for backend in model.backends if takes(model, backend))
    return replace(
        model,
        backends=backends,
        compile_flags={backend: model.compile_flags[backend] for backend in backends},
        flag_files={backend: files for backend, files in model.flag_files.items() if backend in backends},
    )


def _with_models(suite: Suite, models: Sequence[Model]) -> Suite:
    """The suite with these models, the backends that they use, and the presets that still select something."""
    used = {backend for model in models for backend in model.backends}
    result = replace(
        suite,
        models=tuple(models),
        backends=tuple(backend for backend in suite.backends if backend.id in used),
        presets=(),
    )

    def is_useful(preset: Preset) -> bool:
        return any(preset.selects(model, result.backend(backend)) for model in models for backend in model.backends)

    return replace(result, presets=tuple(preset for preset in suite.presets if is_useful(preset)))


def select_devices(suite: Suite, wanted: Sequence[str]) -> Suite:
    """The suite with these devices (by key or URI) only, and the backends and models that run on them.

    Raises ManifestError for a device that there is not.
    """
    if not wanted:
        return suite
    known = {name for backend in suite.backends for device in backend.devices for name in (device.id, device.uri)}
    place = Place(str(suite.manifest))
    unknown = [
        Problem(f"there is no device {show(name)} among those selected", place, did_you_mean(name, sorted(known)))
        for name in dict.fromkeys(wanted)
        if name not in known
    ]
    if unknown:
        raise ManifestError(*unknown)
    narrowed = (
        replace(backend, devices=tuple(d for d in backend.devices if d.id in wanted or d.uri in wanted))
        for backend in suite.backends
    )
    backends = tuple(backend for backend in narrowed if backend.devices)
    ids = {backend.id for backend in backends}
    models = (replace(model, backends=tuple(b for b in model.backends if b in ids)) for model in suite.models)
    return replace(suite, backends=backends, models=tuple(model for model in models if model.backends))
