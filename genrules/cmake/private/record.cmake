# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Recording what steps take: `<product>.step.json`, beside the product.

include_guard(GLOBAL)

# _iree_dispatch_record()
#
# Sets, in the caller's scope, what the step that makes PRODUCT needs to be recorded. Where nothing is to be recorded it is
# as if there were none of it.
#
#   _RECORDED          stands in front of the command; the first word of the command then names no target
#   _RECORDED_COMPILE  the same, and iree-compile
#   _RECORD            the file, one of the BYPRODUCTS: it stays as long as the product does
function(_iree_dispatch_record PRODUCT)
  set(_RECORDED "")
  set(_RECORDED_COMPILE "${_COMPILE_TOOL}")
  set(_RECORD "")
  if(DISPATCHGEN_RECORD_STEPS)
    set(_RECORD "${PRODUCT}.step.json")
    set(_RECORDED "${_PYTHON}" -I -S "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/record_step.py" "${_RECORD}")
    set(_RECORDED_COMPILE ${_RECORDED} "${_COMPILER}")
  endif()
  set(_RECORDED "${_RECORDED}" PARENT_SCOPE)
  set(_RECORDED_COMPILE "${_RECORDED_COMPILE}" PARENT_SCOPE)
  set(_RECORD "${_RECORD}" PARENT_SCOPE)
endfunction()
