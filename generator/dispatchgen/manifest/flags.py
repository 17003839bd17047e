"""Flags of IREE's programs that dispatchgen sets itself, or that would break what it builds, with the reason."""

from __future__ import annotations

import re

from dispatchgen.manifest.names import show

_STAGES = "dispatchgen compiles in stages and sets it"
_OUTPUT = "dispatchgen chooses the output files"
_BACKEND = "set `target_device` and `local_backend` of a backend instead"
_SUBSTITUTE = "list it under `substitutions` of the model instead, where it is checked and stands beside the original"
_PREPROCESS = "it replaces executables, and no benchmark would say so"
_DUMP = "it writes files that the build does not know"
_STOPS = "the compiler would not compile"

#: Flags of iree-compile by name, without dashes.
_COMPILE = {
    "o": _OUTPUT,
    "output-format": _STAGES,
    "compile-to": _STAGES,
    "compile-from": _STAGES,
    "compile-mode": _STAGES,
    "split-input-file": _STAGES,
    "verify-diagnostics": _STAGES,
    "iree-hal-target-device": _BACKEND,
    "iree-hal-target-backends": _BACKEND,
    "iree-hal-local-target-device-backends": _BACKEND,
    "iree-hal-default-device": _BACKEND,
    "iree-hal-legacy-sync": _BACKEND,
    "iree-scheduling-optimize-bindings": "set `bindings: isolated` or `bindings: fused` instead",
    "iree-hal-benchmark-dispatch-repeat-count": "set `batch_size` under `run` instead",
    "iree-flow-export-benchmark-funcs": "it adds functions that are not the model's",
    "iree-opt-export-parameters": _DUMP,
    "dump-compilation-phases-to": _DUMP,
    "iree-codegen-dump-tuning-specs-to": _DUMP,
    "iree-flow-dump-dispatch-graph": _DUMP,
    "iree-flow-dump-dispatch-graph-output-file": _DUMP,
    "iree-llvmcpu-static-library-output-path": _DUMP,
    "iree-scheduling-dump-statistics-file": _DUMP,
    "iree-vm-bytecode-source-listing": _DUMP,
    "help": _STOPS,
    "help-hidden": _STOPS,
    "help-list": _STOPS,
    "help-list-hidden": _STOPS,
    "h": _STOPS,
    "version": _STOPS,
    "iree-hal-list-target-backends": _STOPS,
    "iree-hal-list-target-devices": _STOPS,
    "iree-list-plugins": _STOPS,
}
#: The same by the beginning of the name.
_COMPILE_PREFIXES = {
    "iree-hal-substitute-executable-": _SUBSTITUTE,
    "iree-hal-dump-executable-": _DUMP,
    "iree-hal-preprocess-executables-": _PREPROCESS,
}

_RUN_SETTINGS = "set it under `run` instead"
_RUN = {
    "module": "dispatchgen chooses the module",
    "function": "dispatchgen chooses the function",
    "input": "set `inputs` of the model instead",
    "device": "set `uri` of the device instead",
    "parameters": "set `parameters` of the model instead",
    "batch_size": _RUN_SETTINGS,
    "benchmark_min_time": _RUN_SETTINGS,
    "benchmark_repetitions": _RUN_SETTINGS,
    "benchmark_filter": "dispatchgen chooses the benchmarks",
    "benchmark_out": _OUTPUT,
    "benchmark_out_format": _OUTPUT,
    "benchmark_format": _OUTPUT,
    "benchmark_list_tests": "nothing would be measured",
    "list_devices": "nothing would be measured",
    "list_drivers": "nothing would be measured",
    "dump_devices": "nothing would be measured",
    "help": "nothing would be measured",
    "version": "nothing would be measured",
    "flagfile": "write its flags out: the build would not notice when the file changes",
}
_IMPORT = {
    "o": _OUTPUT,
    "output-file": _OUTPUT,
    "save-params-to": _DUMP,
    "help": "the importer would not import",
    "h": "the importer would not import",
    "version": "the importer would not import",
}

_SEVERAL = re.compile(r"\s--[A-Za-z]")


def compile_flag_problem(flag: str) -> str | None:
    """Why `flag` cannot be given to iree-compile; None where it can."""
    name = _name(flag)
    reason = _COMPILE.get(name)
    if reason is None:
        reason = next((why for start, why in _COMPILE_PREFIXES.items() if name.startswith(start)), None)
    return _form_problem(flag) or _refusal(flag, reason)


def run_flag_problem(flag: str) -> str | None:
    """Why `flag` cannot be given to iree-benchmark-module; None where it can."""
    return _form_problem(flag) or _refusal(flag, _RUN.get(_name(flag)))


def import_flag_problem(flag: str) -> str | None:
    """Why `flag` cannot be given to iree-import-onnx; None where it can."""
    return _form_problem(flag) or _refusal(flag, _IMPORT.get(_name(flag)))


def refused_flags() -> list[tuple[str, list[str]]]:
    """The names of the refused flags by program; a name that ends in `*` stands for all with that beginning."""

    def dashed(name: str) -> str:
        return f"-{name}" if len(name) == 1 else f"--{name}"

    compile_names = [*_COMPILE, *(f"{start}*" for start in _COMPILE_PREFIXES)]
    tables = {"iree-compile": compile_names, "iree-benchmark-module": _RUN, "iree-import-onnx": _IMPORT}
    return [(program, sorted(map(dashed, names))) for program, names in tables.items()]


def _name(flag: str) -> str:
    return flag.partition("=")[0].lstrip("-").rstrip()


def _form_problem(flag: str) -> str | None:
    if not flag.startswith("-") or not flag.strip("-"):
        return f"{show(flag)} is not a flag: it has to start with `-`, with its value behind `=`"
    if _SEVERAL.search(flag):
        return f"{show(flag)} looks like several flags: write each as an item of its own"
    return None


def _refusal(flag: str, reason: str | None) -> str | None:
    return None if reason is None else f"the flag {show(flag)} cannot be used here: {reason}"
