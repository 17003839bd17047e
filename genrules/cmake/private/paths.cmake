# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Where the files are that the arguments of a suite name.

include_guard(GLOBAL)

# _iree_dispatch_suite_dir()
#
# Sets OUT to the folder that the relative paths of a suite start at.
function(_iree_dispatch_suite_dir OUT)
  if(DISPATCHGEN_PACKAGE_DIR)
    set(${OUT} "${DISPATCHGEN_PACKAGE_DIR}" PARENT_SCOPE)
  else()
    set(${OUT} "${CMAKE_CURRENT_SOURCE_DIR}" PARENT_SCOPE)
  endif()
endfunction()

# _iree_dispatch_absolute()
#
# Sets OUT to the absolute path of a file of the suite.
function(_iree_dispatch_absolute PATH OUT)
  _iree_dispatch_suite_dir(_BASE)
  cmake_path(ABSOLUTE_PATH PATH BASE_DIRECTORY "${_BASE}" NORMALIZE OUTPUT_VARIABLE _ABSOLUTE)
  set(${OUT} "${_ABSOLUTE}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_absolute_paths()
#
# Sets OUT to the absolute paths of a list of files of the suite.
function(_iree_dispatch_absolute_paths LIST OUT)
  set(_PATHS "")
  foreach(_PATH IN LISTS ${LIST})
    _iree_dispatch_absolute("${_PATH}" _ABSOLUTE)
    list(APPEND _PATHS "${_ABSOLUTE}")
  endforeach()
  set(${OUT} "${_PATHS}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_source()
#
# Sets OUT to the absolute path of a SRC argument, `<path>` or `package:<package>/<path>`.
function(_iree_dispatch_source SRC OUT)
  if(SRC MATCHES "^package:([^/]+)/(.+)$")
    _iree_dispatch_package_file("${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}" _ABSOLUTE)
  else()
    _iree_dispatch_absolute("${SRC}" _ABSOLUTE)
  endif()
  set(${OUT} "${_ABSOLUTE}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_parameter()
#
# Sets OUT to a PARAMETERS argument with the absolute path. Like the tools of IREE, it takes what precedes the first `=`
# for the scope.
function(_iree_dispatch_parameter PARAMETER OUT)
  if(PARAMETER MATCHES "^([^=]*=)(.*)$")
    set(_SCOPE "${CMAKE_MATCH_1}")
    set(_PATH "${CMAKE_MATCH_2}")
  else()
    set(_SCOPE "")
    set(_PATH "${PARAMETER}")
  endif()
  _iree_dispatch_absolute("${_PATH}" _ABSOLUTE)
  set(${OUT} "${_SCOPE}${_ABSOLUTE}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_depends()
#
# Sets OUT to what a step depends on that reads files, which follow: the files and, with DISPATCHGEN_HASH_INPUTS, what tells
# their contents: they may change without getting a later time. Files that the build makes always get one.
function(_iree_dispatch_depends OUT)
  set(_DEPENDS "${ARGN}")
  foreach(_FILE IN LISTS ARGN)
    cmake_path(IS_PREFIX CMAKE_BINARY_DIR "${_FILE}" NORMALIZE _IS_MADE)
    if(DISPATCHGEN_HASH_INPUTS AND NOT _IS_MADE AND EXISTS "${_FILE}" AND NOT IS_DIRECTORY "${_FILE}")
      string(SHA256 _NAME "${_FILE}")
      set(_CONTENT "${CMAKE_BINARY_DIR}/dispatchgen/contents/${_NAME}.sha256")
      file(SHA256 "${_FILE}" _DIGEST)
      file(CONFIGURE OUTPUT "${_CONTENT}" CONTENT "${_DIGEST}\n" @ONLY)  # where it is another
      list(APPEND _DEPENDS "${_CONTENT}")
    endif()
  endforeach()
  set(${OUT} "${_DEPENDS}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_values_of()
#
# Sets OUT to the values of an id (a device, a substitution) in a list of `<id>=<value>`.
function(_iree_dispatch_values_of ID LIST OUT)
  set(_VALUES "")
  foreach(_ELEMENT IN LISTS ${LIST})
    string(FIND "${_ELEMENT}" "=" _AT)
    string(SUBSTRING "${_ELEMENT}" 0 ${_AT} _KEY)
    if(_KEY STREQUAL ID)
      math(EXPR _AT "${_AT} + 1")
      string(SUBSTRING "${_ELEMENT}" ${_AT} -1 _VALUE)
      string(REPLACE ";" "\\;" _VALUE "${_VALUE}")  # foreach() took the backslash away
      list(APPEND _VALUES "${_VALUE}")
    endif()
  endforeach()
  set(${OUT} "${_VALUES}" PARENT_SCOPE)
endfunction()
