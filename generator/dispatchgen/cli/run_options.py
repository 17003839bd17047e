"""What the commands that run something have in common: their options, and what they select."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
from pydantic import ValidationError

from dispatchgen.cli.options import manifest_option
from dispatchgen.errors import ManifestError, Place, Problem
from dispatchgen.manifest import load_suite
from dispatchgen.manifest.names import show_all
from dispatchgen.manifest.quantities import parse_duration, parse_percent
from dispatchgen.manifest.schema import RunSection
from dispatchgen.manifest.select import select, select_devices
from dispatchgen.manifest.suite import Caches, Suite
from dispatchgen.results.pin import parse as parse_pin

_F = TypeVar("_F", bound=Callable[..., Any])


def build_dir_option(command: _F) -> _F:
    """`--build-dir DIR`."""
    option = click.option(
        "--build-dir", type=click.Path(path_type=Path), metavar="DIR", help="Default: .dispatchgen beside the manifest."
    )
    return option(command)


def rounds_options(command: _F) -> _F:
    """`--rounds N --precision P --budget T --pin PROCESSORS`; the first two are for `checked_settings`."""
    rounds = click.option(
        "--rounds", type=click.IntRange(min=1, max=200), metavar="N", help="Measure everything so often. Default: 10."
    )
    precision = click.option(
        "--precision",
        metavar="P",
        help="Measure on what is not known to P: half of the confidence interval, such as 1%.",
    )
    budget = click.option(
        "--budget",
        callback=parsed_by(parse_duration),
        metavar="T",
        help="Spend at most so long on measuring: 90s, 10m, 2h. What is noisy is measured on until then.",
    )
    pin = click.option(
        "--pin",
        default="auto",
        show_default=True,
        callback=parsed_by(parse_pin),
        metavar="P",
        help="Processors to keep benchmarks on: 0,1; none; or auto, one for devices of one thread.",
    )
    return rounds(precision(budget(pin(command))))


def caches_option(command: _F) -> _F:
    """`--caches C`, for `checked_settings`."""
    option = click.option(
        "--caches",
        type=click.Choice(get_args(Caches)),
        help="What dispatches find in the caches. Default: the manifest's, or warm.",
    )
    return option(command)


def parsed_by(parse: Callable[[str], Any]) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    """What reads an option's text with `parse`, which raises ValueError; None where it is not given."""

    def callback(ctx: click.Context, parameter: click.Parameter, text: str | None) -> Any:  # noqa: ARG001
        try:
            return None if text is None else parse(text)
        except ValueError as error:
            raise click.BadParameter(f"{error}.") from None

    return callback


def _batch_size(text: str) -> int | str:
    if text == "auto":
        return text
    if not text.isdecimal() or int(text) == 0:
        raise ValueError(f"'{text}' is neither a number above zero nor auto")
    return int(text)


def measuring_options(what: str, *, finds_batches: bool = False) -> Callable[[_F], _F]:
    """`--min-time T --repetitions N --batch-size N`, for `checked_settings`.

    Args:
      what: What is measured.
      finds_batches: Whether the batch size may be `auto`.
    """

    def add(command: _F) -> _F:
        min_time = click.option(
            "--min-time", metavar="T", help=f"At least this long per {what}: 0.5s, or 100x for 100 runs."
        )
        repetitions = click.option(
            "--repetitions",
            type=click.IntRange(min=1),
            metavar="N",
            help=f"Repeat each {what}; the fastest counts.",
        )
        batch_size = click.option(
            "--batch-size",
            type=None if finds_batches else click.IntRange(min=1),
            callback=parsed_by(_batch_size) if finds_batches else None,
            metavar="N",
            help="Dispatches per timed call"
            + ("; auto (the default): as many as make what the call costs small." if finds_batches else "."),
        )
        return min_time(repetitions(batch_size(command)))

    return add


def one_backend_options(command: _F) -> _F:
    """`--manifest M --backend B --device D`, for `suite_of_one_backend`."""
    backend = click.option("--backend", metavar="B", help="Needed where the model has several, unless --device tells.")
    device = click.option(
        "--device", metavar="D", help="Device of the manifest, by key or URI. Default: the backend's first."
    )
    return manifest_option(backend(device(command)))


def suite_of_one_backend(manifest: Path, model: str, backend: str | None, device: str | None) -> Suite:
    """A model on a backend, with the devices that are meant. Raises ManifestError where several backends are."""
    suite = select(load_suite(manifest), [model], [] if backend is None else [backend])
    suite = select_devices(suite, [] if device is None else [device])
    check_one("backend", [each.name for each in suite.backends], suite.manifest)
    return suite


def check_one(kind: str, names: Sequence[str], manifest: Path) -> None:
    """Raises ManifestError where what the arguments name is not one."""
    if len(names) > 1:
        message = f"one {kind} is needed, and these are meant: {show_all(names)}"
        raise ManifestError(Problem(message, Place(str(manifest)), f"--{kind} with one of them"))


def checked_settings(given: dict[str, Any]) -> dict[str, Any]:
    """The run settings that replace the manifest's. Raises BadParameter by the manifest's own rules."""
    settings = {name: value for name, value in given.items() if value is not None}
    try:
        RunSection.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        option = str(first["loc"][0]).replace("_", "-")
        raise click.BadParameter(first["msg"].removeprefix("Value error, "), param_hint=f"--{option}") from None
    if "precision" in settings:
        settings["precision"] = parse_percent(settings["precision"])
    return settings
