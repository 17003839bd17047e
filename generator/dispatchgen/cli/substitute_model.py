"""`dispatchgen substitute-model`, which the build calls."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("configured", type=click.Path(path_type=Path))
@click.argument("executables", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="EXECUTABLE...")
@click.option(
    "--index", type=click.Path(path_type=Path), required=True, metavar="FILE", help="index.json of the extraction."
)
@click.option("--output", type=click.Path(path_type=Path), required=True, metavar="FILE", help="The module to write.")
def command(configured: Path, executables: tuple[Path, ...], index: Path, output: Path) -> None:
    """Write a configured module in which substitutes stand in place of the compiler's own executables.

    EXECUTABLE is `<dispatch>.executable.mlir`, as `dispatchgen substitute` wrote it.
    """
    from dispatchgen.substitute.program import write_program

    for line in write_program(configured, index, output, executables):
        click.echo(f"note: {line}")
