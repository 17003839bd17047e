#!/bin/sh
# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# run_benchmark.sh [--keep-result] [--skip-absent-device] [--placeholder FILE] -- <iree-benchmark-module> <flags>...
#
# Runs benchmarks as a test of Bazel. The test passes only if all of them were measured; with --keep-result it then leaves
# their JSON as benchmark.json in its undeclared outputs. It is skipped where FILE, the source of the module, says so in its
# first line, and with --skip-absent-device where this machine does not have the device.

set -u
. "${0%/*}/skip_test.sh"

keep_result=
skip_absent_device=
placeholder=
device=
while [ "$1" != -- ]; do
  case $1 in
    --keep-result) keep_result=yes ;;
    --skip-absent-device) skip_absent_device=yes ;;
    --placeholder) placeholder=$2; shift ;;
    *) echo "run_benchmark.sh: unknown option: $1" >&2; exit 2 ;;
  esac
  shift
done
shift

# What iree-benchmark-module prints where a device is absent: extended regular expressions, as the CMake rules have them
# in private/tests.cmake.
absent_device="no driver '[^']*' registered|: UNAVAILABLE.*library|creating device '|no devices found"

fail() {
  printf 'error: %s\n' "$1" >&2
  exit 1
}

if [ -n "$placeholder" ]; then
  reason=$(sed -n '1s|^// dispatchgen: skipped: ||p' "$placeholder") || fail "no file $placeholder"
  [ -z "$reason" ] || skip "$reason"
fi

scratch=$(mktemp -d "${TEST_TMPDIR:-${TMPDIR:-/tmp}}/dispatchgen.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
result=$scratch/benchmark.json

# The first, which the rules give; flags of the user follow.
for argument in "$@"; do
  case $argument in
    --device=*) device=${argument#--device=}; break ;;
  esac
done

# Printed while it runs, and kept.
{
  "$@" "--benchmark_out=$result" --benchmark_out_format=json 2>&1
  echo $? > "$scratch/exit_code"
} | tee "$scratch/output"

exit_code=$(cat "$scratch/exit_code")
if [ "$exit_code" != 0 ]; then
  absent=$(grep -E "$absent_device" "$scratch/output" | sed 1q)
  if [ -z "$absent" ]; then
    fail "iree-benchmark-module failed: $exit_code"
  elif [ -n "$skip_absent_device" ]; then
    skip "no device $device: $absent"
  fi
  fail "nothing was measured: this machine does not have the device $device
  try: \`dispatchgen doctor\`, which lists the devices that there are;
       --@dispatchgen//:absent_device=skip, with which such tests are skipped"
fi
if grep -q 'Failed to match any benchmarks' "$scratch/output" || ! grep -qs '"real_time":' "$result"; then
  fail "nothing was measured: iree-benchmark-module ended with exit code 0 and wrote no benchmark"
fi
if grep -q 'ERROR OCCURRED' "$scratch/output" || grep -Eq '^ *"(error_occurred|skipped)": true' "$result"; then
  fail "not all benchmarks were measured"
fi
if grep -Eiq '^ *"real_time": *[+-]?(inf|nan)' "$result"; then
  fail "nothing was measured: a time is not finite"
fi
if grep -Eq '^ *"iterations": *0,' "$result"; then
  fail "nothing was measured: a time is of no iteration"
fi

if [ -n "$keep_result" ] && [ -n "${TEST_UNDECLARED_OUTPUTS_DIR:-}" ]; then
  cp "$result" "$TEST_UNDECLARED_OUTPUTS_DIR/benchmark.json" || fail "the result was not kept"
fi
