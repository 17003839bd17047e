#!/bin/sh
# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Renews the lock files and build files of a suite, or checks that they are current. Started where the paths of the
# runfiles start, which all paths are relative to:
#
#   update.sh update DISPATCHGEN MANIFEST IREE_COMPILE FLAGS...           writes into the source tree
#   update.sh check DISPATCHGEN MANIFEST UPDATE_TARGET (FILE PATH)... --  looks at these files, at their paths there
set -eu
mode=$1
dispatchgen=$PWD/$2
manifest=$3

if [ "$mode" = update ]; then
  bin_dir=$PWD/$(dirname "$4")
  if [ -z "${BUILD_WORKSPACE_DIRECTORY:-}" ]; then
    echo "error: this writes into the source tree: start it with 'bazel run'" >&2
    exit 2
  fi
  cd "$BUILD_WORKSPACE_DIRECTORY"
  shift 4
  "$dispatchgen" lock "$manifest" --iree-host-bin-dir "$bin_dir" "$@"
  exec "$dispatchgen" generate "$manifest"
fi

# A manifest may not refer to files outside its folder, and runfiles are links: the files are copied.
update_target=$4
shift 4
copy=$TEST_TMPDIR/workspace
while [ "$1" != -- ]; do
  mkdir -p "$(dirname "$copy/$2")"
  cp "$1" "$copy/$2"
  shift 2
done
cd "$copy"
if ! { "$dispatchgen" lock "$manifest" --check --no-compile && "$dispatchgen" generate "$manifest" --check; }; then
  echo "error: the lock files or the build files are stale" >&2
  echo "  try: bazel run $update_target" >&2
  exit 1
fi
