"""Merging profiles: counts add up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from dispatchgen.errors import Place, Problem, ProfileError
from dispatchgen.profile.schema import Entry, Profile, ProfiledDispatch

_NUMBER = re.compile(r"([0-9]+)")
#: What profiles have to have in common: field -> what it is called, and what mends it where it differs.
_COMMON = {
    "model": ("model", "merge profiles of one model"),
    "backend": ("backend", "merge profiles of one backend"),
    "source": ("source (SHA-256)", "capture again those of the older source"),
    "flags": ("flags", "capture again those of the older flags"),
    "compiler": ("compiler", "capture again those of the older compiler"),
}


def merge_profiles(profiles: Sequence[tuple[Path, Profile]]) -> Profile:
    """One profile of all runs of these, given with their files, of which there is at least one.

    Raises ProfileError where they are not of the same model, source, backend, flags and compiler.
    """
    problems = list(_differences(profiles))
    if problems:
        raise ProfileError(*problems)
    contents = [profile for _, profile in profiles]
    return contents[0].model_copy(
        update={
            "runs": tuple(chain.from_iterable(profile.runs for profile in contents)),
            "dispatches": tuple(_merged(chain.from_iterable(profile.dispatches for profile in contents))),
        }
    )


def _differences(profiles: Sequence[tuple[Path, Profile]]) -> Iterator[Problem]:
    first_path, first = profiles[0]
    for path, profile in profiles[1:]:
        for name, (title, hint) in _COMMON.items():
            expected, found = getattr(first, name), getattr(profile, name)
            if expected != found:
                message = f"the profiles do not belong together: {title} {_text(found)}, "
                message += f"and {_text(expected)} of {first_path}"
                yield Problem(message, Place(str(path), key=name), hint)


def _text(value: object) -> str:
    return " ".join(value) if isinstance(value, tuple) else str(value)


def _merged(dispatches: Iterable[ProfiledDispatch]) -> Iterator[ProfiledDispatch]:
    found: dict[tuple[str, str], list[ProfiledDispatch]] = {}
    for dispatch in dispatches:
        found.setdefault((dispatch.executable, dispatch.export), []).append(dispatch)
    for symbols in sorted(found, key=symbol_order):
        same = found[symbols]
        yield same[0].model_copy(update={"entries": add_up(chain.from_iterable(each.entries for each in same))})


def add_up(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Each sizes once, with the sum of its counts, the most frequent first. Of each binding the first data are kept."""
    found: dict[tuple[object, ...], Entry] = {}
    for entry in entries:
        before = found.get(entry.sizes)
        if before is None:
            found[entry.sizes] = entry
        else:
            update = {"count": before.count + entry.count, "data": _first_known(before.data, entry.data)}
            found[entry.sizes] = before.model_copy(update=update)
    return tuple(sorted(found.values(), key=lambda each: (-each.count, each.workload, each.constants, each.bindings)))


def _first_known(first: tuple[str | None, ...], second: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """The data of each binding, from the first entry that has them. An entry without any has no bindings here."""
    if not first or not second:
        return first or second
    return tuple(one if one is not None else other for one, other in zip(first, second, strict=True))


def symbol_order(symbols: tuple[str, ...]) -> list[list[tuple[int, str]]]:
    """A key that sorts IREE's symbols by the numbers in them: in the order of the program, mostly."""
    return [[(int(part or 0) if part.isdigit() else -1, part) for part in _NUMBER.split(name)] for name in symbols]
