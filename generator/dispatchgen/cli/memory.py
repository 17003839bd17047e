"""Commands that hold very many objects, of which none is garbage."""

from __future__ import annotations

import gc

import click


def collect_nothing() -> None:
    """Stops the garbage collector for the rest of a command: it would look at the same objects again and again.

    What is still there at the end is not looked at by the interpreter either.
    """
    gc.disable()
    click.get_current_context().call_on_close(_go_on)


def _go_on() -> None:
    gc.freeze()
    gc.enable()
