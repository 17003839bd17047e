"""Options of the commands that write files about dispatches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from dispatchgen.cli.options import host_bin_dir_option, manifest_option, timeout_option

_F = TypeVar("_F", bound=Callable[..., Any])


def dispatches_of_models(command: _F) -> _F:
    """`MODEL... --dispatch D... --manifest M --backend B...`: as `models`, `dispatches`, `manifest`, `backends`."""
    dispatch = click.option(
        "--dispatch",
        "dispatches",
        multiple=True,
        metavar="D",
        help="Only dispatches of this name, IREE symbol, operation or pattern; may be given more than once.",
    )
    backend = click.option(
        "--backend", "backends", multiple=True, metavar="B", help="Only this backend; may be given more than once."
    )
    models = click.argument("models", nargs=-1, required=True, metavar="MODEL...")
    return models(dispatch(manifest_option(backend(command))))


def dispatch_of_model(command: _F) -> _F:
    """`MODEL --dispatch D --manifest M`: as `model`, `dispatch`, `manifest`."""
    dispatch = click.option(
        "--dispatch", required=True, metavar="D", help="The dispatch: name, IREE symbol, operation or pattern."
    )
    return click.argument("model", metavar="MODEL")(dispatch(manifest_option(command)))


def output_dir_option(command: _F) -> _F:
    """`--output DIR`."""
    option = click.option(
        "--output", "-o", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Folder of the files."
    )
    return option(command)


def work_options(command: _F) -> _F:
    """`--force --timeout SECONDS --iree-host-bin-dir DIR`."""
    force = click.option("--force", is_flag=True, help="Replace files of other content, also those that were edited.")
    timeout = timeout_option("Time limit of each process of the compiler or the importer.")
    return force(timeout(host_bin_dir_option(command)))
