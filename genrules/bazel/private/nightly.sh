#!/bin/sh
# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Measures a preset of a suite as a whole, or compares what was measured. Started where the paths of the runfiles start, which
# all paths are relative to:
#
#   nightly.sh measure DISPATCHGEN MANIFEST (FILE PATH)... -- BUILT OPTIONS...
#     A test: measures what is built in the folder BUILT, with copies of these files at their paths in the source tree. Results
#     are left in the undeclared outputs.
#   nightly.sh check|save|update DISPATCHGEN MANIFEST TEST OUTPUTS PRESET BASELINE [RESULT...] [OPTION...]
#     `bazel run`: compares results with the baseline in the source tree, or keeps them there. Without RESULT, those that TEST
#     left in OUTPUTS below bazel-testlogs. What follows the first option is passed on as it is.
set -eu
mode=$1
dispatchgen=$PWD/$2
manifest=$3
shift 3

if [ "$mode" = measure ]; then
  # A manifest may not refer to files outside its folder, and runfiles are links. Another name for a file takes no time.
  copy=${TEST_TMPDIR:?is not set: start this with bazel test}/workspace
  while [ "$1" != -- ]; do
    mkdir -p "$(dirname "$copy/$2")"
    ln -L "$1" "$copy/$2" 2> /dev/null || cp "$1" "$copy/$2"
    shift 2
  done
  built=$2
  shift 2
  exec "$dispatchgen" nightly "$copy/$manifest" --built "$built" --output "${TEST_UNDECLARED_OUTPUTS_DIR:-$TEST_TMPDIR/nightly}" "$@"
fi

test=$1
outputs=$2
preset=$3
baseline=$4
shift 4
if [ -z "${BUILD_WORKSPACE_DIRECTORY:-}" ]; then
  echo "error: this works in the source tree: start it with 'bazel run'" >&2
  exit 2
fi
# Paths of the user's are relative to where bazel was started.
cd "${BUILD_WORKING_DIRECTORY:-$BUILD_WORKSPACE_DIRECTORY}"
given=0  # how many results lead the arguments
after=
for argument; do
  case $after$mode:$argument in
    # Others would be put together with these.
    *check:--results* | "after options, save:"[!-]*)
      echo "error: results go before options: $argument" >&2
      exit 2
      ;;
    *:-*) after="after options, " ;;
    "$mode":*) given=$((given + 1)) ;;
  esac
done
if [ $given = 0 ]; then
  outputs=$BUILD_WORKSPACE_DIRECTORY/bazel-testlogs/$outputs
  result=$outputs/results.json
  # What an older Bazel or another setting left stays there beside what is newer.
  if [ -f "$outputs/outputs.zip" ] && [ ! "$result" -nt "$outputs/outputs.zip" ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    trap 'exit 1' HUP INT TERM
    result=$folder/results.json
    unzip -q -o "$outputs/outputs.zip" results.json -d "$folder" || :
  fi
  if [ ! -f "$result" ]; then
    echo "error: there is no result of a last run: no $result" >&2
    echo "  try: bazel test $test; or give files with results after --, before options" >&2
    exit 1
  fi
  set -- "$result" "$@"
  given=1
fi
manifest=$BUILD_WORKSPACE_DIRECTORY/$manifest
if [ "$mode" = check ]; then
  for argument; do
    shift
    if [ $given -gt 0 ]; then
      set -- "$@" --results "$argument"
      given=$((given - 1))
    else
      set -- "$@" "$argument"
    fi
  done
  "$dispatchgen" nightly "$manifest" --preset "$preset" "$@"
else
  "$dispatchgen" baseline "$mode" "$baseline" "$@" --manifest "$manifest"
fi
