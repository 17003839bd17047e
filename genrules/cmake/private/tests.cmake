# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The tests: each dispatch and each call of the whole model once (smoke), and timed.
#
# All functions read the variables of iree_dispatch_benchmark_suite(): _RULE_*, _TARGET and the other names, _DIR,
# _STAMPS, _SUBSTITUTION, _DRIFT_ALLOWED.

include_guard(GLOBAL)

# What iree-benchmark-module prints where a device is absent: then the test is skipped. (CTest takes a list of regular
# expressions, so none may hold a semicolon. Its `.` matches a newline.) `dispatchgen run` has the same list, in
# iree/messages.py.
set(_IREE_DISPATCH_ABSENT_DEVICE
  # The driver is not part of this runtime.
  "no driver '[^']*' registered"
  # The dynamic library of CUDA, HIP or Vulkan is not installed.
  ": UNAVAILABLE[^\n]*library"
  # The driver has no device, or none of this number or name.
  "creating device '"
  "no devices found"
)

# What it prints where nothing or not all was measured, although its exit code may be 0.
set(_IREE_DISPATCH_NOT_MEASURED
  "Failed to match any benchmarks"
  "ERROR OCCURRED"
)
set_property(GLOBAL PROPERTY _IREE_DISPATCH_ABSENT_DEVICE "${_IREE_DISPATCH_ABSENT_DEVICE}")
set_property(GLOBAL PROPERTY _IREE_DISPATCH_NOT_MEASURED "${_IREE_DISPATCH_NOT_MEASURED}")

# _iree_dispatch_device_tests()
#
# Adds the tests of the suite on a device, `<id>=<uri>`.
function(_iree_dispatch_device_tests DEVICE)
  string(REGEX MATCH "^([A-Za-z0-9_.-]+)=(.+)$" _ "${DEVICE}")
  set(_DEVICE_ID "${CMAKE_MATCH_1}")
  set(_DEVICE_URI "${CMAKE_MATCH_2}")
  string(REGEX REPLACE "://.*$" "" _DRIVER "${_DEVICE_URI}")
  _iree_dispatch_disabled_driver("${_DRIVER}" _OPTION)
  if(NOT _OPTION STREQUAL "")
    message(STATUS "dispatchgen: no tests of ${_PLACE} on ${_DEVICE_ID}: ${_OPTION} is off")
    return()
  endif()
  _iree_dispatch_values_of("${_DEVICE_ID}" _RULE_RUN_FLAGS _RUN_FLAGS)
  _iree_dispatch_values_of("${_DEVICE_ID}" _RULE_DEVICE_LABELS _DEVICE_LABELS)
  get_property(_BENCHMARK_TOOL GLOBAL PROPERTY _IREE_DISPATCH_BENCHMARK_TOOL)
  set(_PREFIX "${_TEST_PREFIX}/${_DEVICE_ID}")
  set(_RESULTS "${CMAKE_CURRENT_BINARY_DIR}/results/${_TITLE}/${_DEVICE_ID}")
  set(_CONTEXT "model=${_RULE_MODEL},backend=${_RULE_BACKEND},device=${_DEVICE_ID}")
  _iree_dispatch_timing_flags()

  set(_SMOKE "")
  set(_TIMED "")
  foreach(_DISPATCH IN LISTS _RULE_DISPATCHES)
    _iree_dispatch_module_flags("${_DIR}" "${_DISPATCH}" _WHAT)
    set(_CHECKS "")
    if(_DRIFT_ALLOWED)
      set(_CHECKS "-DSOURCE=${_DIR}/dispatches/${_DISPATCH}.mlir")
    endif()
    _iree_dispatch_add_tests("${_DISPATCH}" "dispatch" "${_DISPATCH_TIMING}")
  endforeach()
  _iree_dispatch_finish_tests("dispatch" "${_SMOKE}" "${_TIMED}")

  set(_PARAMETERS "")
  foreach(_PARAMETER IN LISTS _RULE_PARAMETERS)
    _iree_dispatch_parameter("${_PARAMETER}" _PARAMETER)
    string(REPLACE ";" "\\;" _PARAMETER "${_PARAMETER}")
    list(APPEND _PARAMETERS "--parameters=${_PARAMETER}")
  endforeach()
  set(_CHECKS "")
  _iree_dispatch_add_calls("${_DIR}/model.vmfb")

  foreach(_ID IN LISTS _SUBSTITUTIONS _COMBINATIONS)
    _iree_dispatch_substitution_tests("${_ID}")
  endforeach()
endfunction()

