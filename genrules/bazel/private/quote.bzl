# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Text as data of /bin/sh."""

def quote(text):
    """A word of /bin/sh that stands for exactly this text.

    Args:
      text: any string.

    Returns:
      string: the text in single quotes, between which the shell leaves all but those quotes alone.
    """
    return "'" + text.replace("'", "'\\''") + "'"
