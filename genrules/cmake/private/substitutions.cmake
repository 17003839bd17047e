# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Substitutions: other executables in the place of some of the compiler's own, each in the benchmark of its dispatch and in
# the whole model.
#
# The folder of a substitution is laid out like that of its suite, and its modules are compiled in it: an unedited substitute
# gives the same bytes.
#
# All functions read the variables that those of steps.cmake read, and what _iree_dispatch_read_substitutes() sets.

include_guard(GLOBAL)

# _iree_dispatch_read_substitutes()
#
# Sets OUT to what is wrong with the arguments of substitutions in the caller's scope, or to nothing, and there:
#   _SUBSTITUTIONS, _COMBINATIONS  their ids
#   _REPLACED                      what they are compared with: the dispatches that they replace and, where it is called,
#                                  `model`
#   _DISPATCHES_OF.<id>            dispatches that a substitution replaces
#   _KIND_OF.<id>.<dispatch>, _FILE_OF.<id>.<dispatch>  the substitute
#   _MEMBERS_OF.<id>               substitutions that a combination is made of; of a substitution: itself
function(_iree_dispatch_read_substitutes OUT)
  set(_PROBLEM "")
  set(_SUBSTITUTIONS "")
  set(_REPLACED "")
  set(_KINDS "source|configuration|object|kernel|tuning_spec")
  foreach(_SUBSTITUTE IN LISTS _RULE_SUBSTITUTES)
    if(NOT _SUBSTITUTE MATCHES "^([A-Za-z0-9_]+)=([A-Za-z0-9_]+)=(${_KINDS})=(.+)$")
      string(APPEND _PROBLEM "\n  substitute '${_SUBSTITUTE}' is not of the form <id>=<dispatch>=<${_KINDS}>=<file>")
      continue()
    endif()
    set(_ID "${CMAKE_MATCH_1}")
    set(_DISPATCH "${CMAKE_MATCH_2}")
    set("_KIND_OF.${_ID}.${_DISPATCH}" "${CMAKE_MATCH_3}" PARENT_SCOPE)
    set("_FILE_OF.${_ID}.${_DISPATCH}" "${CMAKE_MATCH_4}" PARENT_SCOPE)
    if(NOT _DISPATCH IN_LIST _RULE_DISPATCHES)
      string(APPEND _PROBLEM "\n  substitution '${_ID}' replaces '${_DISPATCH}', which is not among DISPATCHES")
    elseif(_DISPATCH IN_LIST "_DISPATCHES_OF.${_ID}")
      string(APPEND _PROBLEM "\n  substitution '${_ID}' replaces '${_DISPATCH}' twice")
    endif()
    if(CMAKE_MATCH_3 STREQUAL "kernel")
      _iree_dispatch_values_of("${_ID}" _RULE_OBJECT_COMMANDS _COMMAND)
      if("${_COMMAND}" STREQUAL "" OR "${_RULE_OBJECT_SUFFIX}" STREQUAL "")
        string(APPEND _PROBLEM "\n  substitution '${_ID}' has a kernel: OBJECT_COMMANDS and OBJECT_SUFFIX are needed")
      endif()
      if(DEFINED "_KERNEL_OF.${_ID}" AND NOT "${_KERNEL_OF.${_ID}}" STREQUAL "${CMAKE_MATCH_4}")
        string(APPEND _PROBLEM "\n  substitution '${_ID}': there is one object of a command, not several: '${_KERNEL_OF.${_ID}}', "
          "'${CMAKE_MATCH_4}'")
      endif()
      set("_KERNEL_OF.${_ID}" "${CMAKE_MATCH_4}")
    endif()
    list(APPEND _SUBSTITUTIONS "${_ID}")
    list(APPEND _REPLACED "${_DISPATCH}")
    list(APPEND "_DISPATCHES_OF.${_ID}" "${_DISPATCH}")
  endforeach()
  list(REMOVE_DUPLICATES _SUBSTITUTIONS)
  if(NOT "${_RULE_SUBSTITUTES}" STREQUAL "" AND NOT "${_RULE_CALLS}" STREQUAL "")
    list(APPEND _REPLACED model)
  endif()
  foreach(_ID IN LISTS _SUBSTITUTIONS)
    set("_DISPATCHES_OF.${_ID}" "${_DISPATCHES_OF.${_ID}}" PARENT_SCOPE)
    set("_MEMBERS_OF.${_ID}" "${_ID}" PARENT_SCOPE)
  endforeach()
  foreach(_KEYWORD IN ITEMS OBJECT_COMMANDS SUBSTITUTE_INPUTS SUBSTITUTE_FLAGS)
    foreach(_ARGUMENT IN LISTS _RULE_${_KEYWORD})
      string(REGEX MATCH "^[^=]*" _ID "${_ARGUMENT}")
      if(NOT _ID IN_LIST _SUBSTITUTIONS)
        string(APPEND _PROBLEM "\n  ${_KEYWORD} '${_ARGUMENT}' does not start with a substitution of SUBSTITUTES")
      endif()
    endforeach()
  endforeach()
  _iree_dispatch_read_combinations()
  list(REMOVE_DUPLICATES _REPLACED)
  set(_REPLACED "${_REPLACED}" PARENT_SCOPE)
  set(_SUBSTITUTIONS "${_SUBSTITUTIONS}" PARENT_SCOPE)
  set(_COMBINATIONS "${_COMBINATIONS}" PARENT_SCOPE)
  foreach(_ID IN LISTS _COMBINATIONS)
    set("_MEMBERS_OF.${_ID}" "${_MEMBERS_OF.${_ID}}" PARENT_SCOPE)
  endforeach()
  set(${OUT} "${_PROBLEM}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_read_combinations()
#
# The part of _iree_dispatch_read_substitutes() for combinations; appends to _PROBLEM in the caller's scope.
function(_iree_dispatch_read_combinations)
  set(_COMBINATIONS "")
  foreach(_COMBINATION IN LISTS _RULE_COMBINATIONS)
    if(NOT _COMBINATION MATCHES "^([A-Za-z0-9_]+)=([A-Za-z0-9_]+)$")
      string(APPEND _PROBLEM "\n  combination '${_COMBINATION}' is not of the form <id>=<substitution>")
      continue()
    endif()
    set(_ID "${CMAKE_MATCH_1}")
    set(_MEMBER "${CMAKE_MATCH_2}")
    if(_ID IN_LIST _SUBSTITUTIONS)
      string(APPEND _PROBLEM "\n  '${_ID}' is a combination and a substitution")
    endif()
    if(NOT _MEMBER IN_LIST _SUBSTITUTIONS)
      string(APPEND _PROBLEM "\n  combination '${_ID}' has '${_MEMBER}', which is no substitution of SUBSTITUTES")
    endif()
    foreach(_DISPATCH IN LISTS "_DISPATCHES_OF.${_MEMBER}")
      if(_DISPATCH IN_LIST "_REPLACED_BY.${_ID}")
        string(APPEND _PROBLEM "\n  combination '${_ID}' replaces '${_DISPATCH}' twice")
      endif()
      list(APPEND "_REPLACED_BY.${_ID}" "${_DISPATCH}")
    endforeach()
    list(APPEND _COMBINATIONS "${_ID}")
    list(APPEND "_MEMBERS_OF.${_ID}" "${_MEMBER}")
    set("_MEMBERS_OF.${_ID}" "${_MEMBERS_OF.${_ID}}" PARENT_SCOPE)
  endforeach()
  list(REMOVE_DUPLICATES _COMBINATIONS)
  set(_COMBINATIONS "${_COMBINATIONS}" PARENT_SCOPE)
  set(_PROBLEM "${_PROBLEM}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_substitution_steps()
#
# The steps of all substitutions and combinations of the suite, and the suite's target, which makes them too.
function(_iree_dispatch_substitution_steps)
  add_custom_target("${_TARGET}")
  add_dependencies("${_TARGET}" "${_MODULES_TARGET}")
  _iree_dispatch_suite_dir(_SUITE_DIR)
  get_property(_CODE_STAMP GLOBAL PROPERTY _IREE_DISPATCH_CODE_STAMP)
  foreach(_ID IN LISTS _SUBSTITUTIONS _COMBINATIONS)
    _iree_dispatch_substitution_names("${_ID}")
    file(MAKE_DIRECTORY "${_SUB_DIR}/dispatches")
    if(_ID IN_LIST _SUBSTITUTIONS)
      _iree_dispatch_prepare_steps("${_ID}")
      _iree_dispatch_substitute_steps("${_ID}")
    endif()
    if("model" IN_LIST _REPLACED)
      _iree_dispatch_substitute_model_step("${_ID}")
    endif()
    _iree_dispatch_substitution_target("${_ID}")
  endforeach()
endfunction()

# _iree_dispatch_substitution_target()
#
# Creates the target that makes all modules of a substitution or combination. A combination needs those of its members'
# dispatches: by them a test sees whether its whole model should differ from the compiler's own.
function(_iree_dispatch_substitution_target ID)
  set(_MODULES "")
  if("model" IN_LIST _REPLACED)
    list(APPEND _MODULES "${_COMPILE_TARGET}model" "${_MODULES_TARGET}.model")
  endif()
  foreach(_MEMBER IN LISTS "_MEMBERS_OF.${ID}")
    _iree_dispatch_substitution_names("${_MEMBER}")
    foreach(_DISPATCH IN LISTS "_DISPATCHES_OF.${_MEMBER}")
      list(APPEND _MODULES "${_COMPILE_TARGET}${_DISPATCH}" "${_MODULES_TARGET}.${_DISPATCH}")
    endforeach()
  endforeach()
  foreach(_PROPERTY IN ITEMS _IREE_DISPATCH_BENCHMARK_TOOL _IREE_DISPATCH_RUN_TOOL)
    get_property(_TOOL GLOBAL PROPERTY "${_PROPERTY}")
    if(TARGET "${_TOOL}")
      list(APPEND _MODULES "${_TOOL}")
    endif()
  endforeach()
  _iree_dispatch_substitution_names("${ID}")
  add_custom_target("${_SUB_TARGET}")
  add_dependencies("${_SUB_TARGET}" ${_MODULES})
  add_dependencies("${_TARGET}" "${_SUB_TARGET}")
endfunction()

# _iree_dispatch_substitute_file()
#
# Sets OUT to the file that takes the place of a dispatch: the user's, or what _iree_dispatch_prepare_steps() makes of it.
#
# Objects are named by ids: IREE does not quote their names in the command of its linker. One for several dispatches has the
# name of the first.
function(_iree_dispatch_substitute_file ID DISPATCH OUT)
  set(_KIND "${_KIND_OF.${ID}.${DISPATCH}}")
  _iree_dispatch_absolute("${_FILE_OF.${ID}.${DISPATCH}}" _FILE)
  if(_KIND STREQUAL "kernel")
    set(_FILE "${_DIR}/substitutions/${ID}/${ID}.${_RULE_OBJECT_SUFFIX}")
  elseif(_KIND STREQUAL "object")
    cmake_path(GET _FILE EXTENSION LAST_ONLY _SUFFIX)
    foreach(_NAME IN LISTS "_DISPATCHES_OF.${ID}")
      if("${_FILE_OF.${ID}.${_NAME}}" STREQUAL "${_FILE_OF.${ID}.${DISPATCH}}")
        set(_FIRST "${_NAME}")  # _NAME is gone behind the loop, by policy CMP0124
        break()
      endif()
    endforeach()
    set(_FILE "${_DIR}/substitutions/${ID}/${_FIRST}${_SUFFIX}")
  elseif(_KIND STREQUAL "tuning_spec")
    set(_FILE "${_DIR}/substitutions/${ID}/tuned.mlir")
  endif()
  set(${OUT} "${_FILE}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_substitute_stamps()
#
# Sets OUT to the stamps of all steps that put the substitute of a dispatch in place.
function(_iree_dispatch_substitute_stamps ID DISPATCH OUT)
  set(_KIND "${_KIND_OF.${ID}.${DISPATCH}}")
  _iree_dispatch_substitute_file("${ID}" "${DISPATCH}" _FILE)
  set(_NAME "${DISPATCH}")
  if(_KIND STREQUAL "tuning_spec")
    set(_NAME "tuned")
  endif()
  set(_STAMPS "${_DIR}/substitutions/${ID}/dispatches/${_NAME}.stamp")
  if(NOT _KIND MATCHES "^(source|configuration)$")
    list(APPEND _STAMPS "${_FILE}.stamp")
  endif()
  set(${OUT} "${_STAMPS}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_linked_objects()
#
# Sets OUT to the object file that IREE links into the module of a dispatch, or to nothing: only CPUs have linked objects,
# other targets have them in the IR.
function(_iree_dispatch_linked_objects ID DISPATCH OUT)
  set(_OBJECTS "")
  if("${_KIND_OF.${ID}.${DISPATCH}}" MATCHES "^(object|kernel)$"
     AND "--iree-hal-local-target-device-backends=llvm-cpu" IN_LIST _RULE_COMPILE_FLAGS)
    _iree_dispatch_substitute_file("${ID}" "${DISPATCH}" _OBJECTS)
  endif()
  set(${OUT} "${_OBJECTS}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_is_checked()
#
# Sets OUT to whether the outputs of substitutes are compared with those of the kernels that they replace.
function(_iree_dispatch_is_checked ID OUT)
  set(_FLAGS "${_RULE_SUBSTITUTE_FLAGS}")
  list(FILTER _FLAGS INCLUDE REGEX "^${ID}=--tolerance=")
  set(_IS_CHECKED OFF)
  if(NOT "${_FLAGS}" STREQUAL "")
    set(_IS_CHECKED ON)
  endif()
  set(${OUT} "${_IS_CHECKED}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_unlinked_flags()
#
# Sets OUT to the flags of modules that hold executables of two targets, where substitutions, given as further arguments, may
# be made for another one: IREE links all executables into one library for the target of the first.
function(_iree_dispatch_unlinked_flags OUT)
  set(${OUT} "" PARENT_SCOPE)
  foreach(_ID IN LISTS ARGN)
    if("${_ID}=--allow-other-target" IN_LIST _RULE_SUBSTITUTE_FLAGS)
      set(${OUT} "--iree-hal-link-executables=false" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# _iree_dispatch_objects_of_model()
#
# Sets OUT to the object files that IREE links into the whole model of a substitution or combination.
function(_iree_dispatch_objects_of_model ID OUT)
  set(_OBJECTS "")
  foreach(_MEMBER IN LISTS "_MEMBERS_OF.${ID}")
    foreach(_DISPATCH IN LISTS "_DISPATCHES_OF.${_MEMBER}")
      _iree_dispatch_linked_objects("${_MEMBER}" "${_DISPATCH}" _LINKED)
      list(APPEND _OBJECTS ${_LINKED})
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES _OBJECTS)
  set(${OUT} "${_OBJECTS}" PARENT_SCOPE)
endfunction()
