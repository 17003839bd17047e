# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Teaches IREE's bazel_to_cmake the macros of defs.bzl.

A converted CMakeLists.txt holds the calls that `dispatchgen generate --cmake` writes. The
`.bazel_to_cmake.cfg.py` of a project, or IREE's, mixes the handlers into its class. With
dispatchgen installed:

    import importlib.util
    import subprocess

    import bazel_to_cmake_converter

    rules = subprocess.check_output(["dispatchgen", "bazel-dir"], text=True).strip()
    spec = importlib.util.spec_from_file_location(
        "dispatchgen_cfg", rules + "/bazel_to_cmake_cfg.py"
    )
    dispatchgen_cfg = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(dispatchgen_cfg)

    class CustomBuildFileFunctions(
        dispatchgen_cfg.DispatchBenchmarkFunctions,
        bazel_to_cmake_converter.BuildFileFunctions,
    ):
        pass

A class that is there already becomes
`CustomBuildFileFunctions = dispatchgen_cfg.with_dispatch_benchmarks(CustomBuildFileFunctions)`.
The folder may be any that has a copy of this file: it needs neither dispatchgen nor, to be
loaded, the converter.

The converted file does not include the CMake rules. What includes it does:
iree_dispatch_benchmark_suite.cmake in the folder that `dispatchgen cmake-dir` prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

#: Keywords of CMake's iree_dispatch_benchmark_suite(), as `dispatchgen generate --cmake`
#: orders them. Those of the macro are the same, in lower case.
_KEYWORDS = (
    *("NAME", "MODEL", "BACKEND", "SRC", "LOCK", "IMPORT_FLAGS", "COMPILE_FLAGS", "INPUTS"),
    *("DATA", "DISPATCHES", "ARCHIVES", "CALLS", "CALL_INPUTS", "PARAMETERS"),
    *("DEVICES", "RUN_FLAGS", "DEVICE_LABELS"),
    *("LABELS", "PRESETS", "MIN_TIME", "REPETITIONS", "BATCH_SIZE", "TIMEOUT", "DRIFT"),
    *("SUBSTITUTES", "OBJECT_COMMANDS", "OBJECT_SUFFIX", "SUBSTITUTE_INPUTS"),
    *("SUBSTITUTE_FLAGS", "COMBINATIONS"),
)
#: Attributes of Bazel's targets that say nothing to CMake.
_BAZEL_ONLY = frozenset(
    (
        *("compatible_with", "deprecation", "exec_compatible_with", "exec_properties"),
        *("features", "restricted_to", "testonly", "tools", "visibility"),
    )
)


class DispatchBenchmarkFunctions:
    """Handlers of the macros, to be mixed into the converter's BuildFileFunctions.

    Unlike other handlers of the converter they quote: names, flags and paths arrive in
    CMake as they are in Bazel.
    """

    _converter: Any

    def iree_dispatch_benchmark_setup(self, **arguments: Any) -> None:
        """The names of targets are CMake's own; each suite says which presets select it."""
        nightly = arguments.pop("nightly", None)
        values = {
            "MANIFEST": arguments.get("manifest") if nightly else None,
            "PACKAGES": arguments.pop("packages", None),
            "PRESETS": sorted(arguments.pop("presets", ())),
            "NIGHTLY": nightly,
            "BASELINES": arguments.pop("baselines", None),
        }
        _refuse_unknown(arguments, {"name", "manifest", "models"})
        self._emit("iree_dispatch_benchmark_setup", values)

    def iree_dispatch_benchmark_suite(self, **arguments: Any) -> None:
        """Tags become labels, as everywhere in the converter."""
        tags = arguments.pop("tags", [])
        if "skip-bazel_to_cmake" in tags:
            return
        arguments["labels"] = [*arguments.get("labels", ()), *tags]
        values = {key: arguments.pop(key.lower(), None) for key in _KEYWORDS}
        _refuse_unknown(arguments, ())
        self._emit("iree_dispatch_benchmark_suite", values)

    def _emit(self, function: str, arguments: Mapping[str, Any]) -> None:
        """Adds a call to the file; keywords without a value are left out."""
        lines = []
        for keyword, value in arguments.items():
            if value:
                values = [value] if isinstance(value, (str, int)) else value
                lines += [f"  {keyword}\n"]
                lines += [f"    {_quote(str(text))}\n" for text in values]
        body = "".join(["\n", *lines]) if lines else ""
        self._converter.body += f"{function}({body})\n\n"


def with_dispatch_benchmarks(base: type) -> type:
    """A subclass of the converter's BuildFileFunctions, or of one of its subclasses, that
    knows the macros."""
    return type("CustomBuildFileFunctions", (DispatchBenchmarkFunctions, base), {})


def _quote(text: str) -> str:
    """A quoted argument of CMake that is this text, also where CMake evaluates generator
    expressions in it."""
    return '"' + re.sub(r'([\\"$])', r"\\\1", text.replace("$<", "$<1:$><")) + '"'


def _refuse_unknown(arguments: Iterable[str], known: Iterable[str]) -> None:
    """Raises what the converter reports, for keywords that CMake's functions do not have."""
    unknown = sorted({*arguments} - {*known} - _BAZEL_ONLY)
    if unknown:
        raise NotImplementedError(f"unknown keywords: {', '.join(unknown)}")
