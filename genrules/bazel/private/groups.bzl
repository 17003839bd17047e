# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Targets that stand for several others."""

# A tag that no test has. A test_suite without tests and tags would be all tests of the package.
_NO_TEST_TAG = "iree-dispatch-no-test"

# Attributes that every target has. Those that only targets with actions have are not for groups.
COMMON_ATTRIBUTES = [
    "compatible_with",
    "deprecation",
    "restricted_to",
    "testonly",
    "visibility",
]

def create_filegroup(name, srcs, attributes):
    """Creates a filegroup that nothing joins by itself.

    Args:
      name: Name of the target.
      srcs: Labels.
      attributes: The attributes of all targets of the macro; it takes those that it has.
    """
    native.filegroup(
        name = name,
        srcs = srcs,
        tags = ["manual"],
        **_common(attributes)
    )

def create_test_suite(name, tests, attributes):
    """Creates a test_suite that nothing joins by itself.

    Args:
      name: Name of the target.
      tests: Labels; none: the suite has no tests.
      attributes: The attributes of all targets of the macro; it takes those that it has.
    """
    native.test_suite(
        name = name,
        tests = tests,
        # Other tags than `manual` select among the tests.
        tags = ["manual"] if tests else ["manual", _NO_TEST_TAG],
        **_common(attributes)
    )

def _common(attributes):
    return {name: value for name, value in attributes.items() if name in COMMON_ATTRIBUTES}
