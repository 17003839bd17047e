"""What the commands that measure have in common: their options, and where results go."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError
from rich.console import Console, RenderableType

from dispatchgen.manifest.schema import RunSection

#: Width of tables that do not go to a terminal, in characters: names are not to be broken.
_PLAIN_WIDTH = 240


def result_file(ctx: click.Context, parameter: click.Parameter, file: Path | None) -> Path | None:  # noqa: ARG001
    """Raises BadParameter where the results cannot be written to `file`: said before anything is measured."""
    if file is None or str(file) == "-":
        return file
    folder = file.parent
    if not folder.is_dir():
        raise click.BadParameter(f"there is no folder '{folder}'.")
    if file.exists() and not file.is_file():
        raise click.BadParameter(f"'{file}' is not a file; `-` stands for standard output.")
    if not os.access(folder, os.W_OK):
        raise click.BadParameter(f"no permission to write in '{folder}'.")
    return file


def checked_settings(given: dict[str, Any]) -> dict[str, Any]:
    """The run settings that replace the manifest's. Raises BadParameter by the manifest's own rules."""
    settings = {name: value for name, value in given.items() if value is not None}
    try:
        RunSection.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        option = str(first["loc"][0]).replace("_", "-")
        raise click.BadParameter(first["msg"].removeprefix("Value error, "), param_hint=f"--{option}") from None
    return settings


def print_tables(tables: RenderableType, *, stderr: bool) -> None:
    """Prints tables to standard output, or to standard error where that holds data."""
    console = Console(stderr=stderr)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console = Console(stderr=stderr, width=_PLAIN_WIDTH)
    console.print(tables, highlight=False)
