# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# What a build of IREE is configured for, where the compiler or the benchmark tool is built in the same build.

include_guard(GLOBAL)

# _iree_dispatch_is_built()
#
# Sets OUT to whether a program of IREE's is built in this build, not imported into it.
function(_iree_dispatch_is_built PROGRAM OUT)
  set(_IS_BUILT OFF)
  if(TARGET "${PROGRAM}")
    get_target_property(_IMPORTED "${PROGRAM}" IMPORTED)
    if(NOT _IMPORTED)
      set(_IS_BUILT ON)
    endif()
  endif()
  set(${OUT} "${_IS_BUILT}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_disabled_target()
#
# Sets OUT to the option of IREE's build that is off, and that the compile flags in _RULE_COMPILE_FLAGS of the caller's
# scope need; to nothing where there is none. Of a compiler that is not built here nothing is known.
function(_iree_dispatch_disabled_target OUT)
  set(${OUT} "" PARENT_SCOPE)
  _iree_dispatch_is_built(iree-compile _IS_BUILT)
  if(NOT _IS_BUILT)
    return()
  endif()
  set(_LOCAL "${_RULE_COMPILE_FLAGS}")
  list(FILTER _LOCAL INCLUDE REGEX "^--iree-hal-local-target-device-backends=")
  set(_DEVICE "${_RULE_COMPILE_FLAGS}")
  list(FILTER _DEVICE INCLUDE REGEX "^--iree-hal-target-device=")
  string(REGEX REPLACE "^.*=" "" _NAME "${_DEVICE}")
  if(_NAME STREQUAL "local")
    string(REGEX REPLACE "^.*=" "" _NAME "${_LOCAL}")
  endif()
  # Targets that IREE's options call otherwise than its flags.
  set(_OPTION_OF_vulkan "vulkan-spirv")
  set(_OPTION_OF_metal "metal-spirv")
  set(_OPTION_OF_webgpu "webgpu-spirv")
  set(_OPTION_OF_hip "rocm")
  set(_OPTION_OF_amdgpu "rocm")
  if(DEFINED "_OPTION_OF_${_NAME}")
    set(_NAME "${_OPTION_OF_${_NAME}}")
  endif()
  string(TOUPPER "IREE_TARGET_BACKEND_${_NAME}" _OPTION)
  string(REPLACE "-" "_" _OPTION "${_OPTION}")
  if(DEFINED "${_OPTION}" AND NOT "${${_OPTION}}")
    set(${OUT} "${_OPTION}" PARENT_SCOPE)
  endif()
endfunction()

# _iree_dispatch_disabled_driver()
#
# Sets OUT to the option of IREE's build that is off, and that a HAL driver needs; to nothing where there is none. Of a
# benchmark tool that is not built here nothing is known.
function(_iree_dispatch_disabled_driver DRIVER OUT)
  set(${OUT} "" PARENT_SCOPE)
  _iree_dispatch_is_built(iree-benchmark-module _IS_BUILT)
  if(NOT _IS_BUILT)
    return()
  endif()
  string(TOUPPER "${DRIVER}" _NAME)
  string(REPLACE "-" "_" _NAME "${_NAME}")
  set(_OPTION "IREE_HAL_DRIVER_${_NAME}")
  if(DEFINED "${_OPTION}" AND NOT "${${_OPTION}}" AND NOT "${IREE_EXTERNAL_${_NAME}_HAL_DRIVER_FOUND}")
    set(${OUT} "${_OPTION}" PARENT_SCOPE)
  endif()
endfunction()

# _iree_dispatch_built_compiler()
#
# Sets, for a compiler that is built in this build, DEPENDS to what its commands depend on besides the program, and FLAGS
# to the flags that it needs to find its linker.
#
# The program is a small launcher. Most of a change of the compiler is in its library: it is linked anew, the program
# perhaps not.
function(_iree_dispatch_built_compiler DEPENDS FLAGS)
  set(_DEPENDS "")
  if(TARGET iree_compiler_API_SharedImpl AND IREE_LINK_COMPILER_SHARED_LIBRARY AND NOT BUILD_SHARED_LIBS)
    list(APPEND _DEPENDS "$<TARGET_FILE:iree_compiler_API_SharedImpl>")
  endif()
  set(_FLAGS "")
  if(IREE_LLD_BINARY)
    list(APPEND _FLAGS "--iree-llvmcpu-embedded-linker-path=${IREE_LLD_BINARY}")
    list(APPEND _DEPENDS "${IREE_LLD_BINARY}")
  endif()
  set(${DEPENDS} "${_DEPENDS}" PARENT_SCOPE)
  set(${FLAGS} "${_FLAGS}" PARENT_SCOPE)
endfunction()
