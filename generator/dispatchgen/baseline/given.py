"""What is wrong with results that are to become a baseline, or a part of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from dispatchgen.baseline.text import describe, first
from dispatchgen.errors import Place, Problem
from dispatchgen.results import lean
from dispatchgen.results.environment import software_differences
from dispatchgen.results.environment_schema import Environment, Software
from dispatchgen.results.lean import Key
from dispatchgen.results.parts import part_of
from dispatchgen.results.schema import Measuring

#: Settings by which a time does not differ, but how well it is known.
_HOW_LONG = frozenset({"rounds", "precision"})

#: How calls were measured.
_Settings = dict[tuple[str, ...], dict[str, Any]]


def unlike(given: Sequence[tuple[Path, lean.Results]]) -> Iterator[Problem]:
    """Why results are not runs of the same code, measured alike: what they differ by would be taken for noise."""
    (first_path, base), *others = given
    code, settings = _code(base), _settings(base)
    for path, result in others:
        hint = "save each on its own; --force saves them together"
        if result.session == base.session:
            message = f"it was measured in turns with {first_path}: they do not tell how runs differ"
            yield Problem(message, Place(str(path)), hint)
        found = [*software_differences(_software(base), _like(_software(base), _software(result)))]
        found += _other_code(code, _code(result))
        found += _other_settings(settings, _settings(result))
        if found:
            message = "\n  ".join([f"it is no run of the same code as {first_path}:", *found])
            yield Problem(message, Place(str(path)), hint)


def lacking(result: lean.Results) -> str | None:
    """Why what a result does not have need not be gone, in words; None: it is."""
    if part := part_of(measuring_of(result)):
        return f"the result is of {part}"
    if result.finished is None:
        return "the run was interrupted"
    if not any(row.timing for row in lean.rows(result)):
        return "nothing was measured"
    return None


def measuring_of(result: lean.Results) -> Measuring:
    """How the run went."""
    return Measuring.model_validate_json(msgspec.json.encode(result.measuring))


def _other_code(base: Mapping[Key, str], other: Mapping[Key, str]) -> list[str]:
    differing = [key for key in base if other.get(key, base[key]) != base[key]]
    if not differing:
        return []
    return [f"{len(differing)} of {len(base)} modules are others:", *first(f"  {describe(key)}" for key in differing)]


def _other_settings(base: _Settings, other: _Settings) -> list[str]:
    """In what the calls that both have were measured otherwise, each difference once."""
    return sorted(
        {
            f"{name}: {value} and {other[call].get(name)}"
            for call in base.keys() & other.keys()
            for name, value in base[call].items()
            if other[call].get(name) != value
        }
    )


def _code(result: lean.Results) -> dict[Key, str]:
    """The modules of rows."""
    return {row.key: row.compiled.sha256 for row in lean.rows(result) if row.compiled is not None}


def _settings(result: lean.Results) -> _Settings:
    """How calls were measured."""
    return {
        (call.model, call.backend, call.device.id, call.call): {
            name: value for name, value in call.settings.items() if name not in _HOW_LONG
        }
        for call in result.calls
    }


def _software(result: lean.Results) -> Software:
    return Environment.model_validate_json(bytes(result.environment)).software


def _like(base: Software, other: Software) -> Software:
    """The software, with what the modules do not depend on as it is in `base`."""
    same = ("kernel", "python", "commit", "dirty")
    return other.model_copy(update={name: getattr(base, name) for name in same})
