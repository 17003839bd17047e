# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake [-DRESULT=<file>] [-DSOURCE=<dispatch>.mlir [-DMODULE=<dispatch>.vmfb [-DOBJECTS=<file>;...]
#   [-DORIGINAL=<dispatch>.vmfb [-DCHANGES=<dispatch>.vmfb;...]] [-DREAD=<file>;<stamp>;...]]]
#   -P run_benchmark.cmake <stamp>... -- <program> <flags>...
#
# Runs benchmarks and leaves their JSON in RESULT only if all of them were measured. A file from an earlier run goes first:
# after a run that failed, was skipped or was killed, nobody takes old figures for new ones. Without RESULT it runs any
# program.
#
# Runs nothing where a stamp of the build is missing, or MODULE, or where MODULE is older than what it is compiled from,
# SOURCE and OBJECTS: it is an earlier build's. Nor where a file of the user's in READ is not there, or newer than the stamp
# behind it: it was edited since it was built. Nor where SOURCE stands in place of a dispatch that is not there, and says why.
#
# ORIGINAL is the module of the compiler's own code that MODULE stands beside: where both are the same, or there is none, that
# is said. It fails where MODULE is the whole model, and one of CHANGES, the modules of dispatches that are replaced in it, is
# not the same as its original.

cmake_minimum_required(VERSION 3.25)

set(_COMMAND "")
set(_STAMPS "")
set(_PART "")
set(_PREVIOUS "")
math(EXPR _LAST "${CMAKE_ARGC} - 1")
foreach(_INDEX RANGE ${_LAST})
  set(_ARGUMENT "${CMAKE_ARGV${_INDEX}}")
  if(_PART STREQUAL "" AND _PREVIOUS STREQUAL "-P")
    set(_PART _STAMPS)
  elseif(_PART STREQUAL "_STAMPS" AND _ARGUMENT STREQUAL "--")
    set(_PART _COMMAND)
  elseif(NOT _PART STREQUAL "")
    string(REPLACE ";" "\\;" _ARGUMENT "${_ARGUMENT}")
    list(APPEND ${_PART} "${_ARGUMENT}")
  endif()
  set(_PREVIOUS "${CMAKE_ARGV${_INDEX}}")
endforeach()

if(RESULT)
  cmake_path(GET RESULT PARENT_PATH _FOLDER)
  file(MAKE_DIRECTORY "${_FOLDER}")
  set(_UNCHECKED "${RESULT}.unchecked")
  file(REMOVE "${RESULT}" "${_UNCHECKED}")
endif()

foreach(_STAMP IN LISTS _STAMPS)
  if(NOT EXISTS "${_STAMP}")
    message(FATAL_ERROR "the model was not built, or its last build failed: ${_STAMP} does not exist")
  endif()
endforeach()

# is_older()
#
# Sets OUT to whether a file is strictly older than another: files of one time are newer than each other.
function(is_older FILE OTHER OUT)
  set(${OUT} OFF PARENT_SCOPE)
  if("${OTHER}" IS_NEWER_THAN "${FILE}" AND NOT "${FILE}" IS_NEWER_THAN "${OTHER}")
    set(${OUT} ON PARENT_SCOPE)
  endif()
endfunction()

while(NOT "${READ}" STREQUAL "")
  list(POP_FRONT READ _FILE _STAMP)
  if(NOT EXISTS "${_FILE}")
    message(FATAL_ERROR "${_FILE}, of which the module was built, does not exist")
  endif()
  is_older("${_STAMP}" "${_FILE}" _IS_OLDER)
  if(_IS_OLDER)
    message(FATAL_ERROR "build first: ${_FILE} was edited since the module was built")
  endif()
endwhile()

if(MODULE AND NOT EXISTS "${MODULE}")
  message(FATAL_ERROR "not built, or the last build failed: ${MODULE} does not exist")
endif()

if(SOURCE)
  file(READ "${SOURCE}" _HEAD LIMIT 4096)
  if(_HEAD MATCHES "^// (dispatchgen: skipped: [^\n]*)")
    message("${CMAKE_MATCH_1}")
    return()
  endif()
endif()

if(MODULE)
  foreach(_FILE IN LISTS SOURCE OBJECTS)
    is_older("${MODULE}" "${_FILE}" _IS_OLDER)
    if(_IS_OLDER)
      message(FATAL_ERROR "the last build failed: ${MODULE} is older than ${_FILE}")
    endif()
  endforeach()
