#!/bin/sh
# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Runs %{name} with the Python and the packages that lie beside this file, and with no others.
set -eu
case "$0" in
  */*) root=${0%/*} ;;
  *) root=. ;;
esac
root=$(CDPATH='' cd -- "$root" && pwd)
export PYTHONHOME="$root/python"
export PYTHONPATH="$root/site-packages:$root/substitute-site-packages:$root/import-site-packages:\
$root/measure-site-packages:$root/packages"
export LD_LIBRARY_PATH="$root/python/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
# -S: no packages of the machine; -s: none of the user; the empty entry of the path is the working directory.
exec "$root/python/bin/python3" -B -S -s -X utf8 -c '
import sys
sys.path = [entry for entry in sys.path if entry]
sys.argv[0] = "%{name}"
try:
    %{run}
except ModuleNotFoundError as error:
    sys.exit(f"""error: {error}
  try: bazel sync --configure (Bazel 8 and newer: bazel fetch --configure --force), where packages were installed since
       Bazel looked for them""")
' "$@"
