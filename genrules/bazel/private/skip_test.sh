# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Functions of the scripts that run as tests of Bazel.

# Text as the value of an attribute of XML, which cannot hold control characters.
xml_text() {
  printf %s "$1" | LC_ALL=C tr -d '\000-\010\013\014\016-\037' |
    LC_ALL=C sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g' -e 's/"/\&quot;/g'
}

# Ends the test as skipped. Bazel has no such outcome: to it the test passed, but its XML says skipped, with the reason.
skip() {
  printf 'dispatchgen: skipped: %s\n' "$1"
  if [ -n "${XML_OUTPUT_FILE:-}" ]; then
    name=$(xml_text "${TEST_TARGET:-benchmark}")
    cat > "$XML_OUTPUT_FILE" <<XML
<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="$name" tests="1" failures="0" errors="0" skipped="1">
    <testcase name="$name" time="0"><skipped message="$(xml_text "$1")"/></testcase>
  </testsuite>
</testsuites>
XML
  fi
  exit 0
}
