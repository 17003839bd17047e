"""`dispatchgen schema`."""

from __future__ import annotations

import json

import click


@click.command()
@click.argument("of", type=click.Choice(["manifest", "results"]), default="manifest")
def command(of: str) -> None:
    """Print a JSON schema, for editors and checkers.

    Of the manifest, or of the results that `dispatchgen run --json` writes.
    """
    if of == "results":
        from dispatchgen.results.json_schema import json_schema
    else:
        from dispatchgen.manifest.schema import json_schema

    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))
