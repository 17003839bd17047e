# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -DDEPFILE=<file> -DFOLDER=<folder> -P absolute_depfile.cmake
#
# Makes the relative paths in a file of dependencies, as gcc writes it, absolute: they start at the folder in which the
# compiler ran, while CMake takes them from the build tree.

cmake_minimum_required(VERSION 3.25)

string(ASCII 1 _START)  # of a relative path; FOLDER itself may be in any path
file(READ "${DEPFILE}" _TEXT)
string(REGEX REPLACE "([^ \\\n]|\\\\[^\n])+" "${_START}\\0" _TEXT "${_TEXT}")
string(REPLACE "${_START}/" "/" _TEXT "${_TEXT}")
foreach(_CHARACTER IN ITEMS " " "#")
  string(REPLACE "${_CHARACTER}" "\\${_CHARACTER}" FOLDER "${FOLDER}")
endforeach()
string(REPLACE "$" "$$" FOLDER "${FOLDER}")
string(REPLACE "${_START}" "${FOLDER}/" _TEXT "${_TEXT}")
file(WRITE "${DEPFILE}" "${_TEXT}")
