# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Benchmarks of every dispatch of a model, as IREE compiles it. Include this file, then call
# iree_dispatch_benchmark_setup() once and iree_dispatch_benchmark_suite() for each model and backend.
# `dispatchgen generate --cmake` writes those calls.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/private/names.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/private/paths.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/private/iree_build.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/private/tools.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/private/record.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/private/steps.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/private/substitutions.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/private/substitution_steps.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/private/tests.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/private/substitution_tests.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/private/drift.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/private/nightly.cmake")

option(DISPATCHGEN_BUILD_ON_TEST "Let ctest build the benchmarks of a model before it runs them" OFF)
option(DISPATCHGEN_HASH_INPUTS "Read, when CMake runs, all files that the build is made of: one that was replaced by an older \
file is built too" OFF)
option(DISPATCHGEN_RECORD_STEPS "Record beside each file that is built how long that took, and its peak memory" OFF)
set(DISPATCHGEN_DRIFT "" CACHE STRING "allow or error: what the build does where the dispatches of a model are no longer \
those of its lock, whatever the suites say")
set(DISPATCHGEN_TEST_TIMEOUT "900" CACHE STRING "Seconds after which a benchmark test is killed")

# iree_dispatch_benchmark_setup()
#
# Finds the tools and creates the targets that several suites share. A second call adds what is new in it.
#
# Parameters:
# PACKAGES: Python packages that sources of the form `package:<package>/<path>` lie in. (Any other package is asked for
#     when a suite needs it, at the cost of one more process.)
# PRESETS: Names of presets, so that each has its target even where it selects nothing.
# MANIFEST: The manifest of the suites. Only the targets and tests of NIGHTLY and BASELINES read it.
# NIGHTLY: Names of the presets that are measured as a whole, by `dispatchgen nightly`.
# BASELINES: `<preset>=<baseline>` of those that are compared with a baseline.
#
# Targets and tests of NIGHTLY and BASELINES: see private/nightly.cmake.
#
# The tools are, in this order: targets named iree-compile and iree-benchmark-module; the programs in IREE_HOST_BIN_DIR;
# the wheels of the Python that find_package(Python3) finds; the programs on PATH.
function(iree_dispatch_benchmark_setup)
  cmake_parse_arguments(PARSE_ARGV 0 _RULE
    ""
    "MANIFEST"
    "PACKAGES;PRESETS;NIGHTLY;BASELINES"
  )
  _iree_dispatch_check_nightly(_PROBLEM)
  if(_PROBLEM)
    message(SEND_ERROR "iree_dispatch_benchmark_setup(): ${_PROBLEM}")
    return()
  endif()
  _iree_dispatch_find_tools("${_RULE_PACKAGES}")
  foreach(_PRESET IN LISTS _RULE_PRESETS)
    _iree_dispatch_aggregate("-preset-${_PRESET}" _)
  endforeach()
  foreach(_PRESET IN LISTS _RULE_NIGHTLY)
    _iree_dispatch_nightly("${_PRESET}")
  endforeach()
endfunction()

