"""`dispatchgen export-tuner`."""

from __future__ import annotations

from pathlib import Path

import click

from dispatchgen.cli.dispatch_options import dispatches_of_models, output_dir_option, work_options
from dispatchgen.errors import CheckFailed, Problem
from dispatchgen.iree.tools import find_compiler_tools
from dispatchgen.manifest import load_suite
from dispatchgen.manifest.select import select
from dispatchgen.workbench.output import write_new
from dispatchgen.workbench.session import Selection, sessions
from dispatchgen.workbench.tuner import export, tunable


@click.command("export-tuner")
@dispatches_of_models
@output_dir_option
@work_options
def command(
    models: tuple[str, ...],
    dispatches: tuple[str, ...],
    manifest: Path,
    backends: tuple[str, ...],
    output: Path,
    force: bool,
    timeout: float,
    iree_host_bin_dir: Path | None,
) -> None:
    """Write what IREE's tuner for AMD GPUs, amdsharktuner, asks its users to copy by hand.

    MODEL is a model of the manifest. DIR/MODEL/BACKEND gets, for each dispatch that the tuner can tune, the benchmark
    file DISPATCH_benchmark.mlir with tuner attributes; the program; flag files for compiling and for calling it; and a
    README.md with the commands of the tuner. What it finds is named in the manifest as a `tuning_spec`.

    The exit code is 1 when none of the dispatches can be tuned.
    """
    suite = tunable(select(load_suite(manifest), models, backends))
    selection = Selection(dispatches)
    files: dict[Path, str | bytes] = {}
    lines = []
    for session in sessions(find_compiler_tools(iree_host_bin_dir), suite, timeout=timeout):
        folder = output / session.model.id / session.backend.id
        selected = selection.of(session)
        exported = export(session, selected, folder)
        files |= {folder / name: content for name, content in exported.files.items()}
        total, skipped = len(selected), exported.skipped
        lines.append(f"{session.model.name}/{session.backend.name}: {total - len(skipped)} of {total} dispatches")
        lines += [f"  {name}: {reason}" for name, reason in skipped.items()]
    selection.check()
    write_new(files, force=force)
    for line in lines:
        click.echo(line)
    if not files:
        raise CheckFailed(Problem("the tuner can tune none of these dispatches"))
    for path in files:
        if path.name == "README.md":
            click.echo(f"next: see {path}")
