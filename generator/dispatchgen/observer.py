"""How long work tells how far it is, without knowing where that is shown."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol


class Show(Protocol):
    """Says how far a stage is: `done` of `total` (None: unknown), and what is done now."""

    def __call__(self, done: int, total: int | None, what: str) -> None: ...


class Observer(Protocol):
    """Is told what goes on."""

    def stage(self, title: str) -> AbstractContextManager[Show]:
        """A stage of the job, while the context is open."""

    def say(self, text: str) -> None:
        """Something that a user should know."""
