# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The steps of substitutions: from the user's files to modules.
#
# They are cut off by content as in steps.cmake, and have a target for each substitute: where one fails, the others are
# built all the same. All functions read the variables of substitutions.cmake and the names of the substitution, _SUB_*.

include_guard(GLOBAL)

# _iree_dispatch_prepare_steps()
#
# Makes, of the user's files, those that take the place of dispatches, where they are not the same.
function(_iree_dispatch_prepare_steps ID)
  set(_PREPARED "")
  foreach(_DISPATCH IN LISTS "_DISPATCHES_OF.${ID}")
    set(_KIND "${_KIND_OF.${ID}.${_DISPATCH}}")
    _iree_dispatch_absolute("${_FILE_OF.${ID}.${_DISPATCH}}" _FILE)
    _iree_dispatch_substitute_file("${ID}" "${_DISPATCH}" _OUTPUT)
    if(NOT _KIND MATCHES "^(source|configuration)$" AND NOT "${_OUTPUT}.stamp" IN_LIST _PREPARED)
      cmake_language(CALL "_iree_dispatch_prepare_${_KIND}" "${ID}" "${_FILE}" "${_OUTPUT}")
      list(APPEND _PREPARED "${_OUTPUT}.stamp")
    endif()
  endforeach()
  if(NOT "${_PREPARED}" STREQUAL "")
    add_custom_target("${_PREPARE_TARGET}" DEPENDS ${_PREPARED})
    if(_SRC_TARGET)
      add_dependencies("${_PREPARE_TARGET}" "${_SRC_TARGET}")
    endif()
  endif()
endfunction()

# _iree_dispatch_prepare_object()
#
# Copies an object: the build tree alone is read later, by relative paths.
function(_iree_dispatch_prepare_object ID FILE OUTPUT)
  cmake_path(GET OUTPUT FILENAME _NAME)
  _iree_dispatch_depends(_READ "${FILE}")
  _iree_dispatch_cut_off("${OUTPUT}.stamp" "" "")
  add_custom_command(
    OUTPUT
      "${OUTPUT}.stamp"
    BYPRODUCTS
      "${OUTPUT}"
    ${_BEGIN}
    COMMAND
      "${CMAKE_COMMAND}" -E copy_if_different "${FILE}" "${OUTPUT}"
    ${_END}
    DEPENDS
      ${_READ}
    COMMENT "Copying ${_SUB_PLACE}/${_NAME}"
    VERBATIM
  )
endfunction()

# _iree_dispatch_prepare_kernel()
#
# Builds an object with the user's command. It runs where relative paths in flags start.
function(_iree_dispatch_prepare_kernel ID FILE OUTPUT)
  cmake_path(GET OUTPUT FILENAME _NAME)
  set(_NEW "${_SUB_DIR}/new/${_NAME}")
  file(MAKE_DIRECTORY "${_SUB_DIR}/new")
  _iree_dispatch_object_command("${ID}" "${FILE}" "${_NEW}" "${OUTPUT}")
  _iree_dispatch_values_of("${ID}" _RULE_SUBSTITUTE_INPUTS _READ)
  _iree_dispatch_absolute_paths(_READ _READ)
  _iree_dispatch_depends(_READ "${FILE}" ${_READ})
  _iree_dispatch_cut_off("${OUTPUT}.stamp" "${_NEW}" "${OUTPUT}")
  _iree_dispatch_record("${OUTPUT}")
  add_custom_command(
    OUTPUT
      "${OUTPUT}.stamp"
    BYPRODUCTS
      "${OUTPUT}"
      ${_RECORD}
    ${_BEGIN}
    COMMAND
      ${_RECORDED} ${_COMMAND}
    COMMAND
      "${CMAKE_COMMAND}" "-DOUTPUT=${_NEW}" -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/check_output.cmake"
    ${_END}
    DEPENDS
      ${_READ}
    ${_DEPFILE}
    WORKING_DIRECTORY "${_SUITE_DIR}"
    COMMENT "Building ${_SUB_PLACE}/${_NAME}"
    VERBATIM
  )
endfunction()

