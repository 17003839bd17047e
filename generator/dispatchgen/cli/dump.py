"""`dispatchgen dump`."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from dispatchgen.cli.options import (
    backend_option,
    dispatch_option,
    host_bin_dir_option,
    manifest_option,
    timeout_option,
)
from dispatchgen.iree.tools import find_compiler_tools
from dispatchgen.manifest import load_suite
from dispatchgen.manifest.select import select
from dispatchgen.workbench.dump import Dumped, Stage, dump, manifest_part, outside, place
from dispatchgen.workbench.output import write_new
from dispatchgen.workbench.session import Selection, sessions


@click.command("dump")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@dispatch_option
@click.option("--stage", type=click.Choice(get_args(Stage)), required=True, help="What is written of each dispatch.")
@manifest_option
@backend_option
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Folder of the files."
)
@click.option("--force", is_flag=True, help="Replace files of other content, also those that were edited.")
@timeout_option("Time limit of each process of the compiler or the importer.")
@host_bin_dir_option
def command(
    models: tuple[str, ...],
    dispatches: tuple[str, ...],
    stage: Stage,
    manifest: Path,
    backends: tuple[str, ...],
    output: Path,
    force: bool,
    timeout: float,
    iree_host_bin_dir: Path | None,
) -> None:
    """Write dispatches of the manifest's models to files, to start editing from.

    \b
    --stage source         DISPATCH.mlir, the executable before the compiler chose how to lower it
    --stage configuration  configured_DISPATCH.mlir, with tile sizes and pipeline chosen
    --stage benchmark      DISPATCH.benchmark.mlir, the benchmark module
    --stage assembly       DISPATCH.s, .ptx, .rocmasm, .spirv.mlir, .metal: what the backend has

    Prints what the manifest says to measure the files, edited, beside the compiler's own kernels. A file that is there
    with other content is not replaced, unless with --force.
    """
    whole = load_suite(manifest)
    suite = select(whole, models, backends)
    selection = Selection(dispatches)
    dumped: list[Dumped] = []
    for session in sessions(
        find_compiler_tools(iree_host_bin_dir), suite, with_sources=stage == "source", timeout=timeout
    ):
        selected = selection.of(session)
        if selected and (note := session.note()):
            click.echo(f"note: {note}", err=True)
        dumped += dump(session, selected, stage)
    selection.check()
    files = place(dumped, output)
    written = write_new({path: file.text for path, file in files.items()}, force=force)
    for path in files:
        click.echo(f"wrote {path}" if path in written else f"{path} is as it was", err=True)
    for path in outside(files, whole):
        click.echo(f"note: the manifest names files below {suite.root.absolute()} only: copy {path} there", err=True)
    if part := manifest_part(files, whole):
        click.echo(part, nl=False)
