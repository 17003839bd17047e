#!/bin/sh
# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# check_outputs.sh [--skip-absent-device] [--placeholder FILE] DEVICE -- <dispatchgen> check-outputs <arguments>...
#
# Compares, as a test of Bazel, what a substitute writes with what it replaces. The test is skipped where FILE, the source of
# the module, says so in its first line, and with --skip-absent-device where this machine does not have the device.

set -u
. "${0%/*}/test_functions.sh"

skip_absent_device=
placeholder=
while [ "$2" != -- ]; do
  case $1 in
    --skip-absent-device) skip_absent_device=yes ;;
    --placeholder) placeholder=$2; shift ;;
    *) echo "check_outputs.sh: unknown option: $1" >&2; exit 2 ;;
  esac
  shift
done
device=$1
shift 2
end_where_placeholder "$placeholder"

export TMPDIR="${TEST_TMPDIR:-${TMPDIR:-/tmp}}"
output=$(mktemp "$TMPDIR/dispatchgen.XXXXXX") || exit 1
trap 'rm -f "$output"' EXIT
trap 'exit 1' HUP INT TERM

"$@" > "$output" 2>&1
exit_code=$?
cat "$output"
if [ "$exit_code" != 0 ]; then
  end_where_absent "$output" "$device" "$skip_absent_device"
  exit 1
fi
