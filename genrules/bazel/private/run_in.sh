#!/bin/sh
# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# run_in.sh <folder> <program> <arguments>...
#
# Starts a program in a folder, which its path is relative to.

cd "$1" && shift && exec "$@"
