#!/bin/sh
# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# run_benchmark.sh [--keep-result] [--skip-absent-device] [--placeholder FILE] [--change MODULE ORIGINAL]...
#   [--original MODULE ORIGINAL] -- <iree-benchmark-module> <flags>...
#
# Runs benchmarks as a test of Bazel. The test passes only if all of them were measured; with --keep-result it then leaves
# their JSON as benchmark.json in its undeclared outputs. It is skipped where FILE, the source of the module, says so in its
# first line, and with --skip-absent-device where this machine does not have the device.
#
# Of a substitution, --original says which module is run, and which the compiler made without it. Where they are the same,
# that is said. Of a whole program, --change says the same of each dispatch that is replaced in it: where one of them is
# another, the program must be as well.

set -u
. "${0%/*}/test_functions.sh"

# Whether two files have the same bytes.
is_same() {
  cmp -s "$1" "$2"
  case $? in
    0) return 0 ;;
    1) return 1 ;;
    *) fail "$1 and $2 were not compared" ;;
  esac
}

keep_result=
skip_absent_device=
placeholder=
changed=
original=
device=
while [ "$1" != -- ]; do
  case $1 in
    --keep-result) keep_result=yes ;;
    --skip-absent-device) skip_absent_device=yes ;;
    --placeholder) placeholder=$2; shift ;;
    --change) is_same "$2" "$3" || changed=$2; shift 2 ;;
    --original) module=$2 original=$3; shift 2 ;;
    *) echo "run_benchmark.sh: unknown option: $1" >&2; exit 2 ;;
  esac
  shift
done
shift

end_where_placeholder "$placeholder"
if [ -n "$original" ] && is_same "$module" "$original"; then
  if [ -n "$changed" ]; then
    fail "the substitution did not take place: the whole model is the same code as the compiler's own, $changed is not"
  fi
  echo "note: the same code as the compiler's own"
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
  end_where_absent "$scratch/output" "$device" "$skip_absent_device"
  fail "iree-benchmark-module failed: $exit_code"
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
