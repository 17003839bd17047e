# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Finding Python, IREE's programs and the files of Python packages, with one process of Python for all questions.
#
# The answers are global properties:
#   _IREE_DISPATCH_PYTHON                the interpreter that has dispatchgen
#   _IREE_DISPATCH_COMPILE_TOOL          target or path of iree-compile
#   _IREE_DISPATCH_COMPILE_TOOL_DEPENDS  what commands that call it depend on
#   _IREE_DISPATCH_LINKER_FLAGS          flags that it needs to find its linker
#   _IREE_DISPATCH_BENCHMARK_TOOL        target or path of iree-benchmark-module
#   _IREE_DISPATCH_RUN_TOOL              target or path of iree-run-module; empty: there is none, which few suites need
#   _IREE_DISPATCH_IMPORTER_VERSION      file with the importer's version, for commands that call it to depend on
#   _IREE_DISPATCH_CODE_STAMP            stands for the code that the steps run; made by target iree-dispatch-code
#   _IREE_DISPATCH_PACKAGE_DIRS_<package>  folders of a Python package: a namespace may have several

include_guard(GLOBAL)

# _iree_dispatch_find_tools()
#
# Finds the tools, unless that was done, and those of PACKAGES that are not known yet.
function(_iree_dispatch_find_tools PACKAGES)
  get_property(_PYTHON GLOBAL PROPERTY _IREE_DISPATCH_PYTHON)
  set(_UNKNOWN "")
  foreach(_PACKAGE IN LISTS PACKAGES)
    get_property(_KNOWN GLOBAL PROPERTY "_IREE_DISPATCH_PACKAGE_DIRS_${_PACKAGE}" SET)
    if(NOT _KNOWN)
      list(APPEND _UNKNOWN --package "${_PACKAGE}")
    endif()
  endforeach()
  if(_PYTHON AND NOT _UNKNOWN)
    return()
  endif()
  if(NOT _PYTHON)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    set(_PYTHON "${Python3_EXECUTABLE}")
  endif()

  set(_ARGUMENTS ${_UNKNOWN})
  if(TARGET iree-compile)
    get_target_property(_IMPORTED iree-compile IMPORTED)
    if(_IMPORTED)
      get_target_property(_LOCATION iree-compile LOCATION)
      list(APPEND _ARGUMENTS --version-of "${_LOCATION}")
    endif()
  else()
    list(APPEND _ARGUMENTS --program iree-compile)
  endif()
  if(NOT TARGET iree-benchmark-module)
    list(APPEND _ARGUMENTS --program iree-benchmark-module)
  endif()
  if(NOT TARGET iree-run-module)
    list(APPEND _ARGUMENTS --optional-program iree-run-module)
  endif()
  if(IREE_HOST_BIN_DIR)
    cmake_path(ABSOLUTE_PATH IREE_HOST_BIN_DIR BASE_DIRECTORY "${CMAKE_BINARY_DIR}" OUTPUT_VARIABLE _HOST_BIN_DIR)
    list(APPEND _ARGUMENTS --host-bin-dir "${_HOST_BIN_DIR}")
  endif()
  _iree_dispatch_ask_python("${_PYTHON}" "${_ARGUMENTS}")
endfunction()

# _iree_dispatch_ask_python()
#
# Runs the questions and sets the global properties.
function(_iree_dispatch_ask_python PYTHON ARGUMENTS)
  set(_STATE_DIR "${CMAKE_BINARY_DIR}/dispatchgen")
  execute_process(
    COMMAND "${PYTHON}" -m dispatchgen.probe.cmake ${ARGUMENTS} --output-dir "${_STATE_DIR}"
    WORKING_DIRECTORY "${CMAKE_BINARY_DIR}"  # where no file of the user's is taken for a module of Python
    RESULT_VARIABLE _RESULT
    ERROR_VARIABLE _ERRORS
  )
  if(NOT _RESULT EQUAL 0)
    message(FATAL_ERROR "dispatchgen: the tools were not found\n${_ERRORS}\n"
      "Set IREE_HOST_BIN_DIR to the folder of IREE's programs, or Python3_EXECUTABLE to a Python with dispatchgen, "
      "iree-base-compiler and iree-base-runtime. Python here: ${PYTHON}")
  endif()
  include("${_STATE_DIR}/probe.cmake")

  foreach(_INDEX IN LISTS _PROBE_PACKAGES)
    set_property(GLOBAL PROPERTY "_IREE_DISPATCH_PACKAGE_DIRS_${_INDEX}" "${_PROBE_PACKAGE_DIRS_${_INDEX}}")
  endforeach()
  get_property(_DONE GLOBAL PROPERTY _IREE_DISPATCH_PYTHON SET)
  if(_DONE)
    return()
  endif()
  set_property(GLOBAL PROPERTY _IREE_DISPATCH_PYTHON "${PYTHON}")
  set_property(GLOBAL PROPERTY _IREE_DISPATCH_IMPORTER_VERSION "${_STATE_DIR}/importer_version.txt")
  _iree_dispatch_compile_tool()
  if(TARGET iree-benchmark-module)
    set(_BENCHMARK_TOOL iree-benchmark-module)
  else()
    set(_BENCHMARK_TOOL "${_PROBE_IREE_BENCHMARK_MODULE}")
  endif()
  set_property(GLOBAL PROPERTY _IREE_DISPATCH_BENCHMARK_TOOL "${_BENCHMARK_TOOL}")
  if(TARGET iree-run-module)
    set_property(GLOBAL PROPERTY _IREE_DISPATCH_RUN_TOOL iree-run-module)
  else()
    set_property(GLOBAL PROPERTY _IREE_DISPATCH_RUN_TOOL "${_PROBE_IREE_RUN_MODULE}")
  endif()
  _iree_dispatch_code_stamp()
  # An upgrade of a package gives these files other names: the build then asks again, whatever the files' times say.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_PROBE_INSTALLED}")
  _iree_dispatch_place("${_COMPILE_TOOL}" _COMPILE_PLACE)
  _iree_dispatch_place("${_BENCHMARK_TOOL}" _BENCHMARK_PLACE)
  string(JOIN " " _COMPILER iree-compile ${_PROBE_COMPILER_VERSION})
  message(STATUS "dispatchgen: ${_COMPILER}: ${_COMPILE_PLACE}")
  message(STATUS "dispatchgen: iree-benchmark-module: ${_BENCHMARK_PLACE}")
  foreach(_WARNING IN LISTS _PROBE_WARNINGS)
    message(WARNING "dispatchgen: ${_WARNING}")
  endforeach()
