"""`dispatchgen shapes`: prints what programs state of their sizes, and shapes chosen from it."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console

from dispatchgen.cli.options import host_bin_dir_option, manifest_option, timeout_option
from dispatchgen.cli.progress import showing
from dispatchgen.errors import DispatchgenError, Place, Problem
from dispatchgen.iree.tools import find_compiler_tools
from dispatchgen.manifest import load_suite
from dispatchgen.manifest.select import select
from dispatchgen.manifest.suite import Model, Suite
from dispatchgen.workbench.shapes import Proposal, as_data, as_yaml, propose


@click.command("shapes")
@click.argument("models", nargs=-1, metavar="[MODEL...]")
@manifest_option
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Choose so many shapes at most. Default: the limit of `auto` in the manifest, else 8.",
)
@click.option("--json", "as_json", is_flag=True, help="Print data in place of YAML.")
@timeout_option("Time limit of each process of the compiler or the importer.")
@host_bin_dir_option
def command(
    models: tuple[str, ...],
    manifest: Path,
    limit: int | None,
    as_json: bool,
    timeout: float,
    iree_host_bin_dir: Path | None,
) -> None:
    """Print what programs state of their sizes, and shapes chosen from it, as the manifest takes them.

    MODEL is a model of the manifest; default: all of them. The program and its source state ranges (util.assume.int,
    torch.symbolic_int) and names of dims. `shapes: auto` has the same shapes chosen when the lock is made.
    """
    suite = select(load_suite(manifest), models)
    tools = find_compiler_tools(iree_host_bin_dir)
    proposals: list[Proposal] = []
    problems: list[Problem] = []
    with showing(Console(stderr=True), "compiling") as show:
        for model in suite.models:
            show(len(proposals), len(suite.models), model.name)
            try:
                proposals.append(propose(tools, suite, model, limit, timeout))
            except DispatchgenError as error:
                problems += _of_model(suite, model, error)
    for proposal in proposals:
        if proposal.error is not None:
            problems += _of_model(suite, proposal.model, proposal.error)
    if proposals:
        click.echo(json.dumps(as_data(proposals), indent=2) + "\n" if as_json else as_yaml(proposals), nl=False)
    if problems:
        raise DispatchgenError(*problems)


def _of_model(suite: Suite, model: Model, error: DispatchgenError) -> list[Problem]:
    """The problems of a model, which say so."""
    name, place = f"model {model.name}", Place(str(suite.manifest), model.line)
    return [
        Problem(
            problem.message if problem.message.startswith(name) else f"{name}: {problem.message}",
            problem.place or place,
            problem.hint,
        )
        for problem in error.problems
    ]
