# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Names of targets and tests. In IREE's tree, and in a plug-in of it, they follow IREE's package rules; elsewhere they
# start with `iree-dispatch-`.

include_guard(GLOBAL)

# _iree_dispatch_package()
#
# Sets OUT to the IREE package of the current directory, e.g. `dispatch_benchmarks/mlp`, or to nothing outside of IREE's
# tree and its plug-ins.
function(_iree_dispatch_package OUT)
  set(${OUT} "" PARENT_SCOPE)
  if(NOT COMMAND iree_package_path OR NOT IREE_PACKAGE_ROOT_DIR)
    return()
  endif()
  cmake_path(IS_PREFIX IREE_PACKAGE_ROOT_DIR "${CMAKE_CURRENT_LIST_DIR}" NORMALIZE _IS_INSIDE)
  if(_IS_INSIDE)
    iree_package_path(_PACKAGE)
    set(${OUT} "${_PACKAGE}" PARENT_SCOPE)
  endif()
endfunction()

# _iree_dispatch_suite_names()
#
# Sets the names of a suite in the caller's scope, from _RULE_NAME, _RULE_MODEL and _RULE_BACKEND there:
#   _PACKAGE           IREE package of the suite; empty outside of IREE's tree
#   _TITLE             `<model>/<backend>`, the suite's folder in the build tree
#   _PLACE             the same with the package in front, for messages
#   _TEST_PREFIX       what names of tests start with
#   _TARGET            the suite's target
#   _MODULES_TARGET    what compiles the modules of the compiler's own code: the same, unless there are substitutions.
#                      `<...>.<dispatch>` and `<...>.model` compile those that substitutions are compared with
#   _IMPORT_TARGET, _CONFIGURE_TARGET, _EXTRACT_TARGET
function(_iree_dispatch_suite_names)
  _iree_dispatch_package(_PACKAGE)
  set(_TITLE "${_RULE_MODEL}/${_RULE_BACKEND}")
  if(_PACKAGE STREQUAL "")
    set(_SUFFIX "${_RULE_MODEL}-${_RULE_BACKEND}")
    set(_TARGET "iree-dispatch-benchmarks-${_SUFFIX}")
    set(_MODULES_TARGET "iree-dispatch-compile-${_SUFFIX}")
    set(_PLACE "${_TITLE}" PARENT_SCOPE)
    set(_TEST_PREFIX "iree-dispatch-benchmarks/${_TITLE}" PARENT_SCOPE)
    set(_IMPORT_TARGET "iree-dispatch-import-${_RULE_MODEL}" PARENT_SCOPE)
    set(_CONFIGURE_TARGET "iree-dispatch-configure-${_SUFFIX}" PARENT_SCOPE)
    set(_EXTRACT_TARGET "iree-dispatch-extract-${_SUFFIX}" PARENT_SCOPE)
  else()
    iree_package_name(_PACKAGE_NAME)
    set(_TARGET "${_PACKAGE_NAME}_${_RULE_NAME}")
    set(_MODULES_TARGET "${_TARGET}.compile")
    set(_PLACE "${_PACKAGE}/${_TITLE}" PARENT_SCOPE)
    set(_TEST_PREFIX "${_PACKAGE}/${_TITLE}" PARENT_SCOPE)
    set(_IMPORT_TARGET "${_PACKAGE_NAME}_${_RULE_MODEL}.import" PARENT_SCOPE)
    set(_CONFIGURE_TARGET "${_TARGET}.configure" PARENT_SCOPE)
    set(_EXTRACT_TARGET "${_TARGET}.extract" PARENT_SCOPE)
  endif()
  if("${_RULE_SUBSTITUTES}" STREQUAL "")
    set(_MODULES_TARGET "${_TARGET}")
  endif()
  set(_TARGET "${_TARGET}" PARENT_SCOPE)
  set(_MODULES_TARGET "${_MODULES_TARGET}" PARENT_SCOPE)
  set(_PACKAGE "${_PACKAGE}" PARENT_SCOPE)
  set(_TITLE "${_TITLE}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_substitution_names()
#
# Sets the names of a substitution, or of a combination of some, in the caller's scope:
#   _SUB_DIR, _SUB_PLACE  its folder in the build tree, and the same for messages
#   _SUB_TARGET           the target that makes all of it
#   _PREPARE_TARGET       what its substitutes are made of: objects, the tuned program
#   _SUBSTITUTE_TARGET    prefix of the targets that put the substitutes in place; the name of a dispatch, or `model`, follows
#   _COMPILE_TARGET       prefix of the targets that compile them
function(_iree_dispatch_substitution_names ID)
  set(_SUB_DIR "${_DIR}/substitutions/${ID}" PARENT_SCOPE)
  set(_SUB_PLACE "${_PLACE}/substitutions/${ID}" PARENT_SCOPE)
  if(_PACKAGE STREQUAL "")
    set(_SUFFIX "${_RULE_MODEL}-${_RULE_BACKEND}-${ID}")
    set(_SUB_TARGET "iree-dispatch-benchmarks-${_SUFFIX}" PARENT_SCOPE)
    set(_PREPARE_TARGET "iree-dispatch-prepare-${_SUFFIX}" PARENT_SCOPE)
    set(_SUBSTITUTE_TARGET "iree-dispatch-substitute-${_SUFFIX}-" PARENT_SCOPE)
    set(_COMPILE_TARGET "iree-dispatch-compile-${_SUFFIX}-" PARENT_SCOPE)
  else()
    set(_SUB_TARGET "${_TARGET}.substitutions.${ID}" PARENT_SCOPE)
    set(_PREPARE_TARGET "${_TARGET}.prepare.${ID}" PARENT_SCOPE)
    set(_SUBSTITUTE_TARGET "${_TARGET}.substitute.${ID}." PARENT_SCOPE)
    set(_COMPILE_TARGET "${_TARGET}.substitutions.${ID}." PARENT_SCOPE)
  endif()
endfunction()

# _iree_dispatch_aggregate()
#
# Creates the targets for several suites that a suffix stands for, unless they exist, and sets OUT to their names: `` for
# all suites, `-<model>`, `-preset-<preset>`. In IREE's tree there is one for the package, and one for all packages
# unless the suffix is of a model.
function(_iree_dispatch_aggregate SUFFIX OUT)
  set(_NAMES "iree-dispatch-benchmarks${SUFFIX}")
  _iree_dispatch_package(_PACKAGE)
  if(NOT _PACKAGE STREQUAL "")
    iree_package_name(_PACKAGE_NAME)
    if(NOT SUFFIX STREQUAL "" AND NOT SUFFIX MATCHES "^-preset-")
      set(_NAMES "")
    endif()
    list(APPEND _NAMES "${_PACKAGE_NAME}_iree-dispatch-benchmarks${SUFFIX}")
  endif()
  foreach(_NAME IN LISTS _NAMES)
    if(NOT TARGET "${_NAME}")
      add_custom_target("${_NAME}")
    endif()
  endforeach()
  set(${OUT} "${_NAMES}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_join_aggregate()
#
# Makes the suite in the caller's scope part of the targets for several suites that a suffix stands for.
function(_iree_dispatch_join_aggregate SUFFIX)
  _iree_dispatch_aggregate("${SUFFIX}" _NAMES)
  foreach(_NAME IN LISTS _NAMES)
    if(TARGET "${_TARGET}")
      add_dependencies("${_NAME}" "${_TARGET}")
    endif()
  endforeach()
endfunction()
