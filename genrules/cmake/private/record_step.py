# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs a command, and records how long it took and the most memory that one of its processes had.

Called as `python -I -S record_step.py <record> <program> <argument>...`. Where the command fails there is no record,
and the exit code is the command's own. It imports next to nothing, since it runs once per step.
"""

from __future__ import annotations

import os
import sys
import time


def main(record: str, command: list[str]) -> int:
    """Runs a command; returns its exit code, or what shells make of a signal."""
    # pathlib takes longer to import than all the rest.
    if os.path.lexists(record):
        os.unlink(record)  # noqa: PTH108
    start = time.monotonic()
    try:
        code, peak_bytes = _run(command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return 127
    seconds = time.monotonic() - start
    if code == 0:
        peak = "null" if peak_bytes is None else peak_bytes
        try:
            with open(f"{record}.new", "w", encoding="ascii") as stream:  # noqa: PTH123
                stream.write(f'{{"seconds": {seconds:.6f}, "peak_bytes": {peak}}}\n')
            os.replace(f"{record}.new", record)  # noqa: PTH105
        except OSError as error:
            print(f"cannot write {record}: {error.strerror}", file=sys.stderr)
            return 1
    return code


def _run(command: list[str]) -> tuple[int, int | None]:
    """Runs a command; returns its exit code and its peak memory, None where the system does not tell."""
    if not hasattr(os, "wait4"):
        import subprocess

        return subprocess.call(command), None
    child = os.posix_spawnp(command[0], command, os.environ)
    while True:
        try:
            _, status, usage = os.wait4(child, 0)
            break
        except KeyboardInterrupt:  # Ctrl-C is the command's to answer, which has it too
            continue
    code = os.waitstatus_to_exitcode(status)
    # In KiB, of macOS in bytes. It is that of the largest of the command's processes, and at least that of this one.
    peak_bytes = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return (code if code >= 0 else 128 - code), peak_bytes


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