# _iree_dispatch_object_command()
#
# Sets, in the caller's scope, _COMMAND to the command that makes NEW, the object of a kernel, and _DEPFILE to what tells
# CMake of the files that gcc and clang include. Debug information and __FILE__ do not tell where the suite is.
function(_iree_dispatch_object_command ID FILE NEW OUTPUT)
  _iree_dispatch_values_of("${ID}" _RULE_OBJECT_COMMANDS _ARGUMENTS)
  _iree_dispatch_word_prefix(_PREFIX ${_ARGUMENTS} "${FILE}" "${NEW}")
  string(ASCII 1 _SOURCE)  # no text of a manifest has it: a path that holds a placeholder stays as it is
  set(_COMMAND "")
  foreach(_ARGUMENT IN LISTS _ARGUMENTS)
    string(REPLACE "{source}" "${_SOURCE}" _ARGUMENT "${_ARGUMENT}")
    string(REPLACE "{output}" "${NEW}" _ARGUMENT "${_ARGUMENT}")
    string(REPLACE "${_SOURCE}" "${FILE}" _ARGUMENT "${_ARGUMENT}")
    string(REPLACE ";" "\\;" _ARGUMENT "${_ARGUMENT}")
    set(_WORD "${_PREFIX}${_ARGUMENT}")
    if(DISPATCHGEN_RECORD_STEPS AND _COMMAND STREQUAL "" AND TARGET "${_WORD}")
      set(_WORD "$<TARGET_FILE:${_WORD}>")  # CMake replaces the first word alone, which is the recorder's
    endif()
    list(APPEND _COMMAND "${_WORD}")
  endforeach()
  if(NOT _PREFIX STREQUAL "")
    list(PREPEND _COMMAND /bin/sh "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/run_quoted.sh")
  endif()
  set(_DEPFILE "")
  list(GET _ARGUMENTS 0 _PROGRAM)
  _iree_dispatch_is_compiler("${_PROGRAM}" _IS_COMPILER)
  if(_IS_COMPILER)
    set(_DEPFILE DEPFILE "${OUTPUT}.d")
    list(APPEND _COMMAND -MD -MF "${OUTPUT}.d" -MQ "${OUTPUT}.stamp" "-ffile-prefix-map=${_SUITE_DIR}/="
      COMMAND "${CMAKE_COMMAND}" "-DDEPFILE=${OUTPUT}.d" "-DFOLDER=${_SUITE_DIR}"
      -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/absolute_depfile.cmake"
    )
  endif()
  set(_COMMAND "${_COMMAND}" PARENT_SCOPE)
  set(_DEPFILE "${_DEPFILE}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_word_prefix()
#
# Sets OUT to what the words of a command, which follow, start with for run_quoted.sh; to nothing where no shell expands any.
function(_iree_dispatch_word_prefix OUT)
  string(REGEX REPLACE "{(source|output)}" "" _TEXT "${ARGN}")
  set(${OUT} "" PARENT_SCOPE)
  if(UNIX AND _TEXT MATCHES "[?[{]")
    set(${OUT} "#" PARENT_SCOPE)
  endif()
endfunction()

# _iree_dispatch_is_compiler()
#
# Sets OUT to whether a program is gcc or clang by its name, in front of which a target may stand, such as
# `aarch64-linux-gnu-`. A relative path is that of a file of the suite, which may be anything.
function(_iree_dispatch_is_compiler PROGRAM OUT)
  set(_TARGET "[A-Za-z0-9_.]+(-[A-Za-z0-9_.]+)+-")
  if(PROGRAM MATCHES "^(/.*/)?(${_TARGET})?(cc|gcc|clang|c\\+\\+|g\\+\\+|clang\\+\\+)(-[0-9.]+)?$")
    set(${OUT} ON PARENT_SCOPE)
  else()
    set(${OUT} OFF PARENT_SCOPE)
  endif()
endfunction()

# _iree_dispatch_prepare_tuning_spec()
#
# Configures the program with a tuning specification. It goes behind the suite's own flags: the last one counts.
function(_iree_dispatch_prepare_tuning_spec ID FILE OUTPUT)
  _iree_dispatch_depends(_READ "${FILE}")
  _iree_dispatch_cut_off("${OUTPUT}.stamp" "${OUTPUT}.new" "${OUTPUT}")
  _iree_dispatch_record("${OUTPUT}")
  add_custom_command(
    OUTPUT
      "${OUTPUT}.stamp"
    BYPRODUCTS
      "${OUTPUT}"
      ${_RECORD}
    ${_BEGIN}
    COMMAND
      ${_RECORDED_COMPILE} --compile-to=executable-configurations ${_LINKER_FLAGS} ${_RULE_COMPILE_FLAGS}
      "--iree-codegen-tuning-spec-path=${FILE}" "${_SRC}" -o "${OUTPUT}.new"
    ${_END}
    DEPENDS
      ${_SRC_DEPENDS}
      ${_READ}
      ${_INPUTS}
      ${_COMPILE_TOOL_DEPENDS}
    WORKING_DIRECTORY "${_SUITE_DIR}"
    COMMENT "Configuring ${_SUB_PLACE}"
    VERBATIM
  )
endfunction()

# _iree_dispatch_substitute_steps()
#
# Puts each substitute in the place of its dispatch, in a benchmark module, and compiles that. A tuned program has the
# substitutes of all dispatches.
function(_iree_dispatch_substitute_steps ID)
  _iree_dispatch_values_of("${ID}" _RULE_SUBSTITUTE_FLAGS _FLAGS)
  set(_TUNED "")
  foreach(_DISPATCH IN LISTS "_DISPATCHES_OF.${ID}")
    set(_KIND "${_KIND_OF.${ID}.${_DISPATCH}}")
    set(_GIVEN "${_FILE_OF.${ID}.${_DISPATCH}}")
    _iree_dispatch_substitute_file("${ID}" "${_DISPATCH}" _FILE)
    if(_KIND STREQUAL "tuning_spec")
      list(APPEND _TUNED "${_DISPATCH}")
      set(_TUNED_FILE "${_FILE}")
      _iree_dispatch_compile_substitute("${ID}" "${_DISPATCH}")
      add_dependencies("${_COMPILE_TARGET}${_DISPATCH}" "${_SUBSTITUTE_TARGET}tuned")
    else()
      _iree_dispatch_substitute_step("${ID}" "${_DISPATCH}" "${_KIND}" "${_FILE}" "${_DISPATCH}")
      _iree_dispatch_compile_substitute("${ID}" "${_DISPATCH}")
      add_dependencies("${_COMPILE_TARGET}${_DISPATCH}" "${_SUBSTITUTE_TARGET}${_DISPATCH}")
    endif()
  endforeach()
  if(NOT "${_TUNED}" STREQUAL "")
    _iree_dispatch_substitute_step("${ID}" "tuned" "tuning_spec" "${_TUNED_FILE}" "${_TUNED}")
  endif()
endfunction()

# _iree_dispatch_substitute_step()
#
# Writes what DISPATCHES become when FILE takes their place. NAME is of the step: its stamp and target. _GIVEN, in the caller's
# scope, is the user's file.
function(_iree_dispatch_substitute_step ID NAME KIND FILE DISPATCHES)
  _iree_dispatch_is_checked("${ID}" _IS_CHECKED)
  set(_ORIGINALS "")
  set(_SUBSTITUTED "")
  set(_DISPATCH_FLAGS "")
  foreach(_DISPATCH IN LISTS DISPATCHES)
    list(APPEND _DISPATCH_FLAGS --dispatch "${_DISPATCH}")
    list(APPEND _ORIGINALS "${_DIR}/dispatches/${_DISPATCH}.mlir")
    foreach(_SUFFIX IN ITEMS mlir executable.mlir json)
      list(APPEND _SUBSTITUTED "${_SUB_DIR}/dispatches/${_DISPATCH}.${_SUFFIX}")
    endforeach()
    if(_IS_CHECKED)
      list(APPEND _SUBSTITUTED "${_SUB_DIR}/dispatches/${_DISPATCH}.check.mlir" "${_SUB_DIR}/dispatches/${_DISPATCH}.check.json")
    endif()
  endforeach()
  if(KIND STREQUAL "kernel")
    set(KIND "object")
  endif()
  set(_STAMP "${_SUB_DIR}/dispatches/${NAME}.stamp")
  _iree_dispatch_depends(_READ "${FILE}")
  _iree_dispatch_cut_off("${_STAMP}" "" "")
  _iree_dispatch_record("${_SUB_DIR}/dispatches/${NAME}")
  add_custom_command(
    OUTPUT
      "${_STAMP}"
    BYPRODUCTS
      ${_SUBSTITUTED}
      ${_RECORD}
    ${_BEGIN}
    COMMAND
      ${_RECORDED} "${CMAKE_COMMAND}" -E env PYTHONSAFEPATH=1  # no module is a file of the suite
      "${_PYTHON}" -m dispatchgen substitute --name "${ID}" --kind "${KIND}" --substitute "${FILE}"
      --given "${_GIVEN}" --dispatches "${_DIR}/dispatches" ${_DISPATCH_FLAGS} --output "${_SUB_DIR}/dispatches"
      --iree-compile "${_COMPILER}" ${_FLAGS} -- ${_LINKER_FLAGS} ${_RULE_COMPILE_FLAGS}
    ${_END}
    DEPENDS
      ${_READ}
      ${_ORIGINALS}
      "${_DIR}/dispatches/index.json"
      ${_INPUTS}
      ${_COMPILE_TOOL_DEPENDS}
      "${_CODE_STAMP}"
    WORKING_DIRECTORY "${_SUITE_DIR}"
    COMMENT "Substituting ${_SUB_PLACE}/${NAME}"
    VERBATIM
  )
  add_custom_target("${_SUBSTITUTE_TARGET}${NAME}" DEPENDS "${_STAMP}")
  add_dependencies("${_SUBSTITUTE_TARGET}${NAME}"
    iree-dispatch-code
    "${_EXTRACT_TARGET}"
  )
  if(TARGET "${_PREPARE_TARGET}")
    add_dependencies("${_SUBSTITUTE_TARGET}${NAME}" "${_PREPARE_TARGET}")
  endif()
endfunction()

# _iree_dispatch_compile_substitute()
#
# Compiles the benchmark module of a substitute and, where it is checked, the module that holds the original too.
function(_iree_dispatch_compile_substitute ID DISPATCH)
  _iree_dispatch_linked_objects("${ID}" "${DISPATCH}" _OBJECTS)
  set(_MODULES "${DISPATCH}")
  _iree_dispatch_is_checked("${ID}" _IS_CHECKED)
  if(_IS_CHECKED)
    list(APPEND _MODULES "${DISPATCH}.check")
  endif()
  set(_OUTPUTS "")
  foreach(_MODULE IN LISTS _MODULES)
    if(_MODULE MATCHES "\\.check$")
      _iree_dispatch_unlinked_flags(_FLAGS "${ID}")
      list(APPEND _MODULE_FLAGS ${_FLAGS})
    endif()
    _iree_dispatch_compile("${_SUB_DIR}" "dispatches/${_MODULE}.mlir" "${_MODULE}.vmfb"
      "Compiling ${_SUB_PLACE}/${_MODULE}.vmfb" ${_OBJECTS})
    list(APPEND _OUTPUTS "${_SUB_DIR}/${_MODULE}.vmfb")
  endforeach()
  add_custom_target("${_COMPILE_TARGET}${DISPATCH}" DEPENDS ${_OUTPUTS})
endfunction()

# _iree_dispatch_substitute_model_step()
#
# Puts all substitutes of a substitution, or of the members of a combination, into the whole model, and compiles that.
function(_iree_dispatch_substitute_model_step ID)
  set(_EXECUTABLES "")
  set(_TARGETS "")
  foreach(_MEMBER IN LISTS "_MEMBERS_OF.${ID}")
    _iree_dispatch_substitution_names("${_MEMBER}")
    foreach(_DISPATCH IN LISTS "_DISPATCHES_OF.${_MEMBER}")
      list(APPEND _EXECUTABLES "${_SUB_DIR}/dispatches/${_DISPATCH}.executable.mlir")
      set(_NAME "${_DISPATCH}")
      if("${_KIND_OF.${_MEMBER}.${_DISPATCH}}" STREQUAL "tuning_spec")
        set(_NAME "tuned")
      endif()
      list(APPEND _TARGETS "${_SUBSTITUTE_TARGET}${_NAME}")
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES _TARGETS)
  _iree_dispatch_objects_of_model("${ID}" _OBJECTS)
  _iree_dispatch_substitution_names("${ID}")
  set(_CONFIGURED "${_SUB_DIR}/configured.mlir")
  _iree_dispatch_cut_off("${_CONFIGURED}.stamp" "" "")
  _iree_dispatch_record("${_CONFIGURED}")
  add_custom_command(
    OUTPUT
      "${_CONFIGURED}.stamp"
    BYPRODUCTS
      "${_CONFIGURED}"
      ${_RECORD}
    ${_BEGIN}
    COMMAND
      ${_RECORDED} "${_PYTHON}" -m dispatchgen substitute-model "${_DIR}/configured.mlir" --index "${_DIR}/dispatches/index.json"
      --output "${_CONFIGURED}" ${_EXECUTABLES}
    ${_END}
    DEPENDS
      "${_DIR}/configured.mlir"
      "${_DIR}/dispatches/index.json"
      ${_EXECUTABLES}
      "${_CODE_STAMP}"
    COMMENT "Substituting ${_SUB_PLACE}/model"
    VERBATIM
  )
  add_custom_target("${_SUBSTITUTE_TARGET}model" DEPENDS "${_CONFIGURED}.stamp")
  add_dependencies("${_SUBSTITUTE_TARGET}model" ${_TARGETS})
  _iree_dispatch_unlinked_flags(_FLAGS ${_MEMBERS_OF.${ID}})
  list(APPEND _MODULE_FLAGS ${_FLAGS})
  _iree_dispatch_compile("${_SUB_DIR}" "configured.mlir" "model.vmfb" "Compiling ${_SUB_PLACE}/model.vmfb (whole model)"
    ${_OBJECTS})
  add_custom_target("${_COMPILE_TARGET}model" DEPENDS "${_SUB_DIR}/model.vmfb")
  add_dependencies("${_COMPILE_TARGET}model" "${_SUBSTITUTE_TARGET}model")
endfunction()
