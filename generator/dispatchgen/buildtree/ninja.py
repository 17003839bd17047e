"""Reading what Ninja prints while it builds.

On a pipe, Ninja prints a line for each command that has ended, then the output of that command. A command that failed
is introduced by `FAILED: [code=1] <outputs>` (Ninja before 1.13: without the code) and the command itself. The form of
the status line is ours, by the environment variable NINJA_STATUS. On a pipe, Ninja does not mind whether the output in
front of it ended with a line end, so that ours starts with one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

#: Value of NINJA_STATUS: what no command prints by chance.
STATUS = "\n[dispatchgen %f/%t] "

_STATUS_LINE = re.compile(r"\[dispatchgen (?P<finished>\d+)/(?P<total>\d+)\] (?P<description>.*)")
_FAILED_LINE = re.compile(r"FAILED: (?:\[code=-?\d+\] )?(?P<outputs>.*)")


@dataclass(frozen=True)
class Progress:
    """A command has ended, well or not: `finished` of `total` commands are done."""

    finished: int
    total: int
    description: str


@dataclass(frozen=True)
class FailedEdge:
    """A command failed. `output` is what it printed, without the command line itself."""

    outputs: tuple[str, ...]
    output: str


@dataclass(frozen=True)
class Message:
    """A line of Ninja's own, `ninja: error: ...`; `ninja: build stopped` is not among them."""

    text: str


Event = Progress | FailedEdge | Message


def read_events(lines: Iterable[str]) -> Iterator[Event]:
    """Turns the lines that Ninja prints into events, each as soon as it is complete."""
    failed: list[str] | None = None  # the lines after FAILED
    outputs: tuple[str, ...] = ()
    for line in lines:
        text = line.rstrip("\r\n")
        status, failure = _STATUS_LINE.match(text), _FAILED_LINE.match(text)
        own = text.startswith("ninja: ")
        if failed is not None and (status or failure or own):
            yield FailedEdge(outputs, _joined(failed))
            failed = None
        if status:
            yield Progress(int(status["finished"]), int(status["total"]), status["description"])
        elif failure:
            outputs, failed = tuple(failure["outputs"].split()), []
        elif own:
            if not text.startswith(("ninja: build stopped", "ninja: no work to do", "ninja: Entering directory")):
                yield Message(text.removeprefix("ninja: ").removeprefix("error: "))
        elif failed is not None:
            failed.append(text)
    if failed is not None:
        yield FailedEdge(outputs, _joined(failed))


def _joined(lines: Sequence[str]) -> str:
    """What a command printed, of the lines after FAILED: the command is the first of them."""
    return "\n".join(lines[1:]).rstrip("\n")
