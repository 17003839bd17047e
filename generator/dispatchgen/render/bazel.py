"""The text of a suite's BUILD.bazel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dispatchgen.errors import ManifestError, Place, Problem
from dispatchgen.lock.schema import Lock
from dispatchgen.manifest.suite import Preset, Suite
from dispatchgen.render.arguments import (
    PATH_KEYWORDS,
    SuiteCall,
    Value,
    nightly_arguments,
    package_names,
    present,
    read_files,
    refuse,
    suite_calls,
)
from dispatchgen.render.starlark import path_refusal, starlark_argument
from dispatchgen.render.template import template
from dispatchgen.render.text import control_refusal

#: Keywords of rules that buildifier sorts in front of all others; `name` is the first of them.
_FIRST = ("name", "src")


def render_bazel(suite: Suite, locks: Mapping[str, Lock]) -> str:
    """The text of the suite's BUILD.bazel.

    Args:
      suite: The manifest's whole.
      locks: Lock of each model, by the model's id.

    Raises:
      LockError: a lock is missing, or lists nothing for a backend that the model uses.
      ManifestError: a string in the manifest that Bazel cannot carry, or two suites of one name.
    """
    calls = suite_calls(suite, locks)
    _check_manifest(suite)
    _check_names(suite, calls)
    refuse(suite, calls, "Bazel", _refused)
    setup: dict[str, Value] = {
        "name": "iree-dispatch-benchmarks",
        "manifest": suite.manifest.name,
        "models": _by_model(calls),
        "packages": package_names(calls),
        "presets": {preset.id: _selected(preset, calls) for preset in suite.presets},
        **nightly_arguments(suite),
    }
    build_file = template("bazel", "BUILD.bazel.jinja", {"starlark": starlark_argument})
    return build_file.render(
        manifest=suite.manifest.name,
        setup=_sorted(present(setup)),
        calls=[_sorted(call.arguments) for call in calls],
    )


def _by_model(calls: Sequence[SuiteCall]) -> dict[str, list[str]]:
    """Id of each model -> names of its suites."""
    models: dict[str, list[str]] = {}
    for call in calls:
        models.setdefault(call.model.id, []).append(call.name)
    return models


def _selected(preset: Preset, calls: Sequence[SuiteCall]) -> list[str]:
    return [call.name for call in calls if preset.selects(call.model, call.backend)]


def _sorted(arguments: Mapping[str, Value]) -> list[tuple[str, Value]]:
    """The arguments in the order of buildifier."""
    return sorted(arguments.items(), key=lambda item: (item[0] not in _FIRST, item[0]))


def _check_names(suite: Suite, calls: Sequence[SuiteCall]) -> None:
    """Raises ManifestError where two suites have one name: they would be one target."""
    by_name: dict[str, list[SuiteCall]] = {}
    for call in calls:
        by_name.setdefault(call.name, []).append(call)
    problems = []
    for name, same in by_name.items():
        if len(same) > 1:
            which = " and ".join(f"model {call.model.name!r} on backend {call.backend.name!r}" for call in same)
            message = f"{which} have one name in Bazel: {name!r}"
            problems.append(Problem(message, Place(str(suite.manifest), same[-1].model.line), "rename one of them"))
    if problems:
        raise ManifestError(*problems)


def _check_manifest(suite: Suite) -> None:
    """Raises ManifestError where the manifest's name cannot be that of a target."""
    reason = path_refusal(suite.manifest.name)
    if reason is not None:
        raise ManifestError(Problem(f"Bazel cannot read a manifest of this name: {reason}", Place(str(suite.manifest))))


def _refused(call: SuiteCall) -> Iterator[tuple[str, str]]:
    """Each string of a call that Bazel cannot carry, with the reason."""
    parameters = [parameter_path(parameter) for parameter in call.model.parameters]
    paths = [call.model.source.path, *parameters, *read_files(call)]
    for path in paths:
        reason = path_refusal(path)
        if reason is not None:
            yield path, reason
    for keyword, value in call.arguments.items():
        texts = [value] if isinstance(value, str) else () if isinstance(value, int) else value
        for text in texts if keyword not in PATH_KEYWORDS else ():
            reason = control_refusal(text)
            if reason is not None:
                yield text, reason


def parameter_path(parameter: str) -> str:
    """The path in `[scope=]path`: like the tools of IREE, the rules take what precedes the first `=` for the scope."""
    scope, equals, path = parameter.partition("=")
    return path if equals else scope
