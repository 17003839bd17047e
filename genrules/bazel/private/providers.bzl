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
    },
)

IreeDispatchExtractInfo = provider(
    doc = "The benchmark modules of a model on a backend, not compiled.",
    fields = {
        "backend": "string: id of the backend.",
        "calls": "dict of string to File: name of each call of the whole model -> its flags, one per line.",
        "compile_flags": "list of string: the flags of iree-compile.",
        "configured": "File: the model, compiled as far as configured executables.",
        "drift": "File or None: how the dispatches differ from the lock's, one difference per line; None: that is an error.",
        "index": "File: what was found, as JSON.",
        "model": "string: id of the model.",
        "modules": "dict of string to File: name of each dispatch -> its benchmark module.",
        "tools": "IreeDispatchToolsInfo: the tools to go on with.",
    },
)

IreeDispatchModuleInfo = provider(
    doc = "A compiled module: the benchmarks of a dispatch, or the whole model.",
    fields = {
        "backend": "string: id of the backend.",
        "calls": "dict of string to File: for a whole model, the calls of IreeDispatchExtractInfo; else empty.",
        "model": "string: id of the model.",
        "name": "string: name of the dispatch, or `model`.",
        "placeholder": "File or None: the source, where it may be a placeholder whose first line says why it is skipped.",
        "tools": "IreeDispatchToolsInfo: the tools to go on with.",
        "vmfb": "File: the module.",
    },
)

IreeDispatchSettingInfo = provider(
    doc = "The value of a flag of the command line.",
    fields = {
        "value": "string: one of the flag's values.",
    },
)
