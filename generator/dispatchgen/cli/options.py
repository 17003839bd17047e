"""Options that several commands have."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from dispatchgen.iree.configure import DEFAULT_TIMEOUT
from dispatchgen.iree.tools import HOST_BIN_DIR
from dispatchgen.manifest import DEFAULT_MANIFEST

_F = TypeVar("_F", bound=Callable[..., Any])


def timeout_option(text: str) -> Callable[[_F], _F]:
    """`--timeout SECONDS`, above zero; `text` says of what."""
    return click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=DEFAULT_TIMEOUT,
        show_default=True,
        metavar="SECONDS",
        help=text,
    )


def tolerance_option(text: str) -> Callable[[_F], _F]:
    """`--tolerance T`, a finite number that is not below zero; None where it is not given."""
    return click.option("--tolerance", type=float, callback=_tolerance, metavar="T", help=text)


def _tolerance(ctx: click.Context, parameter: click.Parameter, value: float | None) -> float | None:  # noqa: ARG001
    # All outputs agree where it is infinite; every comparison with NaN is false, also that of click.FloatRange.
    if value is not None and not (value >= 0 and math.isfinite(value)):
        raise click.BadParameter(f"expected a finite number that is not below 0, found {value:g}")
    return value


def host_bin_dir_option(command: _F) -> _F:
    """`--iree-host-bin-dir DIR`."""
    option = click.option(
        "--iree-host-bin-dir",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help=f"Folder of IREE's programs. Default: {HOST_BIN_DIR}, this Python's wheels, PATH.",
    )
    return option(command)


def manifest_option(command: _F) -> _F:
    """`--manifest M`, of commands whose arguments are models."""
    option = click.option(
        "--manifest",
        type=click.Path(path_type=Path),
        default=DEFAULT_MANIFEST,
        show_default=True,
        metavar="M",
        help="The manifest or its folder.",
    )
    return option(command)