endfunction()

# _iree_dispatch_place()
#
# Sets OUT to where a program is, a target or a path, for messages.
function(_iree_dispatch_place PROGRAM OUT)
  set(_TEXT "${PROGRAM}")
  if(TARGET "${PROGRAM}")
    _iree_dispatch_is_built("${PROGRAM}" _IS_BUILT)
    if(_IS_BUILT)
      set(_TEXT "built in this build")
    else()
      get_target_property(_TEXT "${PROGRAM}" LOCATION)
    endif()
  endif()
  set(${OUT} "${_TEXT}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_compile_tool()
#
# Sets the global properties of iree-compile, and _COMPILE_TOOL in the caller's scope.
#
# The program is a small launcher: commands depend on its library too. The time of either says little, since package
# managers keep or share times: commands depend on the version's text as well, in a file that is rewritten only when the
# text changes.
function(_iree_dispatch_compile_tool)
  if(TARGET iree-compile)
    set(_COMPILE_TOOL iree-compile)
  else()
    set(_COMPILE_TOOL "${_PROBE_IREE_COMPILE}")
  endif()
  set(_DEPENDS "${_COMPILE_TOOL}" ${_PROBE_COMPILER_LIBRARIES})
  set(_LINKER_FLAGS "")
  _iree_dispatch_is_built(iree-compile _IS_BUILT)
  if(_IS_BUILT)
    _iree_dispatch_built_compiler(_MORE_DEPENDS _LINKER_FLAGS)
    list(APPEND _DEPENDS ${_MORE_DEPENDS})
  endif()
  if(_PROBE_COMPILER_VERSION)
    list(APPEND _DEPENDS "${_STATE_DIR}/compiler_version.txt")
  endif()
  set_property(GLOBAL PROPERTY _IREE_DISPATCH_COMPILE_TOOL "${_COMPILE_TOOL}")
  set_property(GLOBAL PROPERTY _IREE_DISPATCH_COMPILE_TOOL_DEPENDS "${_DEPENDS}")
  set_property(GLOBAL PROPERTY _IREE_DISPATCH_LINKER_FLAGS "${_LINKER_FLAGS}")
  set(_COMPILE_TOOL "${_COMPILE_TOOL}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_linker_flags()
#
# Sets OUT to the flags that iree-compile needs to find its linker, for the suite in the caller's scope. They go in front
# of the suite's own: of two flags of one name the last counts.
function(_iree_dispatch_linker_flags OUT)
  get_property(_FLAGS GLOBAL PROPERTY _IREE_DISPATCH_LINKER_FLAGS)
  if(NOT "--iree-hal-local-target-device-backends=llvm-cpu" IN_LIST _RULE_COMPILE_FLAGS)
    set(_FLAGS "")
  endif()
  set(${OUT} "${_FLAGS}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_code_stamp()
#
# Creates the target iree-dispatch-code, with one file that stands for all the code of dispatchgen that the steps run.
function(_iree_dispatch_code_stamp)
  set(_STAMP "${_STATE_DIR}/code.stamp")
  add_custom_command(
    OUTPUT
      "${_STAMP}"
    COMMAND
      "${CMAKE_COMMAND}" -E touch "${_STAMP}"
    DEPENDS
      ${_PROBE_CODE}
      "${_STATE_DIR}/code_digest.txt"
    COMMENT "Noting the code of dispatchgen"
    VERBATIM
  )
  add_custom_target(iree-dispatch-code DEPENDS "${_STAMP}")
  set_property(GLOBAL PROPERTY _IREE_DISPATCH_CODE_STAMP "${_STAMP}")
endfunction()

# _iree_dispatch_package_file()
#
# Sets OUT to the path of a file of a Python package: in the first of its folders that has it.
function(_iree_dispatch_package_file PACKAGE PATH OUT)
  _iree_dispatch_find_tools("${PACKAGE}")
  get_property(_FOLDERS GLOBAL PROPERTY "_IREE_DISPATCH_PACKAGE_DIRS_${PACKAGE}")
  list(GET _FOLDERS 0 _FOUND)
  foreach(_FOLDER IN LISTS _FOLDERS)
    if(EXISTS "${_FOLDER}/${PATH}")
      set(_FOUND "${_FOLDER}")
      break()
    endif()
  endforeach()
  set(${OUT} "${_FOUND}/${PATH}" PARENT_SCOPE)
endfunction()
