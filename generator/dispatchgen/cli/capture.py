"""`dispatchgen capture`."""

from __future__ import annotations

from pathlib import Path

import click

from dispatchgen.cli.options import host_bin_dir_option, timeout_option
from dispatchgen.cli.run_options import one_backend_options, suite_of_one_backend
from dispatchgen.errors import ManifestError, Place, Problem
from dispatchgen.iree.recorder import Recorder
from dispatchgen.iree.tools import find_compiler_tools, find_programs
from dispatchgen.manifest.names import show


@click.command("capture")
@click.argument("model", metavar="MODEL")
@one_backend_options
@click.option("--shape", metavar="LABEL", help="Record the calls at this shape. Default: those at all shapes.")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="VALUE",
    help="Record a call with this input, as iree-run-module takes it: 3x17xi64=5, 3x17xi64=@ids.bin, @ids.npy; once "
    "for each of the function's inputs.",
)
@click.option("--function", metavar="F", help="The entry function, where there are several.")
@click.option(
    "--recording",
    "recordings",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Read a recording (--device_replay_output=) instead of making one; may be given more than once.",
)
@click.option("--keep-data", is_flag=True, help="Keep what bindings held, where the host wrote it, beside the profile.")
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), required=True, metavar="FILE", help="The profile to write."
)
@timeout_option("Time limit of each process of the compiler, the importer and the model's runs.")
@host_bin_dir_option
def command(
    model: str,
    manifest: Path,
    backend: str | None,
    device: str | None,
    shape: str | None,
    inputs: tuple[str, ...],
    function: str | None,
    recordings: tuple[Path, ...],
    keep_data: bool,
    output: Path,
    timeout: float,
    iree_host_bin_dir: Path | None,
) -> None:
    """Write the profile of a model: with which sizes its dispatches run in real calls, and how often.

    MODEL is a model of the manifest. It is compiled, and run under recording; or recordings of an
    application that runs it are read. A manifest then says `shapes: {from: FILE}`.

    \b
      dispatchgen capture mlp --input 42x64xf32 -o profiles/mlp.json
      dispatchgen capture mlp --recording app.ireereplay -o profiles/mlp.json
    """
    options = {"--recording": recordings, "--input": inputs, "--shape": shape, "--function": function}
    given = [name for name, value in options.items() if value]
    if (recordings and len(given) > 1) or (inputs and shape):
        raise click.UsageError(f"{' and '.join(given)} exclude each other.")
    suite = suite_of_one_backend(manifest, model, backend, device)
    devices = suite.backends[0].devices
    if not devices and not recordings:
        message = f"backend {show(suite.backends[0].name)} has no devices in the manifest"
        raise ManifestError(Problem(message, Place(str(suite.manifest)), "add one, or give --recording"))
    from dispatchgen.profile.archive import check_output, write_with_data
    from dispatchgen.profile.given import check_given_once, notes_of_equal
    from dispatchgen.profile.summary import summary
    from dispatchgen.workbench.capture import Wanted, capture

    check_output(output)
    check_given_once(recordings)
    tools = find_compiler_tools(iree_host_bin_dir)
    programs = find_programs(["iree-run-module", "iree-dump-replay"], iree_host_bin_dir)
    recorder = Recorder(programs["iree-run-module"], devices[0], timeout) if devices else None
    wanted = Wanted(recordings, inputs, shape, function, keep_data)
    captured = capture(tools, programs["iree-dump-replay"], suite, wanted, recorder, timeout)
    write_with_data(output, captured.profile, captured.kept)
    for note in (*captured.notes, *notes_of_equal(recordings)):
        click.echo(f"note: {note}", err=True)
    click.echo(f"wrote {output}", err=True)
    for line in summary(captured.profile):
        click.echo(line)
