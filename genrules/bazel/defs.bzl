# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Benchmarks of every dispatch of a model, as IREE compiles it.

`dispatchgen generate --bazel` writes a BUILD.bazel that calls the two macros: iree_dispatch_benchmark_setup() once and
iree_dispatch_benchmark_suite() for each model and backend. The rules below them can be used alone.
"""

load("//private:extract.bzl", _iree_dispatch_extract = "iree_dispatch_extract")
load("//private:import.bzl", _iree_dispatch_import = "iree_dispatch_import")
load("//private:module.bzl", _iree_dispatch_module = "iree_dispatch_module")
load(
    "//private:nightly.bzl",
    _iree_dispatch_baseline = "iree_dispatch_baseline",
    _iree_dispatch_nightly_test = "iree_dispatch_nightly_test",
)
load(
    "//private:providers.bzl",
    _IreeDispatchExtractInfo = "IreeDispatchExtractInfo",
    _IreeDispatchModuleInfo = "IreeDispatchModuleInfo",
    _IreeDispatchSubstitutionInfo = "IreeDispatchSubstitutionInfo",
    _IreeDispatchToolsInfo = "IreeDispatchToolsInfo",
)
load("//private:setup.bzl", _iree_dispatch_benchmark_setup = "iree_dispatch_benchmark_setup")
load(
    "//private:substitution.bzl",
    _iree_dispatch_combination = "iree_dispatch_combination",
    _iree_dispatch_substitution = "iree_dispatch_substitution",
)
load("//private:suite.bzl", _iree_dispatch_benchmark_suite = "iree_dispatch_benchmark_suite")
load(
    "//private:tests.bzl",
    _iree_dispatch_benchmark_test = "iree_dispatch_benchmark_test",
    _iree_dispatch_check_test = "iree_dispatch_check_test",
    _iree_dispatch_drift_test = "iree_dispatch_drift_test",
    _iree_dispatch_smoke_test = "iree_dispatch_smoke_test",
)
load("//private:tools.bzl", _iree_dispatch_tools = "iree_dispatch_tools")

# Macros.
iree_dispatch_benchmark_setup = _iree_dispatch_benchmark_setup
iree_dispatch_benchmark_suite = _iree_dispatch_benchmark_suite

# Rules.
iree_dispatch_baseline = _iree_dispatch_baseline
iree_dispatch_benchmark_test = _iree_dispatch_benchmark_test
iree_dispatch_check_test = _iree_dispatch_check_test
iree_dispatch_combination = _iree_dispatch_combination
iree_dispatch_drift_test = _iree_dispatch_drift_test
iree_dispatch_extract = _iree_dispatch_extract
iree_dispatch_import = _iree_dispatch_import
iree_dispatch_module = _iree_dispatch_module
iree_dispatch_nightly_test = _iree_dispatch_nightly_test
iree_dispatch_smoke_test = _iree_dispatch_smoke_test
iree_dispatch_substitution = _iree_dispatch_substitution
iree_dispatch_tools = _iree_dispatch_tools

# Providers.
IreeDispatchExtractInfo = _IreeDispatchExtractInfo
IreeDispatchModuleInfo = _IreeDispatchModuleInfo
IreeDispatchSubstitutionInfo = _IreeDispatchSubstitutionInfo
IreeDispatchToolsInfo = _IreeDispatchToolsInfo
