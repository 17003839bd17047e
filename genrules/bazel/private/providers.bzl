# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What the rules tell each other."""

IreeDispatchToolsInfo = provider(
    doc = "The programs that the rules run.",
    fields = {
        "benchmark": "File: iree-benchmark-module, for the machine that runs the tests.",
        "benchmark_runfiles": "runfiles: iree-benchmark-module and what it needs.",
        "compile": "FilesToRunProvider: iree-compile.",
        "compile_files": "depset of File: what iree-compile needs, such as its library.",
        "compile_runfiles": "runfiles: iree-compile and what it needs, for programs that start it.",
        "dispatchgen": "FilesToRunProvider: dispatchgen's command line.",
        "dispatchgen_files": "depset of File: what dispatchgen needs, such as a Python and its packages.",
        "dispatchgen_runfiles": "runfiles: dispatchgen's command line and what it needs, for programs that start it.",
        "import_files": "depset of File: what the importer needs.",
        "importer": "FilesToRunProvider or None: the importer of .onnx models.",
        "linker": "FilesToRunProvider or None: the linker of iree-compile for CPUs.",
        "measure_files": "depset of File: what dispatchgen needs besides where it measures, compares and reports.",
        "run": "File or None: iree-run-module, for the machine that runs the tests.",
        "run_runfiles": "runfiles or None: iree-run-module and what it needs.",
        "substitute_files": "depset of File: what dispatchgen needs besides where it reads substitutes or makes data.",
    },
)

IreeDispatchExtractInfo = provider(
    doc = "The benchmark modules of a model on a backend, not compiled: the compiler's own, or those of a substitution.",
    fields = {
        "archives": "dict of string to File: name of each dispatch with data beside its module -> the archive.",
        "backend": "string: id of the backend.",
        "call_inputs": "list of File: what the flags of calls name.",
        "calls": "dict of string to File: name of each call of the whole model -> its flags, one per line.",
        "checks": "dict of string to File: name of each module that compares outputs -> what to compare. Empty: no substitution.",
        "compile_flags": "list of string: the flags of iree-compile. Paths of files that they name are those of `flag_files`.",
        "compile_inputs": "list of File: what compilation of the modules reads besides.",
        "configured": "File: the model, compiled as far as configured executables.",
        "drift": "File or None: how the dispatches differ from the lock's, one difference per line; None: that is an error.",
        "flag_files": "dict of string to File: path in `compile_flags` -> the file.",
        "index": "File: what was found, as JSON.",
        "model": "string: id of the model.",
        "modules": "dict of string to File: name of each dispatch -> its benchmark module.",
        "src": "File: the program.",
        "substitution": "string: id of the substitution or combination; empty: none.",
        "tools": "IreeDispatchToolsInfo: the tools to go on with.",
    },
)

IreeDispatchSubstitutionInfo = provider(
    doc = "What a substitution puts in place of dispatches, for whole programs that hold it.",
    fields = {
        "executables": "list of File: each `<dispatch>.executable.mlir`.",
        "objects": "list of File: the object files.",
        "original": "IreeDispatchExtractInfo: of the suite.",
    },
)

IreeDispatchModuleInfo = provider(
    doc = "A compiled module: the benchmarks of a dispatch, or the whole model.",
    fields = {
        "archive": "File or None: the data of the dispatch's buffers; None: the module makes them.",
        "backend": "string: id of the backend.",
        "call_inputs": "list of File: for a whole model, those of IreeDispatchExtractInfo; else empty.",
        "calls": "dict of string to File: for a whole model, the calls of IreeDispatchExtractInfo; else empty.",
        "changes": "list of struct(vmfb, original): Files of modules of dispatches; where they differ, a whole program does.",
        "check": "File or None: for a module that compares outputs, what to compare.",
        "model": "string: id of the model.",
        "name": "string: name of the dispatch, or `model`.",
        "original": "File or None: the module that the compiler makes by itself, for those of substitutions.",
        "placeholder": "File or None: the source, where it may be a placeholder whose first line says why it is skipped.",
        "substitution": "string: id of the substitution or combination; empty: none.",
        "tools": "IreeDispatchToolsInfo: the tools to go on with.",
        "vmfb": "File: the module.",
    },
)

IreeDispatchNightlyInfo = provider(
    doc = "A test that measures a preset as a whole.",
    fields = {
        "tools": "IreeDispatchToolsInfo: the tools to go on with.",
    },
)

IreeDispatchSettingInfo = provider(
    doc = "The value of a flag of the command line.",
    fields = {
        "value": "string: one of the flag's values.",
    },
)

def module_folder(extract):
    """Where the modules of a suite or substitution lie, in the package's folder of outputs.

    Args:
      extract: IreeDispatchExtractInfo.

    Returns:
      string.
    """
    folder = "%s/%s" % (extract.model, extract.backend)
    return "%s/substitutions/%s" % (folder, extract.substitution) if extract.substitution else folder
