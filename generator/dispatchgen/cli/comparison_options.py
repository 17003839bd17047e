"""Options of the commands that compare results."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dispatchgen.cli.outputs import print_tables, result_file
from dispatchgen.errors import CheckFailed
from dispatchgen.files import write_if_changed

if TYPE_CHECKING:
    from dispatchgen.comparison.conditions import Condition
    from dispatchgen.comparison.schema import Comparison

_F = TypeVar("_F", bound=Callable[..., Any])
_DEFAULT_FAIL_ON = ("failed",)


def fail_on_option(command: _F, default: Sequence[str] = _DEFAULT_FAIL_ON) -> _F:
    """`--fail-on CONDITION`, given as `conditions`; without any: `default`."""
    option = click.option(
        "--fail-on",
        "conditions",
        multiple=True,
        default=default,
        show_default=True,
        callback=_conditions,
        metavar="CONDITION",
        help="Exit with 1 where a benchmark is slower, slower:5% (by more than that), failed, failing (before too), "
        "gone, new, noisy; or on geomean:3%. May be given more than once.",
    )
    return option(command)


def file_options(command: _F) -> _F:
    """`--json FILE --markdown FILE --junit FILE`."""
    for name, what in (("junit", "JUnit XML"), ("markdown", "Markdown, for a pull request"), ("json", "data")):
        option = click.option(
            f"--{name}",
            type=click.Path(path_type=Path, dir_okay=False),
            callback=result_file,
            metavar="FILE",
            help=f"Write the comparison as {what}; -: to stdout.",
        )
        command = option(command)
    return command


def floor_options(command: _F) -> _F:
    """`--floor PERCENT --absolute-floor TIME`, given as numbers."""
    floor = click.option(
        "--floor",
        default="2%",
        show_default=True,
        callback=_percent,
        metavar="PERCENT",
        help="Differences below this are none.",
    )
    absolute = click.option(
        "--absolute-floor",
        default="100ns",
        show_default=True,
        callback=_time,
        metavar="TIME",
        help="Nor are differences below this: 100ns, 1us, 0.1ms.",
    )
    return floor(absolute(command))


def check_and_report(
    comparison: Comparison,
    conditions: Sequence[Condition],
    *,
    every: bool,
    json: Path | None,
    markdown: Path | None,
    junit: Path | None,
) -> None:
    """Writes the files that were asked for and prints the table. Raises CheckFailed where a condition holds."""
    if [str(file) for file in (json, markdown, junit)].count("-") > 1:
        raise click.UsageError("only one of --json, --markdown and --junit can go to standard output.")
    from dispatchgen.comparison import encode, table
    from dispatchgen.comparison import junit as junit_xml
    from dispatchgen.comparison import markdown as markdown_text
    from dispatchgen.comparison.conditions import failures

    wanted: list[tuple[Path | None, Callable[[Comparison], str]]] = [
        (json, encode.encode),
        (markdown, markdown_text.render),
        (junit, partial(junit_xml.render, conditions=conditions)),
    ]
    texts = {file: render(comparison) for file, render in wanted if file is not None}
    for file, text in texts.items():
        if str(file) != "-":
            write_if_changed(file, text)
    to_stdout = texts.get(Path("-"))
    print_tables(table.render(comparison, every=every), stderr=to_stdout is not None)
    if to_stdout is not None:
        click.echo(to_stdout, nl=False)
    problems = list(failures(comparison, conditions))
    if problems:
        raise CheckFailed(*problems)


def _conditions(ctx: click.Context, parameter: click.Parameter, values: Sequence[str]) -> tuple[Any, ...]:  # noqa: ARG001
    from dispatchgen.comparison.conditions import parse

    try:
        return tuple(map(parse, values))
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from None


def _percent(ctx: click.Context, parameter: click.Parameter, value: str) -> float:  # noqa: ARG001
    if not re.fullmatch(r"\d+(\.\d+)?%", value):
        raise click.BadParameter(f"expected a percentage such as 2%, found '{value}'.")
    return float(value[:-1]) / 100


def _time(ctx: click.Context, parameter: click.Parameter, value: str) -> float:  # noqa: ARG001
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(ns|us|ms|s)", value)
    if not found:
        raise click.BadParameter(f"expected a time such as 100ns or 1us, found '{value}'.")
    return float(found[1] + {"ns": "e-9", "us": "e-6", "ms": "e-3", "s": ""}[found[2]])