endif()

# same_files()
#
# Sets OUT to whether both files are there, with the same bytes.
function(same_files ONE OTHER OUT)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E compare_files "${ONE}" "${OTHER}"
    RESULT_VARIABLE _DIFFERS
    ERROR_QUIET
  )
  if(_DIFFERS EQUAL 0)
    set(${OUT} ON PARENT_SCOPE)
  else()
    set(${OUT} OFF PARENT_SCOPE)
  endif()
endfunction()

if(ORIGINAL AND NOT EXISTS "${ORIGINAL}")
  message("note: not compared with the compiler's own code: ${ORIGINAL} is not built")
elseif(ORIGINAL)
  same_files("${MODULE}" "${ORIGINAL}" _IS_SAME)
  if(_IS_SAME)
    cmake_path(GET ORIGINAL PARENT_PATH _ORIGINALS)
    foreach(_CHANGE IN LISTS CHANGES)
      cmake_path(GET _CHANGE FILENAME _NAME)
      if(EXISTS "${_ORIGINALS}/${_NAME}")
        same_files("${_CHANGE}" "${_ORIGINALS}/${_NAME}" _IS_SAME_DISPATCH)
        if(NOT _IS_SAME_DISPATCH)
          message(FATAL_ERROR "the substitution did not take place: the whole model is the same code as the compiler's own, "
            "${_CHANGE} is not")
        endif()
      endif()
    endforeach()
    message("note: the same code as the compiler's own")
  endif()
endif()

if(NOT RESULT)
  execute_process(COMMAND ${_COMMAND} RESULT_VARIABLE _EXIT_CODE)
  if(NOT _EXIT_CODE EQUAL 0)
    list(GET _COMMAND 0 _PROGRAM)
    cmake_path(GET _PROGRAM STEM LAST_ONLY _PROGRAM)
    message(FATAL_ERROR "${_PROGRAM} failed: ${_EXIT_CODE}")
  endif()
  return()
endif()

execute_process(
  COMMAND ${_COMMAND} "--benchmark_out=${_UNCHECKED}" --benchmark_out_format=json
  RESULT_VARIABLE _EXIT_CODE
)

set(_TEXT "")
if(EXISTS "${_UNCHECKED}")
  file(READ "${_UNCHECKED}" _TEXT)
endif()
set(_PROBLEM "")
if(NOT _EXIT_CODE EQUAL 0)
  set(_PROBLEM "iree-benchmark-module failed: ${_EXIT_CODE}")
elseif(_TEXT MATCHES "\n *\"real_time\": *[+-]?([Ii]nf|[Nn]a[Nn])")
  # What the library writes where nothing was run. CMake's JSON knows no such numbers.
  set(_PROBLEM "nothing was measured: a time is not finite")
else()
  string(JSON _COUNT ERROR_VARIABLE _JSON_ERROR LENGTH "${_TEXT}" benchmarks)
  if(_JSON_ERROR OR _COUNT EQUAL 0)
    set(_PROBLEM "nothing was measured: iree-benchmark-module ended with exit code 0 and wrote no benchmark")
  else()
    math(EXPR _LAST "${_COUNT} - 1")
    foreach(_INDEX RANGE ${_LAST})
      string(JSON _ERROR ERROR_VARIABLE _NO_ERROR GET "${_TEXT}" benchmarks ${_INDEX} error_message)
      if(NOT _NO_ERROR)
        string(JSON _NAME GET "${_TEXT}" benchmarks ${_INDEX} name)
        string(APPEND _PROBLEM "${_NAME}: ${_ERROR}\n")
      else()
        string(JSON _ITERATIONS ERROR_VARIABLE _NO_ITERATIONS GET "${_TEXT}" benchmarks ${_INDEX} iterations)
        if(_ITERATIONS EQUAL 0)
          string(APPEND _PROBLEM "nothing was measured: a time is of no iteration\n")
        endif()
      endif()
    endforeach()
  endif()
endif()
if(NOT _PROBLEM STREQUAL "")
  file(REMOVE "${_UNCHECKED}")
  message(FATAL_ERROR "${_PROBLEM}")
endif()
file(RENAME "${_UNCHECKED}" "${RESULT}")
