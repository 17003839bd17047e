# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Presets that are measured as a whole, compared with a baseline and reported, by `dispatchgen nightly`.
#
# Targets, none of them in ALL, of a preset:
#   iree-dispatch-benchmarks-preset-<preset>-nightly          builds it, and does all of that
#   iree-dispatch-benchmarks-preset-<preset>-baseline-check   compares what was measured last with the baseline
#   iree-dispatch-benchmarks-preset-<preset>-baseline-save    makes it the baseline, in the source tree
#   iree-dispatch-benchmarks-preset-<preset>-baseline-update  takes into the baseline what is new or faster, and by
#                                                             DISPATCHGEN_ACCEPT_SLOWER of the environment what is slower
# Tests, labelled `nightly=<preset>`:
#   iree-dispatch-benchmarks/preset/<preset>/nightly    as the target, of what is built   test-type=nightly
#   iree-dispatch-benchmarks/preset/<preset>/baseline   as `-baseline-check`              test-type=baseline
# In IREE's tree names follow its package rules, and the targets above stand for those of all packages.
#
# All is written into nightly/<preset>/ in the binary directory.

include_guard(GLOBAL)

# Seconds after which CTest kills a test that measures a preset: the programs that it starts have limits of their own.
set(_IREE_DISPATCH_NIGHTLY_TIMEOUT 86400)
set_property(GLOBAL PROPERTY _IREE_DISPATCH_NIGHTLY_TIMEOUT "${_IREE_DISPATCH_NIGHTLY_TIMEOUT}")

