# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -DREPORT=<drift.txt> -P tell_drift.cmake
#
# Prints how the dispatches of a build differ from the lock. Fails where that is not known.

cmake_minimum_required(VERSION 3.25)

if(NOT EXISTS "${REPORT}")
  message(FATAL_ERROR "not built: ${REPORT} does not exist")
endif()
file(READ "${REPORT}" _TEXT)
if(_TEXT STREQUAL "")
  message("the dispatches are those that the lock lists")
else()
  message("${_TEXT}dispatchgen: skipped: the dispatches are not those that the lock lists")
endif()
