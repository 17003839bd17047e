"""Where what commands give goes: files, and tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console, RenderableType

_F = TypeVar("_F", bound=Callable[..., Any])

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


def check_files(inputs: Iterable[Path], outputs: Mapping[str, Path | None]) -> None:
    """Raises UsageError where a file would be written over one that is read, or over another.

    Args:
      inputs: What is read.
      outputs: What is to be written, by option; None and `-` are no files.
    """
    files = [(option, file) for option, file in outputs.items() if file is not None and str(file) != "-"]
    for number, (option, file) in enumerate(files):
        if any(_is_same(file, each) for each in inputs):
            raise click.UsageError(f"{option}: '{file}' is read, and would be written over.")
        for other, before in files[:number]:
            if _is_same(file, before):
                raise click.UsageError(f"{other} and {option} are one file, '{file}'.")


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return one.resolve() == other.resolve()


def json_option(command: _F) -> _F:
    """`--json FILE`."""
    option = click.option(
        "--json",
        type=click.Path(path_type=Path, dir_okay=False),
        callback=result_file,
        metavar="FILE",
        help="Write the results as data; -: to stdout.",
    )
    return option(command)


def print_tables(tables: RenderableType, *, stderr: bool) -> None:
    """Prints tables to standard output, or to standard error where that holds data."""
    console = Console(stderr=stderr)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console = Console(stderr=stderr, width=_PLAIN_WIDTH)
    console.print(tables, highlight=False)
