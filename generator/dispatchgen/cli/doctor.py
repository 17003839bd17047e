"""`dispatchgen doctor`: prints what `diagnosis` finds."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dispatchgen.diagnosis import Finding, Verdict, diagnose
from dispatchgen.iree.tools import HOST_BIN_DIR

_COLORS = {Verdict.OK: "green", Verdict.NOTE: "cyan", Verdict.WARNING: "yellow", Verdict.ERROR: "red"}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option(
    "--iree-host-bin-dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help=f"Folder of IREE's programs. Default: {HOST_BIN_DIR}, this Python's wheels, PATH.",
)
@click.pass_context
def command(context: click.Context, as_json: bool, iree_host_bin_dir: Path | None) -> None:
    """Say which tools were found, where, in which versions, and which devices answer.

    The exit code is 1 when something is missing without which `dispatchgen run` cannot work.
    """
    findings = []
    for finding in diagnose(iree_host_bin_dir):
        findings.append(finding)
        if not as_json:
            _print(finding)
    if as_json:
        click.echo(json.dumps([_data(finding) for finding in findings], indent=2))
    if any(finding.verdict is Verdict.ERROR for finding in findings):
        context.exit(1)


def _print(finding: Finding) -> None:
    verdict = click.style(f"{finding.verdict.value:8}", fg=_COLORS[finding.verdict])
    click.echo(f"{verdict} {finding.subject}: {finding.text}")
    if finding.hint is not None:
        click.echo(f"{'':8}   try: {finding.hint}")


def _data(finding: Finding) -> dict[str, str | None]:
    return {
        "subject": finding.subject,
        "verdict": finding.verdict.value,
        "text": finding.text,
        "hint": finding.hint,
        "version": finding.version,
        "path": finding.path,
    }
