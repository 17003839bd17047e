"""`dispatchgen dump`."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from dispatchgen.cli.dispatch_options import dispatches_of_models, output_dir_option, work_options
from dispatchgen.iree.tools import find_compiler_tools
from dispatchgen.manifest import load_suite
from dispatchgen.manifest.select import select
from dispatchgen.workbench.dump import Dumped, Stage, dump, manifest_part, outside, place
from dispatchgen.workbench.output import write_new
from dispatchgen.workbench.session import Selection, sessions


@click.command("dump")
@dispatches_of_models
@click.option("--stage", type=click.Choice(get_args(Stage)), required=True, help="What is written of each dispatch.")
@output_dir_option
@work_options
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
    --stage benchmark      DISPATCH.benchmark.mlir, the benchmark module, and its data where they lie in a file
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
    contents: dict[Path, str | bytes] = {path: file.text for path, file in files.items()}
    contents |= {path.with_suffix(".irpa"): file.archive for path, file in files.items() if file.archive is not None}
    written = write_new(contents, force=force)
    for path in contents:
        click.echo(f"wrote {path}" if path in written else f"{path} is as it was", err=True)
    for path in outside(files, whole):
        click.echo(f"note: the manifest names files below {suite.root.absolute()} only: copy {path} there", err=True)
    if part := manifest_part(files, whole):
        click.echo(part, nl=False)
