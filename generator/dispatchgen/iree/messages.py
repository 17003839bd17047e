"""The texts of IREE's programs that dispatchgen must recognise, because their exit codes do not tell.

Each was seen on the 3.12 and 3.13 wheels. Whatever relies on a text of IREE asks here.
"""

from __future__ import annotations

import re

#: iree-benchmark-module, where its filter selects nothing or the module has no benchmark; its exit code is 0.
NO_BENCHMARK = "Failed to match any benchmarks"
#: What the runtime says where the driver was not built in or its library is absent, or there is no such device: regular
#: expressions. The rules have the same list: cmake/private/tests.cmake and bazel/private/run_benchmark.sh in genrules/.
ABSENT_DEVICE = (
    r"no driver '[^']*' registered",
    r": UNAVAILABLE[^\n]*library",
    r"creating device '",
    r"no devices found",
)
_CRASH = ("Please report issues to https://github.com/iree-org/iree/issues", "PLEASE submit a bug report")


def matched_no_benchmark(output: str) -> bool:
    """Whether iree-benchmark-module ran nothing."""
    return NO_BENCHMARK in output


def device_is_absent(output: str) -> bool:
    """Whether a program failed because this machine does not have the device, or its driver."""
    return any(re.search(pattern, output) for pattern in ABSENT_DEVICE)


def status_message(output: str) -> str | None:
    """The message of the first error status that the runtime prints, without source place and context; None: none.

    The form is `<source file>:<line>: <CODE>; <message>; <context>; ...`.
    """
    match = re.search(r"^\S+:\d+: ([A-Z_]+); (.*?)(?:; (?:creating|resolving|loading) .*)?$", output, re.MULTILINE)
    return f"{match[2].rstrip(':; ')} ({match[1]})" if match else None


def driver_names(listing: str) -> list[str]:
    """Names of the HAL drivers in what `--list_drivers` prints: `<name>: <description>` per line, right-aligned."""
    return re.findall(r"^ *([\w-]+): ", listing, re.MULTILINE)


def is_crash(stderr: str) -> bool:
    """Whether iree-compile ended by its crash handler, which turns signals into exit codes in some builds."""
    return any(text in stderr for text in _CRASH)


def missing_python_module(stderr: str) -> str | None:
    """Top-level name of the module whose absence ended a Python program, or None."""
    # IREE's importer, which catches Python's own error, or Python.
    match = re.search(r"requires that the `([\w.]+)` Python package is installed", stderr)
    match = match or re.search(r"\bNo module named '?([\w.]+)", stderr)
    return match[1].split(".")[0] if match else None


def python_error(stderr: str) -> str | None:
    """The message of the exception that ended a Python program, without its traceback; None where there is none."""
    _, found, last = stderr.rpartition("Traceback (most recent call last):\n")
    if not found:
        return None
    # Indented lines are the frames; then come the exception's class and its message, which may have several lines.
    match = re.search(r"^(?! )[\w.]+: (.*)\Z", last.rstrip(), re.MULTILINE | re.DOTALL)
    return match[1] if match else last.rstrip().splitlines()[-1]
