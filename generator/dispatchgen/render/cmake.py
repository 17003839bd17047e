"""The text of a suite's CMakeLists.txt.

One call of the rule per model and backend, carrying all that the rule needs: neither the manifest nor the locks of
other models are inputs of the build. The text is a function of the manifest and the locks alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from dispatchgen.errors import LockError, ManifestError, Place, Problem
from dispatchgen.iree.flags import compile_flags, import_flags
from dispatchgen.lock.schema import Lock
from dispatchgen.lock.store import renew_command
from dispatchgen.manifest.suite import Backend, Model, Source, Suite
from dispatchgen.render.quote import cmake_argument, cmake_comment, ctest_refusal, path_refusal, refusal
from dispatchgen.resources import genrules_dir

#: Keyword of the rule and its values, in the order of the call.
_Arguments = list[tuple[str, Sequence[str]]]

#: Keywords whose values are arguments or properties of tests.
_OF_TESTS = frozenset(("DEVICES", "RUN_FLAGS", "DEVICE_LABELS", "LABELS", "PARAMETERS"))


def render_cmake(suite: Suite, locks: Mapping[str, Lock], *, package_dir: str | None = None) -> str:
    """The text of the suite's CMakeLists.txt.

    Args:
      suite: The manifest's whole.
      locks: Lock of each model, by the model's id.
      package_dir: Path of the suite's folder relative to the folder of the CMakeLists.txt, where that is another one.
        None: paths are relative to DISPATCHGEN_PACKAGE_DIR or the CMakeLists.txt's own folder.

    Raises:
      LockError: a lock is missing, or lists nothing for a backend that the model uses.
      ManifestError: a string in the manifest that CMake cannot carry.
    """
    pairs = sorted(
        ((model, suite.backend(backend_id)) for model in suite.models for backend_id in model.backends),
        key=lambda pair: (pair[0].id, pair[1].id),
    )
    _check_locks(suite, locks, pairs)
    calls = [_present(_suite_arguments(suite, model, backend, locks[model.id])) for model, backend in pairs]
    setup = _present(
        [
            ("PACKAGES", sorted({model.source.package for model, _ in pairs if model.source.package is not None})),
            ("PRESETS", sorted(preset.id for preset in suite.presets)),
        ]
    )
    _check_strings(suite, pairs, calls)
    environment = _environment()
    template = environment.get_template("CMakeLists.txt.jinja")
    return template.render(manifest=suite.manifest.name, package_dir=package_dir, setup=setup, calls=calls)


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(genrules_dir() / "cmake" / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters["cmake"] = cmake_argument
    environment.filters["comment"] = cmake_comment
    return environment


def _suite_arguments(suite: Suite, model: Model, backend: Backend, lock: Lock) -> _Arguments:
    run = model.run
    is_imported = model.source.format == "onnx"
    return [
        ("NAME", [f"{model.id}_{backend.id}"]),
        ("MODEL", [model.id]),
        ("BACKEND", [backend.id]),
        ("SRC", [_source(model.source)]),
        ("LOCK", [suite.lock_path(model).relative_to(suite.root).as_posix()]),
        ("IMPORT_FLAGS", import_flags(model) if is_imported else ()),
        ("COMPILE_FLAGS", compile_flags(model, backend)),
        ("DISPATCHES", sorted(dispatch.name for dispatch in lock.backends[backend.id].dispatches)),
        ("CALLS", sorted(call.name for call in lock.calls)),
        ("PARAMETERS", model.parameters),
        ("DEVICES", [f"{device.id}={device.uri}" for device in backend.devices]),
        ("RUN_FLAGS", [f"{device.id}={flag}" for device in backend.devices for flag in device.run_flags]),
        (
            "DEVICE_LABELS",
            [f"{device.id}={label}" for device in backend.devices for label in sorted(set(device.labels))],
        ),
        ("LABELS", sorted({*model.labels, *backend.labels})),
        ("PRESETS", sorted(preset.id for preset in suite.presets if preset.selects(model, backend))),
        ("MIN_TIME", [] if run.min_time is None else [run.min_time]),
        ("REPETITIONS", [] if run.repetitions == 1 else [str(run.repetitions)]),
        ("BATCH_SIZE", [] if run.batch_size == 1 else [str(run.batch_size)]),
    ]


def _present(arguments: _Arguments) -> _Arguments:
    return [(keyword, values) for keyword, values in arguments if values]


def _source(source: Source) -> str:
    """The SRC argument. A path that looks like a file of a package is made to look like a path."""
    text = str(source)
    return f"./{text}" if source.package is None and text.startswith("package:") else text


def _check_locks(suite: Suite, locks: Mapping[str, Lock], pairs: Sequence[tuple[Model, Backend]]) -> None:
    problems = []
    for model, backend in pairs:
        lock = locks.get(model.id)
        if lock is None:
            message = f"model {model.name!r} has no lock file"
        elif backend.id not in lock.backends:
            message = f"the lock of model {model.name!r} lists nothing for backend {backend.name!r}"
        else:
            continue
        problems.append(
            Problem(message, Place(str(suite.lock_path(model))), renew_command(suite.lock_path(model), suite.manifest))
        )
    if problems:
        raise LockError(*problems)


def _check_strings(suite: Suite, pairs: Sequence[tuple[Model, Backend]], calls: Sequence[_Arguments]) -> None:
    """Raises ManifestError for strings that CMake cannot carry."""
    problems: dict[str, Problem] = {}
    for (model, backend), call in zip(pairs, calls, strict=True):
        for text, reason in _refused(model, call):
            message = f"CMake cannot carry {text!r} of model {model.name!r} on backend {backend.name!r}: {reason}"
            problems.setdefault(text, Problem(message, Place(str(suite.manifest), model.line)))
    if problems:
        raise ManifestError(*problems.values())


def _refused(model: Model, call: _Arguments) -> Iterator[tuple[str, str]]:
    """Each string of a call that CMake cannot carry, with the reason."""
    reason = path_refusal(model.source.path)
    if reason is not None:
        yield model.source.path, reason
    for keyword, values in call:
        for text in values if keyword != "SRC" else ():
            reason = ctest_refusal(text) if keyword in _OF_TESTS else refusal(text)
            if reason is not None:
                yield text, reason