# iree_dispatch_benchmark_suite()
#
# Creates the targets and tests that benchmark the dispatches of one model on one backend.
#
# Parameters:
# NAME: Name of the suite, `<model>_<backend>`.
# MODEL: Id of the model, `[A-Za-z0-9_]+`.
# BACKEND: Id of the backend, `[A-Za-z0-9_]+`.
# SRC: The model's program: a `.mlir`, `.mlirbc` or `.onnx` file, or `package:<package>/<path>` for a file that an
#     installed Python package ships.
# LOCK: The model's lock file.
# IMPORT_FLAGS: Flags of the importer, for `.onnx` sources.
# COMPILE_FLAGS: All flags of iree-compile but input, output and phase.
# INPUTS: Files that COMPILE_FLAGS name, as `--<flag>=<file>`.
# DATA: Files that the contents of buffers are taken from, which extraction reads.
# DISPATCHES: Names of all dispatches that the lock lists for this backend.
# ARCHIVES: Names of those whose data lie beside the benchmark module.
# CALLS: Names of all calls of the whole model that the lock lists.
# CALL_INPUTS: Names of the files with inputs of these calls.
# PARAMETERS: `[scope=]path` of parameter archives, for the whole model.
# DEVICES: `<id>=<uri>` of each device to run on. None: the benchmarks are compiled, and nothing is run.
# RUN_FLAGS: `<id>=<flag>` of iree-benchmark-module on that device.
# DEVICE_LABELS: `<id>=<label>` of the tests on that device.
# LABELS: Labels of all tests.
# PRESETS: Names of the presets that select the suite.
# MIN_TIME: `--benchmark_min_time=` of the timed tests. Default: the benchmark library's own.
# REPETITIONS: `--benchmark_repetitions=` of the timed tests. Default: 1.
# BATCH_SIZE: `--batch_size=` of the timed tests of dispatches. Default: 1.
# TIMEOUT: Seconds after which a test is killed. Default: DISPATCHGEN_TEST_TIMEOUT.
# DRIFT: What the build does where the dispatches are no longer those of the lock. `error`, the default: it fails, and
#     names the command that renews the lock. `allow`: it goes on, and what is missing is a skipped test.
#     DISPATCHGEN_DRIFT, where it is set, goes first.
# SUBSTITUTES: `<id>=<dispatch>=<kind>=<file>` for each dispatch that a substitution replaces. The kind is `source`,
#     `configuration`, `object`, `kernel` (OBJECT_COMMANDS makes an object of the file) or `tuning_spec`.
# OBJECT_COMMANDS: `<id>=<argument>` of the command that makes the object of a `kernel`, in order. `{source}` and
#     `{output}` in them stand for the files. It runs in the folder that relative paths are relative to.
# OBJECT_SUFFIX: What the names of these objects end with, without the dot.
# SUBSTITUTE_INPUTS: `<id>=<file>` of more files that the command reads. What gcc and clang include is found out.
# SUBSTITUTE_FLAGS: `<id>=<flag>` of `dispatchgen substitute`.
# COMBINATIONS: `<id>=<id of a substitution>` for each substitution that the combination applies to the whole model.
#
# Relative paths are relative to DISPATCHGEN_PACKAGE_DIR where that is set, else to the current source directory.
#
# Targets, none of them in ALL:
#   iree-dispatch-benchmarks                    all suites
#   iree-dispatch-benchmarks-<model>            the model on all its backends
#   iree-dispatch-benchmarks-<model>-<backend>  this suite
#   iree-dispatch-benchmarks-<model>-<backend>-<id>  this substitution or combination alone, and what it is compared with
#   iree-dispatch-benchmarks-preset-<preset>    all suites that the preset selects
# In IREE's tree, names follow its package rules: `<package>_<NAME>` is this suite.
function(iree_dispatch_benchmark_suite)
  cmake_parse_arguments(PARSE_ARGV 0 _RULE
    ""
    "NAME;MODEL;BACKEND;SRC;LOCK;MIN_TIME;REPETITIONS;BATCH_SIZE;TIMEOUT;DRIFT;OBJECT_SUFFIX"
    "IMPORT_FLAGS;COMPILE_FLAGS;INPUTS;DATA;DISPATCHES;ARCHIVES;CALLS;CALL_INPUTS;PARAMETERS;DEVICES;RUN_FLAGS;DEVICE_LABELS;LABELS;PRESETS;\
SUBSTITUTES;OBJECT_COMMANDS;SUBSTITUTE_INPUTS;SUBSTITUTE_FLAGS;COMBINATIONS"
  )
  _iree_dispatch_suite_names()
  _iree_dispatch_check_suite(_PROBLEM)
  _iree_dispatch_read_substitutes(_SUBSTITUTES_PROBLEM)
  string(APPEND _PROBLEM "${_SUBSTITUTES_PROBLEM}")
  if(_PROBLEM)
    message(SEND_ERROR "iree_dispatch_benchmark_suite(${_RULE_NAME}): ${_PROBLEM}")
    return()
  endif()
  _iree_dispatch_disabled_target(_OPTION)
  if(NOT _OPTION STREQUAL "")
    message(STATUS "dispatchgen: no benchmarks of ${_PLACE}: ${_OPTION} is off")
    _iree_dispatch_join_aggregates()
    return()
  endif()
  _iree_dispatch_find_tools("")

  # Names that the functions of private/ read from here, besides those of _iree_dispatch_suite_names().
  _iree_dispatch_drift(_DRIFT_ALLOWED)
  set(_DIR "${CMAKE_CURRENT_BINARY_DIR}/${_RULE_MODEL}/${_RULE_BACKEND}")
  get_property(_PYTHON GLOBAL PROPERTY _IREE_DISPATCH_PYTHON)
  get_property(_COMPILE_TOOL GLOBAL PROPERTY _IREE_DISPATCH_COMPILE_TOOL)
  get_property(_COMPILE_TOOL_DEPENDS GLOBAL PROPERTY _IREE_DISPATCH_COMPILE_TOOL_DEPENDS)
  set(_COMPILER "${_COMPILE_TOOL}")
  if(TARGET "${_COMPILE_TOOL}")
    set(_COMPILER "$<TARGET_FILE:${_COMPILE_TOOL}>")
  endif()
  _iree_dispatch_linker_flags(_LINKER_FLAGS)
  _iree_dispatch_absolute_paths(_RULE_INPUTS _INPUTS)
  _iree_dispatch_depends(_INPUTS ${_INPUTS})
  _iree_dispatch_compile_flags()
  file(MAKE_DIRECTORY "${_DIR}/dispatches")

  _iree_dispatch_source("${_RULE_SRC}" _SRC)
  _iree_dispatch_depends(_SRC_DEPENDS "${_SRC}")
  _iree_dispatch_import_step()
  _iree_dispatch_configure_step()
  _iree_dispatch_extract_step()
  _iree_dispatch_compile_step()
  if(NOT "${_SUBSTITUTIONS}" STREQUAL "")
    _iree_dispatch_substitution_steps()
  endif()

  _iree_dispatch_join_aggregates()

  foreach(_DEVICE IN LISTS _RULE_DEVICES)
    _iree_dispatch_device_tests("${_DEVICE}")
  endforeach()
  if(_DRIFT_ALLOWED)
    _iree_dispatch_drift_test()
  endif()
