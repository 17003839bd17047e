"""The text of a suite's CMakeLists.txt, and of what makes its folder a plug-in of IREE's build."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dispatchgen.errors import ManifestError, Place, Problem
from dispatchgen.lock.schema import Lock
from dispatchgen.manifest.suite import Suite
from dispatchgen.render.arguments import (
    PATH_KEYWORDS,
    Arguments,
    SuiteCall,
    Value,
    command_arguments,
    nightly_arguments,
    package_names,
    present,
    read_files,
    refuse,
    suite_calls,
)
from dispatchgen.render.quote import (
    cmake_argument,
    command_refusal,
    ctest_refusal,
    path_refusal,
    refusal,
)
from dispatchgen.render.template import template

#: Keywords whose values are arguments or properties of tests.
_OF_TESTS = frozenset(("devices", "run_flags", "device_labels", "labels", "parameters"))


def render_cmake(
    suite: Suite, locks: Mapping[str, Lock], *, package_dir: str | None = None, is_top: bool = False
) -> str:
    """The text of the suite's CMakeLists.txt.

    Args:
      suite: The manifest's whole.
      locks: Lock of each model, by the model's id.
      package_dir: Path of the suite's folder relative to the folder of the CMakeLists.txt, where that is another one.
        None: paths are relative to DISPATCHGEN_PACKAGE_DIR or the CMakeLists.txt's own folder.
      is_top: Whether the file says nothing where it is a part of another project.

    Raises:
      LockError: a lock is missing, or lists nothing for a backend that the model uses.
      ManifestError: a string in the manifest that CMake cannot carry.
    """
    calls = suite_calls(suite, locks)
    refuse(suite, calls, "CMake", _refused)
    return template("cmake", "CMakeLists.txt.jinja", {"cmake": cmake_argument}).render(
        manifest=suite.manifest.name,
        package_dir=package_dir,
        is_top=is_top,
        setup=_keywords(_setup_arguments(suite, calls)),
        calls=[_keywords(call.arguments) for call in calls],
    )


def _setup_arguments(suite: Suite, calls: Sequence[SuiteCall]) -> Arguments:
    """The arguments of the call for all suites. Raises ManifestError where CMake cannot carry the manifest's name."""
    nightly = nightly_arguments(suite)
    reason = (command_refusal(suite.manifest.name) or ctest_refusal(suite.manifest.name)) if nightly else None
    if reason is not None:
        message = f"CMake cannot carry the manifest's name {suite.manifest.name!r}: {reason}"
        raise ManifestError(Problem(message, Place(str(suite.manifest))))
    return present(
        {
            "manifest": suite.manifest.name if nightly else None,
            "packages": package_names(calls),
            "presets": sorted(preset.id for preset in suite.presets),
            **nightly,
        }
    )


def render_iree_plugin(suite: Suite) -> str:
    """The text of what lies beside the CMakeLists.txt of a suite that is a plug-in of IREE's build too."""
    return template("cmake", "iree_runtime_plugin.cmake.jinja", {}).render(manifest=suite.manifest.name)


def _keywords(arguments: Arguments) -> list[tuple[str, Sequence[str]]]:
    """Keywords of the CMake functions, with their values."""
    return [(keyword.upper(), _values(value)) for keyword, value in arguments.items()]


def _values(value: Value) -> Sequence[str]:
    return [str(value)] if isinstance(value, (str, int)) else list(value)


def _refused(call: SuiteCall) -> Iterator[tuple[str, str]]:
    """Each string of a call that CMake cannot carry, with the reason."""
    for path in (call.model.source.path, *read_files(call)):
        reason = path_refusal(path)
        if reason is not None:
            yield path, reason
    for argument in command_arguments(call):
        reason = command_refusal(argument)
        if reason is not None:
            yield argument, reason
    checked = (PATH_KEYWORDS - _OF_TESTS) | {"object_commands"}
    for keyword, value in call.arguments.items():
        for text in _values(value) if keyword not in checked else ():
            reason = ctest_refusal(text) if keyword in _OF_TESTS else refusal(text)
            if reason is not None:
                yield text, reason
