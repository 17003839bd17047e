"""`dispatchgen cmake-dir`."""

from __future__ import annotations

import click

from dispatchgen.resources import genrules_dir


@click.command()
def command() -> None:
    """Print the folder of the CMake rules, for `include()`."""
    click.echo((genrules_dir() / "cmake").as_posix())