endfunction()

# _iree_dispatch_check_suite()
#
# Sets OUT to what is wrong with the arguments of the suite in the caller's scope, or to nothing.
function(_iree_dispatch_check_suite OUT)
  set(_PROBLEM "")
  foreach(_ARGUMENT IN ITEMS NAME MODEL BACKEND SRC LOCK COMPILE_FLAGS)
    if("${_RULE_${_ARGUMENT}}" STREQUAL "")
      string(APPEND _PROBLEM "\n  ${_ARGUMENT} is missing")
    endif()
  endforeach()
  if(NOT "${_RULE_UNPARSED_ARGUMENTS}" STREQUAL "")
    string(APPEND _PROBLEM "\n  unknown arguments: ${_RULE_UNPARSED_ARGUMENTS}")
  endif()
  foreach(_ID IN ITEMS "${_RULE_NAME}" "${_RULE_MODEL}" "${_RULE_BACKEND}" ${_RULE_DISPATCHES} ${_RULE_CALLS} ${_RULE_PRESETS})
    if(NOT _ID MATCHES "^[A-Za-z0-9_]+$")
      string(APPEND _PROBLEM "\n  '${_ID}' is not a name made of [A-Za-z0-9_]")
    endif()
  endforeach()
  foreach(_DEVICE IN LISTS _RULE_DEVICES)
    if(NOT _DEVICE MATCHES "^[A-Za-z0-9_.-]+=.")
      string(APPEND _PROBLEM "\n  device '${_DEVICE}' is not of the form <id>=<uri>")
    endif()
  endforeach()
  # The results of dispatches and calls share a folder, the modules of dispatches and of the whole model another.
  set(_FILES ${_RULE_DISPATCHES} ${_RULE_CALLS})
  list(LENGTH _FILES _COUNT)
  list(REMOVE_DUPLICATES _FILES)
  list(LENGTH _FILES _UNIQUE)
  if(NOT _COUNT EQUAL _UNIQUE)
    string(APPEND _PROBLEM "\n  two dispatches or calls have one name")
  endif()
  foreach(_DISPATCH IN LISTS _RULE_ARCHIVES)
    if(NOT _DISPATCH IN_LIST _RULE_DISPATCHES)
      string(APPEND _PROBLEM "\n  ARCHIVES names '${_DISPATCH}', which is not among DISPATCHES")
    endif()
  endforeach()
  foreach(_FILE IN LISTS _RULE_CALL_INPUTS)
    if(NOT _FILE MATCHES "^[A-Za-z0-9_][A-Za-z0-9_.]*$")
      string(APPEND _PROBLEM "\n  CALL_INPUTS: '${_FILE}' is not a name made of [A-Za-z0-9_.]")
    endif()
  endforeach()
  foreach(_RESERVED IN ITEMS model configured substitutions)
    if(_RESERVED IN_LIST _RULE_DISPATCHES)
      string(APPEND _PROBLEM "\n  a dispatch cannot be named '${_RESERVED}': files of the whole model have this name")
    endif()
  endforeach()
  foreach(_VALUE IN ITEMS "${_RULE_DRIFT}" "${DISPATCHGEN_DRIFT}")
    if(NOT _VALUE MATCHES "^(allow|error)?$")
      string(APPEND _PROBLEM "\n  DRIFT is 'allow' or 'error', not '${_VALUE}'")
    endif()
  endforeach()
  if(TARGET "${_TARGET}")
    string(APPEND _PROBLEM "\n  there is another suite or preset of this name in the build")
  endif()
  set(${OUT} "${_PROBLEM}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_join_aggregates()
#
# Makes the suite in the caller's scope part of all targets for several suites that it belongs to.
function(_iree_dispatch_join_aggregates)
  _iree_dispatch_join_aggregate("")
  _iree_dispatch_join_aggregate("-${_RULE_MODEL}")
  foreach(_PRESET IN LISTS _RULE_PRESETS)
    _iree_dispatch_join_aggregate("-preset-${_PRESET}")
  endforeach()
endfunction()
