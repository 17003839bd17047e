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

# Ends the test as failed.
fail() {
  printf 'error: %s\n' "$1" >&2
  exit 1
}

# What IREE's programs print where a device is absent: extended regular expressions, as the CMake rules have them in
# private/tests.cmake.
absent_device="no driver '[^']*' registered|: UNAVAILABLE.*library|creating device '|no devices found"

# end_where_absent OUTPUT DEVICE MAY_SKIP: ends the test where a program's output, a file, says that this machine does not
# have the device: as skipped where MAY_SKIP has a value, else as failed.
end_where_absent() {
  absent=$(grep -E "$absent_device" "$1" | sed 1q)
  if [ -z "$absent" ]; then
    return
  elif [ -n "$3" ]; then
    skip "no device $2: $absent"
  fi
  fail "nothing was measured: this machine does not have the device $2
  try: \`dispatchgen doctor\`, which lists the devices that there are;
       --@dispatchgen//:absent_device=skip, with which such tests are skipped"
}

# Ends the test as skipped where the first line of this file, the source of a module, says so. Without a file: nothing.
end_where_placeholder() {
  [ -n "$1" ] || return 0
  reason=$(sed -n '1s|^// dispatchgen: skipped: ||p' "$1") || fail "no file $1"
  [ -z "$reason" ] || skip "$reason"
}