# _iree_dispatch_check_nightly()
#
# Sets OUT to what is wrong with the arguments of iree_dispatch_benchmark_setup() in the caller's scope, or to nothing.
function(_iree_dispatch_check_nightly OUT)
  set(_PROBLEM "")
  if(NOT "${_RULE_UNPARSED_ARGUMENTS}" STREQUAL "")
    string(APPEND _PROBLEM "\n  unknown arguments: ${_RULE_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT "${_RULE_NIGHTLY}" STREQUAL "" AND "${_RULE_MANIFEST}" STREQUAL "")
    string(APPEND _PROBLEM "\n  MANIFEST is missing, which NIGHTLY needs")
  endif()
  foreach(_PRESET IN LISTS _RULE_NIGHTLY)
    if(NOT _PRESET IN_LIST _RULE_PRESETS)
      string(APPEND _PROBLEM "\n  NIGHTLY names '${_PRESET}', which is not among PRESETS")
    endif()
  endforeach()
  foreach(_BASELINE IN LISTS _RULE_BASELINES)
    string(REGEX REPLACE "=.*" "" _PRESET "${_BASELINE}")
    if(NOT _BASELINE MATCHES "^[A-Za-z0-9_]+=[A-Za-z0-9_][A-Za-z0-9_.-]*$")
      string(APPEND _PROBLEM "\n  BASELINES: '${_BASELINE}' is not of the form <preset>=<baseline>")
    elseif(NOT _PRESET IN_LIST _RULE_NIGHTLY)
      string(APPEND _PROBLEM "\n  BASELINES names '${_PRESET}', which is not among NIGHTLY")
    endif()
  endforeach()
  set(${OUT} "${_PROBLEM}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_nightly()
#
# Creates the targets and tests of a preset. Reads the arguments of iree_dispatch_benchmark_setup() in the caller's scope.
function(_iree_dispatch_nightly PRESET)
  _iree_dispatch_aggregate("-preset-${PRESET}" _AGGREGATES)
  list(GET _AGGREGATES -1 _AGGREGATE)  # that of this package
  get_property(_PYTHON GLOBAL PROPERTY _IREE_DISPATCH_PYTHON)
  _iree_dispatch_absolute("${_RULE_MANIFEST}" _MANIFEST)
  set(_OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/nightly/${PRESET}")
  if(TARGET "${_AGGREGATE}-nightly")
    get_target_property(_OTHER "${_AGGREGATE}-nightly" IREE_DISPATCH_MANIFEST)
    if(NOT _OTHER STREQUAL _MANIFEST)
      message(SEND_ERROR "iree_dispatch_benchmark_setup(): preset ${PRESET} of ${_MANIFEST}: a preset of ${_OTHER} has the "
        "same name, and both are measured as a whole in one build: rename one of them")
    endif()
    return()
  endif()

  set(_JOB "${_PYTHON}" -m dispatchgen nightly "${_MANIFEST}" --preset "${PRESET}" --output "${_OUTPUT}")
  _iree_dispatch_values_of("${PRESET}" _RULE_BASELINES _BASELINE)
  if(NOT "${_BASELINE}" STREQUAL "")
    list(APPEND _JOB --save "cmake --build ${CMAKE_BINARY_DIR} --target ${_AGGREGATE}-baseline-save")
  endif()
  _iree_dispatch_tool_options(_TOOLS)
  set(_MEASURE ${_JOB} --built "${CMAKE_CURRENT_BINARY_DIR}" ${_TOOLS})
  set(_CHECK ${_JOB} --results "${_OUTPUT}/results.json")
  _iree_dispatch_nightly_target("-nightly" "Measuring preset ${PRESET}" ${_MEASURE})
  add_dependencies("${_AGGREGATE}-nightly" "${_AGGREGATE}")
  if(NOT "${_BASELINE}" STREQUAL "")
    _iree_dispatch_nightly_target("-baseline-check" "Comparing preset ${PRESET} with the baseline ${_BASELINE}" ${_CHECK})
    foreach(_COMMAND IN ITEMS save update)
      _iree_dispatch_nightly_target("-baseline-${_COMMAND}" "Writing the baseline ${_BASELINE}"
        "${_PYTHON}" -m dispatchgen baseline "${_COMMAND}" "${_BASELINE}" "${_OUTPUT}/results.json" --manifest "${_MANIFEST}"
      )
    endforeach()
  endif()

  _iree_dispatch_package(_PACKAGE)
  set(_PREFIX "iree-dispatch-benchmarks")
  if(NOT _PACKAGE STREQUAL "")
    set(_PREFIX "${_PACKAGE}")
  endif()
  string(APPEND _PREFIX "/preset/${PRESET}")
  _iree_dispatch_nightly_test("nightly" ${_MEASURE})
  _iree_dispatch_build_preset_before("${_PREFIX}/nightly")
  if(NOT "${_BASELINE}" STREQUAL "")
    _iree_dispatch_nightly_test("baseline" ${_CHECK})
    set_tests_properties("${_PREFIX}/baseline" PROPERTIES DEPENDS "${_PREFIX}/nightly")  # of both, the one that measures goes first
  endif()
endfunction()

# _iree_dispatch_tool_options()
#
# Sets OUT to the options of dispatchgen that name the tools of the build.
function(_iree_dispatch_tool_options OUT)
  set(_OPTIONS "")
  set(_TOOLS COMPILE BENCHMARK RUN)
  set(_NAMES --iree-compile --iree-benchmark-module --iree-run-module)
  foreach(_NAME _TOOL IN ZIP_LISTS _NAMES _TOOLS)
    get_property(_PROGRAM GLOBAL PROPERTY "_IREE_DISPATCH_${_TOOL}_TOOL")
    if(TARGET "${_PROGRAM}")
      set(_PROGRAM "$<TARGET_FILE:${_PROGRAM}>")
    endif()
    if(NOT "${_PROGRAM}" STREQUAL "")
      list(APPEND _OPTIONS "${_NAME}" "${_PROGRAM}")
    endif()
  endforeach()
  set(${OUT} "${_OPTIONS}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_nightly_target()
#
# Creates a target that runs a command, which follows, of the preset in the caller's scope. In IREE's tree the target of all
# packages runs it too. One runs at a time, as far as the generator of the build allows.
function(_iree_dispatch_nightly_target SUFFIX COMMENT)
  add_custom_target("${_AGGREGATE}${SUFFIX}"
    COMMAND ${ARGN}
    COMMENT "${COMMENT}"
    USES_TERMINAL
    VERBATIM
  )
  set_target_properties("${_AGGREGATE}${SUFFIX}" PROPERTIES IREE_DISPATCH_MANIFEST "${_MANIFEST}")
  list(GET _AGGREGATES 0 _WHOLE)
  if(_WHOLE STREQUAL _AGGREGATE)
    return()
  endif()
  if(NOT TARGET "${_WHOLE}${SUFFIX}")
    add_custom_target("${_WHOLE}${SUFFIX}")
  endif()
  add_dependencies("${_WHOLE}${SUFFIX}" "${_AGGREGATE}${SUFFIX}")
endfunction()

# _iree_dispatch_nightly_test()
#
# Adds a test of the preset in the caller's scope that runs a command, which follows.
#
# It has no label `preset=`: those tests are single benchmarks. Nor is it ever skipped: a night that measured nothing failed.
function(_iree_dispatch_nightly_test TYPE)
  get_property(_TIMEOUT GLOBAL PROPERTY _IREE_DISPATCH_NIGHTLY_TIMEOUT)
  set(_LABELS "test-type=${TYPE}" "nightly=${PRESET}")
  if(NOT _PACKAGE STREQUAL "")
    list(APPEND _LABELS "${_PACKAGE}")
  endif()
  add_test(NAME "${_PREFIX}/${TYPE}" COMMAND ${ARGN})
  set_tests_properties("${_PREFIX}/${TYPE}" PROPERTIES
    LABELS "${_LABELS}"
    RUN_SERIAL ON
    TIMEOUT "${_TIMEOUT}"
  )
endfunction()

# _iree_dispatch_build_preset_before()
#
# Lets ctest build the preset in the caller's scope before a test, where DISPATCHGEN_BUILD_ON_TEST asks for it.
function(_iree_dispatch_build_preset_before TEST)
  if(NOT DISPATCHGEN_BUILD_ON_TEST)
    return()
  endif()
  add_test(
    NAME "${_PREFIX}/build"
    COMMAND "${CMAKE_COMMAND}" --build "${CMAKE_BINARY_DIR}" --config "$<CONFIG>" --target "${_AGGREGATE}"
  )
  set_tests_properties("${_PREFIX}/build" PROPERTIES
    FIXTURES_SETUP "${_AGGREGATE}"
    LABELS "test-type=build;nightly=${PRESET}"
    RESOURCE_LOCK iree-dispatch-build-tree
    TIMEOUT 3600
  )
  set_tests_properties("${TEST}" PROPERTIES FIXTURES_REQUIRED "${_AGGREGATE}")
endfunction()