# _iree_dispatch_add_calls()
#
# Adds the tests of all calls of a whole model.
function(_iree_dispatch_add_calls MODULE)
  set(_SMOKE "")
  set(_TIMED "")
  foreach(_CALL IN LISTS _RULE_CALLS)
    set(_WHAT "--module=${MODULE}" "--flagfile=${_DIR}/dispatches/${_CALL}.flags")
    if(NOT "${_PARAMETERS}" STREQUAL "")
      set(_WHAT "${_WHAT};${_PARAMETERS}")
    endif()
    _iree_dispatch_add_tests("model/${_CALL}" "call" "${_TIMING}")
  endforeach()
  _iree_dispatch_finish_tests("model" "${_SMOKE}" "${_TIMED}")
endfunction()

# _iree_dispatch_module_flags()
#
# Sets OUT to the flags of iree-benchmark-module for the module of a dispatch, which lies in FOLDER. The data of a dispatch are
# the same whatever stands in its place.
function(_iree_dispatch_module_flags FOLDER DISPATCH OUT)
  set(_FLAGS "--module=${FOLDER}/${DISPATCH}.vmfb")
  if(DISPATCH IN_LIST _RULE_ARCHIVES)
    list(APPEND _FLAGS "--parameters=data=${_DIR}/dispatches/${DISPATCH}.irpa")
  endif()
  set(${OUT} "${_FLAGS}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_timing_flags()
#
# Sets, in the caller's scope, _TIMING and _DISPATCH_TIMING to the flags of the timed tests of calls and of dispatches.
function(_iree_dispatch_timing_flags)
  set(_FLAGS "")
  if(NOT "${_RULE_MIN_TIME}" STREQUAL "")
    list(APPEND _FLAGS "--benchmark_min_time=${_RULE_MIN_TIME}")
  endif()
  if(_RULE_REPETITIONS GREATER 1)
    list(APPEND _FLAGS "--benchmark_repetitions=${_RULE_REPETITIONS}")
  endif()
  set(_TIMING "${_FLAGS}" PARENT_SCOPE)
  if(_RULE_BATCH_SIZE GREATER 1)
    list(APPEND _FLAGS "--batch_size=${_RULE_BATCH_SIZE}")
  endif()
  set(_DISPATCH_TIMING "${_FLAGS}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_add_tests()
#
# Adds the smoke test and the timed test of one dispatch or call. _CHECKS are options of run_benchmark.cmake. Appends their
# names to _SMOKE and _TIMED in the caller's scope.
function(_iree_dispatch_add_tests NAME KIND TIMING)
  cmake_path(GET NAME FILENAME _ID)
  if(TARGET "${_BENCHMARK_TOOL}")
    set(_PROGRAM "$<TARGET_FILE:${_BENCHMARK_TOOL}>")
  else()
    set(_PROGRAM "${_BENCHMARK_TOOL}")
  endif()
  set(_SCRIPT "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/run_benchmark.cmake")
  # The lists may hold escaped semicolons: they are expanded here and never put together again.
  if("${_CHECKS}" STREQUAL "")
    add_test(
      NAME "${_PREFIX}/${NAME}/smoke"
      COMMAND "${_BENCHMARK_TOOL}" ${_WHAT} "--device=${_DEVICE_URI}" ${_RUN_FLAGS} --benchmark_min_time=1x
    )
  else()
    add_test(
      NAME "${_PREFIX}/${NAME}/smoke"
      COMMAND "${CMAKE_COMMAND}" ${_CHECKS} -P "${_SCRIPT}" ${_STAMPS} --
        "${_PROGRAM}" ${_WHAT} "--device=${_DEVICE_URI}" ${_RUN_FLAGS} --benchmark_min_time=1x
    )
  endif()
  add_test(
    NAME "${_PREFIX}/${NAME}"
    COMMAND "${CMAKE_COMMAND}" "-DRESULT=${_RESULTS}/${_ID}.json" ${_CHECKS} -P "${_SCRIPT}" ${_STAMPS} --
      "${_PROGRAM}" ${_WHAT} "--device=${_DEVICE_URI}" ${_RUN_FLAGS} ${TIMING} "--benchmark_context=${_CONTEXT},${KIND}=${_ID}"
  )
  set(_SMOKE "${_SMOKE};${_PREFIX}/${NAME}/smoke" PARENT_SCOPE)
  set(_TIMED "${_TIMED};${_PREFIX}/${NAME}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_finish_tests()
#
# Sets the properties of tests. _SUBSTITUTION is the id of the substitution that they are of; empty: none.
#
# Not PASS_REGULAR_EXPRESSION: it would override the exit code. RUN_SERIAL for what is timed: nothing else runs meanwhile.
function(_iree_dispatch_finish_tests KIND SMOKE TIMED)
  list(REMOVE_ITEM SMOKE "")
  list(REMOVE_ITEM TIMED "")
  if(NOT SMOKE)
    return()
  endif()
  _iree_dispatch_device_labels(_LABELS)
  get_property(_NOT_MEASURED GLOBAL PROPERTY _IREE_DISPATCH_NOT_MEASURED)
  set_tests_properties(${SMOKE} ${TIMED} PROPERTIES FAIL_REGULAR_EXPRESSION "${_NOT_MEASURED}")
  set_tests_properties(${SMOKE} PROPERTIES
    LABELS "test-type=${KIND}-smoke;${_LABELS}"
    REQUIRED_FILES "${_STAMPS}"
  )
  set_tests_properties(${TIMED} PROPERTIES
    LABELS "test-type=${KIND}-benchmark;${_LABELS}"
    RUN_SERIAL ON
  )
  _iree_dispatch_run_on_device(${SMOKE} ${TIMED})
endfunction()

# _iree_dispatch_run_on_device()
#
# Sets the properties that all tests have that run on the device; their names are the arguments.
function(_iree_dispatch_run_on_device)
  set(_TIMEOUT "${_RULE_TIMEOUT}")
  if("${_TIMEOUT}" STREQUAL "")
    set(_TIMEOUT "${DISPATCHGEN_TEST_TIMEOUT}")
  endif()
  get_property(_SKIPPED GLOBAL PROPERTY _IREE_DISPATCH_ABSENT_DEVICE)
  if(_DRIFT_ALLOWED)
    get_property(_MISSING GLOBAL PROPERTY _IREE_DISPATCH_SKIPPED)
    list(APPEND _SKIPPED "${_MISSING}")
  endif()
  set_tests_properties(${ARGN} PROPERTIES
    SKIP_REGULAR_EXPRESSION "${_SKIPPED}"
    TIMEOUT "${_TIMEOUT}"
  )
  _iree_dispatch_build_before(${ARGN})
endfunction()

# _iree_dispatch_build_before()
#
# Lets ctest build what the tests of these names run, where DISPATCHGEN_BUILD_ON_TEST asks for it.
function(_iree_dispatch_build_before)
  if(NOT DISPATCHGEN_BUILD_ON_TEST)
    return()
  endif()
  if("${_SUBSTITUTION}" STREQUAL "")
    set(_NAME "${_TEST_PREFIX}/build")
    set(_BUILT "${_MODULES_TARGET}")
  else()
    set(_NAME "${_TEST_PREFIX}/substitutions/${_SUBSTITUTION}/build")
    set(_BUILT "${_SUB_TARGET}")
  endif()
  _iree_dispatch_build_test("${_NAME}" "${_BUILT}")
  set_tests_properties(${ARGN} PROPERTIES FIXTURES_REQUIRED "${_BUILT}")
endfunction()

# _iree_dispatch_device_labels()
#
# Sets OUT to the labels that the tests of the suite, or of a substitution in it, have on the device.
function(_iree_dispatch_device_labels OUT)
  _iree_dispatch_suite_labels(_LABELS)
  set(_LABELS "driver=${_DRIVER};device=${_DEVICE_ID};${_LABELS}")
  if(NOT "${_DEVICE_LABELS}" STREQUAL "")
    set(_LABELS "${_LABELS};${_DEVICE_LABELS}")
  endif()
  if(NOT "${_SUBSTITUTION}" STREQUAL "")
    set(_LABELS "substitution=${_SUBSTITUTION};${_LABELS}")
  endif()
  set(${OUT} "${_LABELS}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_suite_labels()
#
# Sets OUT to the labels that all tests of the suite have.
function(_iree_dispatch_suite_labels OUT)
  set(_LABELS "model=${_RULE_MODEL}" "backend=${_RULE_BACKEND}")
  foreach(_PRESET IN LISTS _RULE_PRESETS)
    list(APPEND _LABELS "preset=${_PRESET}")
  endforeach()
  if(NOT _PACKAGE STREQUAL "")
    list(APPEND _LABELS "${_PACKAGE}")
  endif()
  if(NOT "${_RULE_LABELS}" STREQUAL "")
    set(_LABELS "${_LABELS};${_RULE_LABELS}")
  endif()
  set(${OUT} "${_LABELS}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_build_test()
#
# Adds the test that builds a target, which ctest runs before any other test that needs it.
function(_iree_dispatch_build_test NAME BUILT)
  if(TEST "${NAME}")
    return()
  endif()
  add_test(
    NAME "${NAME}"
    COMMAND "${CMAKE_COMMAND}" --build "${CMAKE_BINARY_DIR}" --config "$<CONFIG>" --target "${BUILT}"
  )
  set_tests_properties("${NAME}" PROPERTIES
    FIXTURES_SETUP "${BUILT}"
    LABELS "test-type=build;model=${_RULE_MODEL};backend=${_RULE_BACKEND}"
    RESOURCE_LOCK iree-dispatch-build-tree  # two builds in one tree would disturb each other
    TIMEOUT 3600
  )
endfunction()
