"""`dispatchgen extract`, which the build calls."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("configured", type=click.Path(path_type=Path))
@click.option("--lock", "lock_path", type=click.Path(path_type=Path), required=True, help="The model's lock file.")
@click.option("--backend", required=True, help="Id of the backend.")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="Folder of the benchmark modules.")
@click.option(
    "--listed",
    metavar="SHA256",
    help="Of the names of dispatches and calls that the build file lists; must be those of the lock.",
)
def command(configured: Path, lock_path: Path, backend: str, output: Path, listed: str | None) -> None:
    """Write the benchmark modules of a configured module.

    CONFIGURED is what `iree-compile --compile-to=executable-configurations` wrote. Files whose bytes do not
    change are left alone. Exits 1 when the dispatches are not those that the lock lists.
    """
    from dispatchgen.lock.modules import write_modules

    difference = write_modules(configured, lock_path, backend, output, listed)
    for line in difference.lines():
        click.echo(f"note: {line}")
