#!/bin/sh
# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# run_quoted.sh <word>...
#
# Runs a command, without the `#` that a word starts with. For its sake CMake quotes the word in what it writes for the shell,
# which it does not do for all that shells expand: `?`, `[a]` and, in some, `{a,b}`.

for word; do
  shift
  set -- "$@" "${word#'#'}"
done
exec "$@"
