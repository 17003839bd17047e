"""`dispatchgen bazel-dir`."""

from __future__ import annotations

import click

from dispatchgen.resources import genrules_dir


@click.command()
def command() -> None:
    """Print the folder of the Bazel rules, for `local_repository()` or `--override_repository=dispatchgen=`."""
    click.echo((genrules_dir() / "bazel").as_posix())
