"""`dispatchgen kernel-template`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dispatchgen.cli.dispatch_options import dispatch_of_model, work_options
from dispatchgen.errors import ManifestError, Place, Problem
from dispatchgen.iree.tools import find_compiler_tools
from dispatchgen.manifest import load_suite
from dispatchgen.manifest.names import show_all
from dispatchgen.manifest.select import select
from dispatchgen.workbench.kernel import kernel, with_template
from dispatchgen.workbench.output import write_new
from dispatchgen.workbench.session import Selection, sessions

if TYPE_CHECKING:
    from dispatchgen.kernel_template.fill import Language


@click.command("kernel-template")
@dispatch_of_model
@click.option("--backend", metavar="B", help="Needed where several of the model's backends have a template.")
@click.option("--language", type=click.Choice(["c", "glsl"]), help="c: for llvm-cpu; glsl: for vulkan.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File of the kernel. Default: standard output.",
)
@work_options
def command(
    model: str,
    dispatch: str,
    manifest: Path,
    backend: str | None,
    language: Language | None,
    output: Path | None,
    force: bool,
    timeout: float,
    iree_host_bin_dir: Path | None,
) -> None:
    """Write a kernel in C or GLSL to start from, for a dispatch of a model of the manifest.

    It compiles and runs as it stands: it takes the bindings and constants that the dispatch passes, shares the work
    among the workgroups, and writes zeros where the dispatch writes. A comment says what the manifest takes it with.
    There is no template of kernels for CUDA and HIP.
    """
    suite = with_template(select(load_suite(manifest), [model], [] if backend is None else [backend]), language)
    with closing(sessions(find_compiler_tools(iree_host_bin_dir), suite, timeout=timeout)) as opened:
        session = next(opened)
        selection = Selection((dispatch,))
        selected = selection.of(session)
        selection.check()
        if len(selected) > 1:
            message = f"a kernel is for one dispatch; {dispatch} names {show_all(each.name for each in selected)}"
            raise ManifestError(Problem(message, Place(str(suite.manifest)), f"--dispatch {selected[0].name}"))
        note, text = session.note(), kernel(session, selected[0], output)
    if note is not None:
        click.echo(f"note: {note}", err=True)
    if output is None:
        click.echo(text, nl=False)
        return
    written = write_new({output: text}, force=force)
    click.echo(f"wrote {output}" if written else f"{output} is as it was", err=True)
