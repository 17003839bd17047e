"""`dispatchgen check-outputs`, which tests call."""

from __future__ import annotations

from pathlib import Path

import click

from dispatchgen.cli.options import timeout_option, tolerance_option
from dispatchgen.errors import CheckFailed, Place, Problem, SubstitutionError


@click.command("check-outputs")
@click.argument("module", type=click.Path(path_type=Path))
@click.argument("run_flags", nargs=-1, metavar="[-- FLAG...]")
@click.option(
    "--spec", "spec_path", type=click.Path(path_type=Path), required=True, help="<dispatch>.check.json of the module."
)
@click.option("--device", required=True, metavar="URI", help="Where the kernels run.")
@click.option("--iree-run-module", type=click.Path(path_type=Path), required=True, metavar="PROGRAM")
@tolerance_option("Largest error that is no disagreement. Default: what --spec says.")
@timeout_option("Time limit of each process.")
def command(
    module: Path,
    run_flags: tuple[str, ...],
    spec_path: Path,
    device: str,
    iree_run_module: Path,
    tolerance: float | None,
    timeout: float,
) -> None:
    """Compare what a substitute computes with what the compiler's own kernel does.

    MODULE is a compiled check module. Both kernels run on the same data. FLAGs are those of the device; what
    iree-run-module does not know is left out. Exits 1 where the outputs differ by more than the tolerance, or a kernel
    fails. Where the device is absent, prints what iree-run-module says and exits 1.
    """
    from dispatchgen.agreement.run import Checker, check
    from dispatchgen.agreement.spec import read_spec

    spec = read_spec(spec_path)
    if not spec.benchmarks:
        message = f"there is nothing to compare: the program of this build does not have {spec.dispatch}"
        raise SubstitutionError(Problem(message, Place(str(spec_path))))
    program = iree_run_module.absolute() if iree_run_module.parent != Path() else iree_run_module
    checker = Checker(program, device, run_flags, timeout)
    problems = []
    for agreed in check(checker, module, spec, tolerance):
        if agreed.absent:
            raise CheckFailed(Problem(f"the device {device} is absent: {agreed.failure}"))
        if agreed.failure is not None:
            problems.append(Problem(f"{agreed.benchmark}: {agreed.failure}".replace("\n", "\n  ")))
        else:
            click.echo(f"{agreed.benchmark}: agrees{_worst(agreed.worst)}")
        if agreed.note is not None:
            for line in agreed.note.splitlines():
                click.echo(f"note: {agreed.benchmark}: {line}")
    if problems:
        raise CheckFailed(*problems)


def _worst(worst: float | None) -> str:
    return "" if worst is None else f", largest difference {worst:.3g}"
