"""What a suite's build files call the rules with: one call per model and backend, the same in every build system.

A call carries all that the rule needs: neither the manifest nor the locks of other models are inputs of the build. It
is a function of the manifest and the locks alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dispatchgen.errors import LockError, ManifestError, Place, Problem, SubstitutionError
from dispatchgen.iree.flags import compile_flags, import_flags
from dispatchgen.lock.schema import Lock
from dispatchgen.lock.store import renew_command
from dispatchgen.manifest.suite import Backend, Model, Source, Suite
from dispatchgen.render.substitutions import substitution_arguments
from dispatchgen.selection.select import select_substitutions

#: A value of a keyword: a text, a number, a list of texts, or lists of texts by name.
Value = str | int | Sequence[str] | Mapping[str, Sequence[str]]
#: Keyword, in lower case, and its value. Keywords whose value is empty or the rule's own default are left out.
Arguments = Mapping[str, Value]

#: Keywords whose values name files of the suite's folder.
PATH_KEYWORDS = frozenset(("src", "parameters", "inputs", "data", "substitutes", "substitute_inputs"))


@dataclass(frozen=True)
class SuiteCall:
    """The call of `iree_dispatch_benchmark_suite` for a model on a backend."""

    model: Model
    backend: Backend
    arguments: Arguments

    @property
    def name(self) -> str:
        """Name of the suite. Two suites may have the same, where ids hold `_`."""
        return f"{self.model.id}_{self.backend.id}"


def suite_calls(suite: Suite, locks: Mapping[str, Lock]) -> list[SuiteCall]:
    """The calls for all models and backends, sorted by their ids.

    Args:
      suite: The manifest's whole.
      locks: Lock of each model, by the model's id.

    Raises:
      LockError: a lock is missing, or lists nothing for a backend that the model uses.
      SubstitutionError: what a substitution replaces is not in the lock, or is replaced twice.
    """
    pairs = sorted(
        ((model, suite.backend(backend_id)) for model in suite.models for backend_id in model.backends),
        key=lambda pair: (pair[0].id, pair[1].id),
    )
    _check_locks(suite, locks, pairs)
    calls = []
    problems: list[Problem] = []
    for model, backend in pairs:
        lock = locks[model.id]
        arguments = dict(_suite_arguments(suite, model, backend, lock))
        try:
            selected = select_substitutions(suite, model, backend, lock)
            arguments.update(substitution_arguments(model, backend, selected))
        except SubstitutionError as error:
            problems += error.problems
        calls.append(SuiteCall(model, backend, present(arguments)))
    if problems:
        raise SubstitutionError(*problems)
    return calls


def input_files(model: Model, backend: str) -> list[str]:
    """The files that substitutions and compile flags name, on a backend, as sorted paths in the suite's folder."""
    files = set(model.flag_files.get(backend, ()))
    for substitution in model.substitutions:
        if backend in substitution.backends:
            files.update(substitution.files.get(backend, (substitution.file,)), substitution.inputs)
    return sorted(files)


def read_files(call: SuiteCall) -> list[str]:
    """The files that steps of a call read besides its program, as paths in the suite's folder."""
    return [*input_files(call.model, call.backend.id), *_texts(call, "data")]


def command_arguments(call: SuiteCall) -> list[str]:
    """The arguments of the commands that build objects for a call."""
    return [text.partition("=")[2] for text in _texts(call, "object_commands")]


def _texts(call: SuiteCall, keyword: str) -> Sequence[str]:
    """The texts of a keyword."""
    texts = call.arguments.get(keyword, ())
    assert isinstance(texts, Sequence)
    return texts


def package_names(calls: Sequence[SuiteCall]) -> list[str]:
    """The Python packages that sources lie in, sorted."""
    return sorted({call.model.source.package for call in calls if call.model.source.package is not None})


def nightly_arguments(suite: Suite) -> Arguments:
    """What the call for all suites says of presets that are more than selections: their ids, and their baselines."""
    presets = sorted((preset for preset in suite.presets if preset.is_nightly), key=lambda preset: preset.id)
    return present(
        {
            "nightly": [preset.id for preset in presets],
            "baselines": [f"{preset.id}={preset.baseline}" for preset in presets if preset.baseline is not None],
        }
    )


def present(arguments: Mapping[str, Value | None]) -> Arguments:
    """The arguments that have a value; no number of ours is zero."""
    return {keyword: value for keyword, value in arguments.items() if value}


#: What yields each string of a call that a build system cannot carry, with the reason.
Refused = Callable[[SuiteCall], Iterator[tuple[str, str]]]


def refuse(suite: Suite, calls: Sequence[SuiteCall], system: str, refused: Refused) -> None:
    """Raises ManifestError with all strings of the calls that a build system cannot carry.

    Args:
      system: Name of the build system.
      refused: Yields each such string of a call, with the reason.
    """
    problems: dict[str, Problem] = {}
    for call in calls:
        for text, reason in refused(call):
            message = f"{system} cannot carry {text!r} of model {call.model.name!r} on backend {call.backend.name!r}"
            problems.setdefault(text, Problem(f"{message}: {reason}", Place(str(suite.manifest), call.model.line)))
    if problems:
        raise ManifestError(*problems.values())


def _suite_arguments(suite: Suite, model: Model, backend: Backend, lock: Lock) -> Mapping[str, Value | None]:
    run = model.run
    dispatches = sorted(lock.backends[backend.id].dispatches, key=lambda dispatch: dispatch.name)
    calls = [call for call in lock.calls if call.is_run]
    return {
        "name": f"{model.id}_{backend.id}",
        "model": model.id,
        "backend": backend.id,
        "src": _source(model.source),
        "lock": suite.lock_path(model).relative_to(suite.root).as_posix(),
        "import_flags": import_flags(model) if model.source.format == "onnx" else None,
        "compile_flags": compile_flags(model, backend),
        "inputs": model.flag_files.get(backend.id, ()),
        "data": lock.files,
        "dispatches": [dispatch.name for dispatch in dispatches],
        "archives": [dispatch.name for dispatch in dispatches if dispatch.archive],
        "calls": sorted(call.name for call in calls),
        "call_inputs": sorted(name for call in calls for name in call.files),
        "parameters": model.parameters,
        "devices": [f"{device.id}={device.uri}" for device in backend.devices],
        "run_flags": [f"{device.id}={flag}" for device in backend.devices for flag in device.run_flags],
        "device_labels": [f"{device.id}={label}" for device in backend.devices for label in sorted(set(device.labels))],
        "labels": sorted({*model.labels, *backend.labels}),
        "presets": sorted(preset.id for preset in suite.presets if preset.selects(model, backend)),
        "min_time": run.min_time,
        "repetitions": None if run.repetitions == 1 else run.repetitions,
        "batch_size": None if run.batch_size in (1, "auto") else run.batch_size,
        "drift": None if model.drift == "error" else model.drift,
    }


def _source(source: Source) -> str:
    """The source as the rules take it. A path that looks like a file of a package is made to look like a path."""
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
