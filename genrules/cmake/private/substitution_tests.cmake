# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The tests of substitutions: those that the compiler's own code has, and one that compares the outputs of both.
#
# All functions read the variables of _iree_dispatch_device_tests() and of substitutions.cmake.

include_guard(GLOBAL)

# _iree_dispatch_substitution_tests()
#
# Adds the tests of a substitution or combination on the device in the caller's scope.
function(_iree_dispatch_substitution_tests ID)
  _iree_dispatch_substitution_names("${ID}")
  set(_SUBSTITUTION "${ID}")
  set(_PREFIX "${_PREFIX}/substitutions/${ID}")
  set(_RESULTS "${_RESULTS}/substitutions/${ID}")
  set(_CONTEXT "${_CONTEXT},substitution=${ID}")
  set(_SMOKE "")
  set(_TIMED "")
  set(_COMPARED "")
  set(_SUITE_STAMPS ${_STAMPS})
  foreach(_DISPATCH IN LISTS "_DISPATCHES_OF.${ID}")
    _iree_dispatch_substitute_stamps("${ID}" "${_DISPATCH}" _STEPS)
    set(_STAMPS ${_SUITE_STAMPS} ${_STEPS})
    _iree_dispatch_module_flags("${_SUB_DIR}" "${_DISPATCH}" _WHAT)
    _iree_dispatch_linked_objects("${ID}" "${_DISPATCH}" _OBJECTS)
    _iree_dispatch_files_read("${ID}" "${_DISPATCH}" _READ)
    _iree_dispatch_module_checks("${_SUB_DIR}/dispatches/${_DISPATCH}.mlir" "${_SUB_DIR}/${_DISPATCH}.vmfb")
    list(APPEND _CHECKS "-DORIGINAL=${_DIR}/${_DISPATCH}.vmfb")
    _iree_dispatch_add_tests("${_DISPATCH}" "dispatch" "${_DISPATCH_TIMING}")
    _iree_dispatch_is_checked("${ID}" _IS_CHECKED)
    if(_IS_CHECKED)
      _iree_dispatch_add_check_test("${_DISPATCH}")
    endif()
  endforeach()
  set(_STAMPS ${_SUITE_STAMPS})
  _iree_dispatch_finish_tests("dispatch" "${_SMOKE}" "${_TIMED}")
  _iree_dispatch_finish_check_tests("${_COMPARED}")

  _iree_dispatch_model_stamps("${ID}" _STEPS _CHANGES _READ)
  list(APPEND _STAMPS ${_STEPS})
  _iree_dispatch_objects_of_model("${ID}" _OBJECTS)
  _iree_dispatch_module_checks("${_SUB_DIR}/configured.mlir" "${_SUB_DIR}/model.vmfb")
  list(APPEND _CHECKS "-DORIGINAL=${_DIR}/model.vmfb")
  if(NOT "${_CHANGES}" STREQUAL "")
    list(JOIN _CHANGES "\\;" _JOINED)
    list(APPEND _CHECKS "-DCHANGES=${_JOINED}")
  endif()
  _iree_dispatch_add_calls("${_SUB_DIR}/model.vmfb")
endfunction()

