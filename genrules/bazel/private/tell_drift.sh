#!/bin/sh
# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# tell_drift.sh <drift.txt>
#
# Prints how the dispatches of a build differ from the lock. The test is skipped where they do: a build that may drift is
# not red for it, and not plainly green either.

set -eu
. "${0%/*}/test_functions.sh"

cat "$1"
if [ -s "$1" ]; then
  skip "the dispatches are not those that the lock lists"
fi
echo "the dispatches are those that the lock lists"
