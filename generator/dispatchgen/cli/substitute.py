"""`dispatchgen substitute`, which the build calls."""

from __future__ import annotations

from pathlib import Path

import click

from dispatchgen.cli.options import tolerance_option
from dispatchgen.substitute.schema import Kind


@click.command()
@click.option("--name", required=True, help="Id of the substitution.")
@click.option(
    "--kind",
    type=click.Choice(["source", "configuration", "object", "tuning_spec"]),
    required=True,
    help="What the substitute is: an executable, not configured or configured; a kernel's object; the whole program, "
    "configured with a tuning spec.",
)
@click.option("--substitute", type=click.Path(path_type=Path), required=True, help="The substitute's file.")
@click.option(
    "--given",
    metavar="PATH",
    help="What messages and records call that file, where the build made it of another or copied it.",
)
@click.option(
    "--dispatches",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="Folder that `dispatchgen extract` wrote.",
)
@click.option(
    "--dispatch",
    "names",
    multiple=True,
    required=True,
    metavar="NAME",
    help="Stable name of a dispatch to substitute; several for a tuning spec only.",
)
@click.option("--output", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Folder to write to.")
@click.option(
    "--iree-compile",
    type=click.Path(path_type=Path),
    required=True,
    metavar="PROGRAM",
    help="The compiler that configures a source, and tells the workgroup count of an object.",
)
@click.option("--entry", metavar="SYMBOL", help="Entry point of an object. Default: its only one.")
@click.option(
    "--workgroups",
    metavar="MAP",
    help="Workgroup count of an object, an affine map from the workload. Default: the original's count.",
)
@click.option("--allow-other-target", is_flag=True, help="The substitute may be made for another target.")
@tolerance_option("Write check modules, which compare the substitute's outputs with the original's.")
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
def command(
    name: str,
    kind: Kind,
    substitute: Path,
    given: str | None,
    dispatches: Path,
    names: tuple[str, ...],
    output: Path,
    iree_compile: Path,
    entry: str | None,
    workgroups: str | None,
    allow_other_target: bool,
    tolerance: float | None,
    flags: tuple[str, ...],
) -> None:
    """Write benchmark modules in which a substitute stands in place of the compiler's own code.

    FLAGS, behind `--`, are those that the suite's modules are compiled with. Files whose bytes do not change are left
    alone. Exits 2, with all problems, when the substitute does not fit.
    """
    from dispatchgen.substitute.configure import Compiler
    from dispatchgen.substitute.replacement import Substitute
    from dispatchgen.substitute.step import Step, write_substitutes

    if len(names) > 1 and kind != "tuning_spec":
        raise click.UsageError(f"--kind {kind} is of one dispatch; found {', '.join(names)}")
    step = Step(
        Substitute(name, kind, substitute, entry, workgroups, allow_other_target, given),
        dispatches,
        names,
        output,
        Compiler(iree_compile, flags),
        tolerance,
    )
    for line in write_substitutes(step):
        click.echo(f"note: {line}")
