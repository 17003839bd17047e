# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -DOUTPUT=<file> -P check_output.cmake
#
# Fails where a user's command, which ended well, did not write its file.

cmake_minimum_required(VERSION 3.25)

if(IS_DIRECTORY "${OUTPUT}")
  message(FATAL_ERROR "the command made a folder of {output}, not a file: ${OUTPUT}")
elseif(NOT EXISTS "${OUTPUT}")
  message(FATAL_ERROR "the command did not write {output}: ${OUTPUT}")
endif()
