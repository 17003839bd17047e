"""`dispatchgen repro`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from dispatchgen.cli.dispatch_options import dispatch_of_model, work_options
from dispatchgen.cli.run_options import check_one
from dispatchgen.iree.tools import find_tools
from dispatchgen.manifest import load_suite
from dispatchgen.manifest.select import select, select_devices
from dispatchgen.manifest.suite import Suite
from dispatchgen.selection.variants import narrow
from dispatchgen.workbench.output import write_new
from dispatchgen.workbench.repro import repro
from dispatchgen.workbench.session import Selection, sessions


@click.command("repro")
@dispatch_of_model
@click.option(
    "--benchmark", metavar="NAME", help="Only this benchmark of the dispatch. Default: all, one after the other."
)
@click.option("--substitution", metavar="S", help="What this substitution puts in the dispatch's place.")
@click.option(
    "--backend", metavar="B", help="Needed where the model has several, unless --device or --substitution tells."
)
@click.option("--device", metavar="D", help="Device of the manifest, by key or URI. Default: the backend's first.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    default="repro",
    show_default=True,
    metavar="DIR",
    help="Folder that the commands work in.",
)
@work_options
def command(
    model: str,
    dispatch: str,
    benchmark: str | None,
    substitution: str | None,
    manifest: Path,
    backend: str | None,
    device: str | None,
    output: Path,
    force: bool,
    timeout: float,
    iree_host_bin_dir: Path | None,
) -> None:
    """Print the commands that compile and run a benchmark by hand, as a script for sh.

    MODEL is a model of the manifest. The benchmark module is written to DIR, which is laid out as a build tree is: the
    commands make the same bytes there. Nothing else is printed to standard output:

    \b
      dispatchgen repro mlp --dispatch matmul_Dx512x784_f32 > repro.sh
      sh repro.sh
    """
    suite = select(load_suite(manifest), [model], [] if backend is None else [backend])
    suite = select_devices(suite, [] if device is None else [device])
    if substitution is not None and len(suite.backends) > 1:
        suite = _backends_of(substitution, suite)
    check_one("backend", [each.name for each in suite.backends], suite.manifest)
    tools = find_tools(iree_host_bin_dir)
    with closing(sessions(tools, suite, timeout=timeout)) as opened:
        session = next(opened)
        selection = Selection((dispatch,))
        selected = selection.of(session)
        selection.check()
        check_one("dispatch", [each.name for each in selected], suite.manifest)
        devices = session.backend.devices
        found = repro(
            session,
            tools,
            selected[0],
            output.absolute(),
            benchmark=benchmark,
            device=devices[0] if devices else None,
            substitution=substitution,
        )
        note = session.note()
    write_new(found.files, force=force)
    compiled_only = f"backend {session.backend.name} has no devices in the manifest: it is only compiled"
    for line in filter(None, [note, None if devices else compiled_only]):
        click.echo(f"note: {line}", err=True)
    click.echo(found.script(), nl=False)


def _backends_of(substitution: str, suite: Suite) -> Suite:
    """A suite of one model with those of its backends that have a substitution. Raises SubstitutionError."""
    (model,) = narrow(suite, [substitution]).models
    return select(suite, [], model.backends)
