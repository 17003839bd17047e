"""`dispatchgen doctor`: prints what `diagnosis` finds."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dispatchgen.cli.options import host_bin_dir_option
from dispatchgen.diagnosis import Finding, Verdict, diagnose
from dispatchgen.errors import CheckFailed

_COLORS = {Verdict.OK: "green", Verdict.NOTE: "cyan", Verdict.WARNING: "yellow", Verdict.ERROR: "red"}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@host_bin_dir_option
def command(as_json: bool, iree_host_bin_dir: Path | None) -> None:
    """Say which tools were found, where, in which versions, which devices
    answer, and what of this machine changes times without being controlled.

    The exit code is 1 when something is missing without which `dispatchgen run` cannot work.
    """
    findings = []
    for finding in diagnose(iree_host_bin_dir):
        findings.append(finding)
        if not as_json:
            _print(finding)
    if as_json:
        click.echo(json.dumps([_data(finding) for finding in findings], indent=2))
    lacking = [finding.subject for finding in findings if finding.verdict is Verdict.ERROR]
    if lacking:
        raise CheckFailed(f"dispatchgen cannot work without {', '.join(lacking)}")


def _print(finding: Finding) -> None:
    verdict = click.style(f"{finding.verdict.value:8}", fg=_COLORS[finding.verdict])
    text = finding.text.replace("\n", f"\n{'':9}")
    click.echo(f"{verdict} {finding.subject}: {text}")
    if finding.hint is not None:
        click.echo(f"{'':9}  try: {finding.hint}")


def _data(finding: Finding) -> dict[str, str | None]:
    return {
        "subject": finding.subject,
        "verdict": finding.verdict.value,
        "text": finding.text,
        "hint": finding.hint,
        "version": finding.version,
        "path": finding.path,
    }
