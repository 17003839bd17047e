"""`dispatchgen init`: writes a first manifest."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from dispatchgen.cli.options import host_bin_dir_option, timeout_option
from dispatchgen.draft import draft, manifest_text, parse_source
from dispatchgen.errors import OutputError, Place, Problem
from dispatchgen.files import write_if_changed
from dispatchgen.iree.tools import find_tools
from dispatchgen.manifest import DEFAULT_MANIFEST, load_suite


@click.command("init")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    default=DEFAULT_MANIFEST,
    show_default=True,
    help="The manifest to write; models lie in its folder or below.",
)
@click.option("--force", is_flag=True, help="Replace a manifest that is there.")
@timeout_option("Time limit of each process of the compiler or the importer.")
@host_bin_dir_option
def command(models: tuple[str, ...], output: Path, force: bool, timeout: float, iree_host_bin_dir: Path | None) -> None:
    """Write a first manifest for models, from their own signatures.

    MODEL is a .mlir, .mlirbc or .onnx file, or package:NAME/PATH for a file that an installed Python package ships.
    Inputs are read from the program; dims that are dynamic there get symbols, and sizes that the program accepts.
    """
    if output.exists() and not force:
        raise OutputError(Problem("the manifest is there already", Place(str(output)), "--force to replace it"))
    sources = [parse_source(model, output) for model in models]
    tools = find_tools(iree_host_bin_dir)
    with tempfile.TemporaryDirectory(prefix="dispatchgen-") as work_dir:
        text = manifest_text(draft(tools, output, sources, Path(work_dir), timeout))
    write_if_changed(output, text)
    load_suite(output)
    click.echo(f"wrote {output}\nnext: dispatchgen run{'' if output.name == DEFAULT_MANIFEST else f' {output}'}")
