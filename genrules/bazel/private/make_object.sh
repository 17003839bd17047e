#!/bin/sh
# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# make_object.sh <folder> <source> <output> <program> <arguments>...
#
# Runs a user's command in a folder, and fails where it does not write its file. In its words, `{source}` is a path in that
# folder, and `{output}` the file to write, a path that is relative to where this is started: from the folder there may be no
# way back, as it may be a link.

source=$2
output=$PWD/$3
cd "$1" || exit
shift 3
for rest; do
  shift
  word=
  while :; do
    case $rest in
      '{source}'*) word=$word$source rest=${rest#'{source}'} ;;
      '{output}'*) word=$word$output rest=${rest#'{output}'} ;;
      '{'*) word=$word'{' rest=${rest#'{'} ;;
      *'{'*) word=$word${rest%%'{'*} rest='{'${rest#*'{'} ;;
      *) break ;;
    esac
  done
  set -- "$@" "$word$rest"
done

# Compilers write the name of the folder that they run in into what they make, and each sandbox is another one.
if [ -d /proc/self/cwd ]; then
  export PWD=/proc/self/cwd
fi
"$@" || exit
if [ ! -f "$output" ]; then
  echo "error: the command did not write {output}, a file: $output" >&2
  exit 1
fi
