"""`dispatchgen extract`, which the build calls."""

from __future__ import annotations

from pathlib import Path

import click

from dispatchgen.manifest.suite import Drift


@click.command()
@click.argument("configured", type=click.Path(path_type=Path))
@click.option("--lock", "lock_path", type=click.Path(path_type=Path), required=True, help="The model's lock file.")
@click.option("--backend", required=True, help="Id of the backend.")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="Folder of the benchmark modules.")
@click.option(
    "--listed",
    metavar="SHA256",
    help="Of the names of dispatches, calls and files that the build file lists; must be those of the lock.",
)
@click.option(
    "--listed-in",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Instead of --listed, the names: dispatches, calls, files; one a line, an empty line between them.",
)
@click.option(
    "--drift",
    type=click.Choice(["error", "allow"]),
    help="Write drift.txt: how the dispatches differ from the lock. allow: that is no error, and what is missing gets "
    "a placeholder.",
)
@click.option(
    "--iree-compile",
    type=click.Path(path_type=Path),
    metavar="PROGRAM",
    help="The compiler that wrote CONFIGURED; said where the Python bindings are of another build.",
)
@click.option(
    "--root",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="What paths of files in the lock are relative to. Default: the folder above the lock's.",
)
@click.option(
    "--inputs-at",
    metavar="DIR",
    help="Path by which flag files name the files of inputs, which lie beside them. Default: that of --output.",
)
@click.option("--renew", metavar="COMMAND", help="What messages name as the command that renews lock and build file.")
def command(
    configured: Path,
    lock_path: Path,
    backend: str,
    output: Path,
    listed: str | None,
    listed_in: Path | None,
    drift: Drift | None,
    iree_compile: Path | None,
    root: Path | None,
    inputs_at: str | None,
    renew: str | None,
) -> None:
    """Write the benchmark modules of a configured module.

    CONFIGURED is what `iree-compile --compile-to=executable-configurations` wrote. Files whose bytes do not
    change are left alone. Exits 1 when the dispatches are not those that the lock lists.
    """
    from dispatchgen.lock import modules

    if listed_in is not None:
        listed = modules.listed_in(listed_in)
    step = modules.Step(configured, lock_path, backend, output, listed, drift, iree_compile, renew, root, inputs_at)
    for line in modules.write_modules(step):
        click.echo(f"note: {line}")
