"""Showing how far something is: a bar on a terminal, plain lines elsewhere, always on standard error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from dispatchgen.observer import Show

#: Seconds between two plain lines: a log of thousands of steps helps nobody.
_PLAIN_SECONDS = 10.0


class _Plain:
    """A line at the start, every few seconds and at the end."""

    def __init__(self, console: Console, title: str) -> None:
        self._console = console
        self._title = title
        self._next = 0.0

    def __call__(self, done: int, total: int | None, what: str) -> None:
        now = time.monotonic()
        if now < self._next and done != total:
            return
        self._next = now + _PLAIN_SECONDS
        progress = f"[{done}/{total}] " if total is not None else ""
        say(self._console, f"{self._title}: {progress}{what}".rstrip())


class _Bar:
    def __init__(self, progress: Progress, title: str) -> None:
        self._progress = progress
        self._task = progress.add_task(title, total=None, what="")

    def __call__(self, done: int, total: int | None, what: str) -> None:
        self._progress.update(self._task, completed=done, total=total, what=what)


@contextmanager
def showing(console: Console, title: str) -> Iterator[Show]:
    """Shows the progress of what the body does."""
    if not console.is_terminal:
        yield _Plain(console, title)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[what]}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield _Bar(progress, title)


def say(console: Console, text: str) -> None:
    """Prints a text as it is: no markup, no highlighting, no wrapping."""
    console.print(Text(text), soft_wrap=True)


class ConsoleObserver:
    """Shows a job on a console."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def stage(self, title: str) -> AbstractContextManager[Show]:
        """Shows how far a stage is."""
        return showing(self._console, title)

    def say(self, text: str) -> None:
        """Prints a line."""
        say(self._console, text)