# _iree_dispatch_model_stamps()
#
# Sets OUT to the files that are there if all steps of the whole model succeeded: stamps, and the modules of the dispatches
# that are replaced in it; READ to what _iree_dispatch_files_read() tells of them; and CHANGES to those of the modules by which
# run_benchmark.cmake sees whether the whole model should differ from the compiler's own. Those of objects do not tell: the
# compiler's own code as an object is linked otherwise in them.
function(_iree_dispatch_model_stamps ID OUT CHANGES READ)
  set(_FILES "${_SUB_DIR}/configured.mlir.stamp")
  set(_COMPARED "")
  set(_ALL_READ "")
  foreach(_MEMBER IN LISTS "_MEMBERS_OF.${ID}")
    foreach(_DISPATCH IN LISTS "_DISPATCHES_OF.${_MEMBER}")
      _iree_dispatch_substitute_stamps("${_MEMBER}" "${_DISPATCH}" _STEPS)
      set(_MODULE "${_DIR}/substitutions/${_MEMBER}/${_DISPATCH}.vmfb")
      list(APPEND _FILES ${_STEPS} "${_MODULE}")
      if(NOT "${_KIND_OF.${_MEMBER}.${_DISPATCH}}" MATCHES "^(object|kernel)$")
        list(APPEND _COMPARED "${_MODULE}")
      endif()
      _iree_dispatch_files_read("${_MEMBER}" "${_DISPATCH}" _PAIRS)
      list(APPEND _ALL_READ ${_PAIRS})
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES _FILES)
  set(${OUT} "${_FILES}" PARENT_SCOPE)
  set(${CHANGES} "${_COMPARED}" PARENT_SCOPE)
  set(${READ} "${_ALL_READ}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_files_read()
#
# Sets OUT to pairs of a file of the user's that the substitute of a dispatch is made of, and the stamp of the step that read it.
function(_iree_dispatch_files_read ID DISPATCH OUT)
  _iree_dispatch_absolute("${_FILE_OF.${ID}.${DISPATCH}}" _USER_FILES)
  if("${_KIND_OF.${ID}.${DISPATCH}}" STREQUAL "kernel")
    _iree_dispatch_values_of("${ID}" _RULE_SUBSTITUTE_INPUTS _MORE)
    _iree_dispatch_absolute_paths(_MORE _MORE)
    list(APPEND _USER_FILES ${_MORE})
  endif()
  _iree_dispatch_substitute_stamps("${ID}" "${DISPATCH}" _STEPS)
  list(GET _STEPS -1 _STAMP)  # of the first step, which reads them
  set(_PAIRS "")
  foreach(_FILE IN LISTS _USER_FILES)
    list(APPEND _PAIRS "${_FILE}" "${_STAMP}")
  endforeach()
  set(${OUT} "${_PAIRS}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_module_checks()
#
# Sets _CHECKS, in the caller's scope, to the options by which run_benchmark.cmake sees that a module is there, and no older
# than what it is compiled from: _READ, of _iree_dispatch_files_read(), SOURCE, and _OBJECTS that are linked into it.
function(_iree_dispatch_module_checks SOURCE MODULE)
  list(JOIN _READ "\\;" _JOINED)
  set(_CHECKS "-DREAD=${_JOINED}" "-DSOURCE=${SOURCE}" "-DMODULE=${MODULE}")
  if(NOT "${_OBJECTS}" STREQUAL "")
    list(JOIN _OBJECTS "\\;" _JOINED)
    list(APPEND _CHECKS "-DOBJECTS=${_JOINED}")
  endif()
  set(_CHECKS "${_CHECKS}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_add_check_test()
#
# Adds the test that compares the outputs of a substitute with those of the kernel that it replaces. Appends its name to
# _COMPARED in the caller's scope.
function(_iree_dispatch_add_check_test DISPATCH)
  get_property(_RUN_TOOL GLOBAL PROPERTY _IREE_DISPATCH_RUN_TOOL)
  if("${_RUN_TOOL}" STREQUAL "")
    message(SEND_ERROR "iree_dispatch_benchmark_suite(${_RULE_NAME}): iree-run-module was not found, by which the outputs of "
      "${_SUB_PLACE} are checked. Set IREE_HOST_BIN_DIR to the folder of IREE's programs, or install iree-base-runtime for "
      "${_PYTHON}")
  endif()
  if(TARGET "${_RUN_TOOL}")
    set(_RUN_TOOL "$<TARGET_FILE:${_RUN_TOOL}>")
  endif()
  set(_MODULE "${_SUB_DIR}/${DISPATCH}.check.vmfb")
  _iree_dispatch_module_checks("${_SUB_DIR}/dispatches/${DISPATCH}.check.mlir" "${_MODULE}")
  set(_NAME "${_PREFIX}/${DISPATCH}/check")
  add_test(
    NAME "${_NAME}"
    COMMAND "${CMAKE_COMMAND}" ${_CHECKS} -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/run_benchmark.cmake" ${_STAMPS} --
      "${_PYTHON}" -m dispatchgen check-outputs "${_MODULE}" --spec "${_SUB_DIR}/dispatches/${DISPATCH}.check.json"
      "--device=${_DEVICE_URI}" --iree-run-module "${_RUN_TOOL}" -- ${_RUN_FLAGS}
  )
  set(_COMPARED "${_COMPARED};${_NAME}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_finish_check_tests()
#
# Sets the properties of the tests that compare outputs.
function(_iree_dispatch_finish_check_tests COMPARED)
  list(REMOVE_ITEM COMPARED "")
  if(NOT COMPARED)
    return()
  endif()
  _iree_dispatch_device_labels(_LABELS)
  set_tests_properties(${COMPARED} PROPERTIES LABELS "test-type=substitution-check;${_LABELS}")
  _iree_dispatch_run_on_device(${COMPARED})
endfunction()
