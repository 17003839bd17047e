"""`dispatchgen schema`."""

from __future__ import annotations

import json

import click


@click.command()
def command() -> None:
    """Print the JSON schema of the manifest, for editors and checkers."""
    from dispatchgen.manifest.schema import json_schema

    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))
