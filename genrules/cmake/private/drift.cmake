# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Builds that may go on where the dispatches of a model are no longer those of its lock.
#
# `dispatchgen extract --drift allow` puts a placeholder in the place of a dispatch that is not there, whose first line
# says why, and tells all differences in drift.txt.

include_guard(GLOBAL)

# What a test prints whose dispatch is not there: then it is skipped.
set_property(GLOBAL PROPERTY _IREE_DISPATCH_SKIPPED "dispatchgen: skipped: ")

# _iree_dispatch_drift()
#
# Sets OUT to whether drift is allowed: DISPATCHGEN_DRIFT where that is set, else the DRIFT argument of the suite in the
# caller's scope.
function(_iree_dispatch_drift OUT)
  set(_DRIFT "${_RULE_DRIFT}")
  if(NOT "${DISPATCHGEN_DRIFT}" STREQUAL "")
    set(_DRIFT "${DISPATCHGEN_DRIFT}")
  endif()
  if(_DRIFT STREQUAL "allow")
    set(${OUT} ON PARENT_SCOPE)
  else()
    set(${OUT} OFF PARENT_SCOPE)
  endif()
endfunction()

# _iree_dispatch_drift_test()
#
# Adds the test that tells how the dispatches differ from the lock. It is skipped where they do: a build that may drift is
# not red for it, and not plainly green either.
function(_iree_dispatch_drift_test)
  set(_NAME "${_TEST_PREFIX}/drift")
  add_test(
    NAME "${_NAME}"
    COMMAND "${CMAKE_COMMAND}" "-DREPORT=${_DIR}/dispatches/drift.txt" -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/tell_drift.cmake"
  )
  get_property(_SKIPPED GLOBAL PROPERTY _IREE_DISPATCH_SKIPPED)
  _iree_dispatch_suite_labels(_LABELS)
  set_tests_properties("${_NAME}" PROPERTIES
    LABELS "test-type=drift;${_LABELS}"
    REQUIRED_FILES "${_STAMPS}"
    SKIP_REGULAR_EXPRESSION "${_SKIPPED}"
    TIMEOUT 60
  )
  _iree_dispatch_build_before("${_NAME}")
endfunction()
