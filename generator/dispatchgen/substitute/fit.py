"""Whether a substitute fits what it is to replace.

IREE's compiler checks little of this: with another number of bindings or of workload arguments it compiles, and the
program computes something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from dispatchgen.errors import Place, Problem
from dispatchgen.extract.names import same_but_for_number
from dispatchgen.iree.executable import Executable, Export, Layout, Phase, with_target
from dispatchgen.substitute.original import Original

#: Keys of a target that do not tell what code is for. iree-compile dumps executables with debug symbols by default.
_ANY = frozenset({"debug_symbols"})


@dataclass(frozen=True)
class Fit:
    """How a substitute fits."""

    executable: Executable  #: For the original's target, unless it was made for another.
    exports: tuple[tuple[Export, Export], ...]  #: The original's and the substitute's, of the same ordinal.
    target_differences: tuple[str, ...]


def fit(
    original: Original, substitutes: Sequence[Executable], phase: Phase, file: str, *, any_target: bool
) -> Fit | list[Problem]:
    """The executable of a file that fits an original, or all that is wrong.

    Args:
      substitutes: The executables of the file.
      phase: What they are said to be.
      file: For messages.
      any_target: Whether the substitute may be made for another target.
    """
    chosen = _choose(original, substitutes, file)
    if isinstance(chosen, Problem):
        return [chosen]
    pairs = _pairs(original, chosen)
    differences = tuple(_target_differences(original.executable, chosen))
    problems = [
        *_symbols(original, chosen, file),
        *_exports(original, chosen, pairs, file),
        *(problem for pair in pairs for problem in _export(*pair, file)),
        *_functions(chosen, file),
        *_accesses(chosen, file),
        *_phase(chosen, phase, file),
        *_resources(chosen, file),
    ]
    if differences and not any_target:
        problems.append(other_target(differences, Place(file, chosen.line)))
    if problems:
        return problems
    executable = chosen if differences else with_target(chosen, original.executable.target)
    return Fit(executable, tuple(pairs), differences)


def interface_problems(original: Executable, substitute: Executable, file: str) -> list[Problem]:
    """What a substitute has not in common with an executable of a program, whatever the names of its exports."""
    problems = list(_variants(original, substitute, file))
    expected, found = (sorted(export.ordinal for export in each.exports) for each in (original, substitute))
    if expected != found:
        message = f"ordinals of the exports: expected {_ordinals(expected)}, found {_ordinals(found)}"
        return [*problems, Problem(message, Place(file, substitute.line))]
    exports = {export.ordinal: export for export in substitute.exports}
    return [*problems, *(each for old in original.exports for each in _export(old, exports[old.ordinal], file))]


def _ordinals(ordinals: Sequence[int]) -> str:
    return ", ".join(map(str, ordinals)) or "none"


def _choose(original: Original, substitutes: Sequence[Executable], file: str) -> Executable | Problem:
    """The executable that stands for the original: by IREE's symbol or the stable one, else but for the number."""
    if not substitutes:
        return Problem(
            "expected a hal.executable, found none", Place(file), "start from what `dispatchgen dump` writes"
        )
    if len(substitutes) == 1:
        return substitutes[0]
    fitting = [each for each in substitutes if _names_fit(original, each)]
    exact = [each for each in fitting if each.symbol in _symbols_of(original)]
    chosen = exact or fitting
    if len(chosen) == 1:
        return chosen[0]
    found = ", ".join(f"@{each.symbol}" for each in chosen or substitutes)
    if not chosen:
        message = f"none of the {len(substitutes)} executables fits: expected {_expected(original)}, found {found}"
        return Problem(message, Place(file))
    message = f"{len(chosen)} executables fit: expected {_expected(original)} alone, found {found}"
    return Problem(message, Place(file), "keep the one that is meant")


def _symbols_of(original: Original) -> tuple[str, str]:
    """The symbols that the original's executable has, in the program and in its benchmark module."""
    return original.dispatch.executable, original.executable.symbol


def _export_symbols(original: Original, export: Export) -> tuple[str, ...]:
    """The symbols that an export of the original has. In the benchmark module all but the dispatch's keep IREE's."""
    is_dispatch = export.name == original.dispatch.name
    return (original.dispatch.export, export.name) if is_dispatch else (export.name,)


def _expected(original: Original) -> str:
    dispatch = original.dispatch
    return f"@{dispatch.executable} with @{dispatch.export}"


def _names_fit(original: Original, substitute: Executable) -> bool:
    exports = original.executable.exports
    return (
        _is_one_of(substitute.symbol, _symbols_of(original))
        and len(exports) == len(substitute.exports)
        and all(any(_is_export(original, old, new) for new in substitute.exports) for old in exports)
    )


def _is_one_of(symbol: str, symbols: Sequence[str]) -> bool:
    return any(same_but_for_number(symbol, each) for each in symbols)


def _is_export(original: Original, old: Export, new: Export) -> bool:
    return _is_one_of(new.name, _export_symbols(original, old))


def _pairs(original: Original, substitute: Executable) -> list[tuple[Export, Export]]:
    """The exports of both that belong together.

    That is those of the same name where all have it. Else names may differ in the dispatch's number, which does not
    tell exports of one operation apart: then the ordinal decides, as it does where names fit nothing.
    """
    old_exports, new_exports = original.executable.exports, substitute.exports
    named = [(old, new) for old in old_exports for new in new_exports if new.name in _export_symbols(original, old)]
    if len(named) == len(old_exports):
        return named
    rules: list[Callable[[Export, Export], bool]] = [
        lambda old, new: old.ordinal == new.ordinal and _is_export(original, old, new),
        lambda old, new: _is_export(original, old, new),
        lambda old, new: old.ordinal == new.ordinal,
    ]
    chosen: dict[int, Export] = {}
    for fits, old in product(rules, old_exports):
        rest = [new for new in new_exports if new not in chosen.values()]
        match = next((new for new in rest if fits(old, new)), None)
        if match is not None and old.ordinal not in chosen:
            chosen[old.ordinal] = match
    return [(old, chosen[old.ordinal]) for old in old_exports if old.ordinal in chosen]


def _symbols(original: Original, substitute: Executable, file: str) -> Iterator[Problem]:
    place = Place(file, substitute.line)
    if not _is_one_of(substitute.symbol, _symbols_of(original)):
        yield Problem(f"executable: expected @{original.dispatch.executable}, found @{substitute.symbol}", place)
    yield from _variants(original.executable, substitute, file)


def _variants(original: Executable, substitute: Executable, file: str) -> Iterator[Problem]:
    if substitute.variants != original.variants:
        expected, found = _names(original.variants), _names(substitute.variants)
        yield Problem(f"variants: expected {expected}, found {found}", Place(file, substitute.line))


def _names(symbols: Sequence[str]) -> str:
    return ", ".join(f"@{symbol}" for symbol in symbols) or "none"


def _exports(
    original: Original, substitute: Executable, pairs: Sequence[tuple[Export, Export]], file: str
) -> Iterator[Problem]:
    """What is wrong with the names, ordinals and number of exports."""
    if len(substitute.exports) != len(original.executable.exports):
        expected = _names([_export_symbols(original, export)[0] for export in original.executable.exports])
        found = _names([export.name for export in substitute.exports])
        counts = len(original.executable.exports), len(substitute.exports)
        message = f"exports: expected {counts[0]} ({expected}), found {counts[1]} ({found})"
        yield Problem(message, Place(file, substitute.line))
    for old, new in pairs:
        symbol = _export_symbols(original, old)[0]
        if not substitute.is_external and not _is_export(original, old, new):
            yield Problem(f"export {new.ordinal}: expected @{symbol}, found @{new.name}", Place(file, new.line))
        if old.ordinal != new.ordinal:
            message = f"ordinal of @{new.name}: expected {old.ordinal}, found {new.ordinal}"
            yield Problem(message, Place(file, new.line))


def _export(old: Export, new: Export, file: str) -> Iterator[Problem]:
    """What is wrong with the layout and the workload of an export."""
    place = Place(file, new.line, key=f"export @{new.name}")
    for what, expected, found in _layout_differences(old.layout, new.layout):
        yield Problem(f"{what}: expected {expected}, found {found}", place)
    if old.workload is not None and new.workload != old.workload:
        found = "no count region" if new.workload is None else str(new.workload)
        yield Problem(f"number of workload arguments: expected {old.workload}, found {found}", place)


def _layout_differences(old: Layout, new: Layout) -> Iterator[tuple[str, object, object]]:
    if old.constants != new.constants:
        yield "number of constants", old.constants, new.constants
    if len(old.bindings) != len(new.bindings):
        yield "number of bindings", len(old.bindings), len(new.bindings)
    for ordinal, (expected, found) in enumerate(zip(old.bindings, new.bindings, strict=False)):
        if expected != found:
            yield f"binding {ordinal}", expected, found
    if old.flags != new.flags:
        yield "flags of the pipeline layout", old.flags or "none", new.flags or "none"


def _functions(substitute: Executable, file: str) -> Iterator[Problem]:
    """Exports without the function that they run."""
    for export in substitute.exports:
        if not substitute.is_external and export.name not in substitute.functions:
            found = _names(substitute.functions)
            yield Problem(f"function of the export: expected @{export.name}, found {found}", Place(file, export.line))


def _accesses(substitute: Executable, file: str) -> Iterator[Problem]:
    """Device code that names another layout than an export's. Within a layout, MLIR checks the ordinals."""
    layouts = {export.layout.text for export in substitute.exports}
    for access in substitute.accesses:
        if access.layout not in layouts:
            message = f"layout of {access.kind} {access.ordinal}: expected its export's, found another"
            yield Problem(f"{message}: {access.layout}", Place(file, access.line))


def _phase(substitute: Executable, phase: Phase, file: str) -> Iterator[Problem]:
    if substitute.phase is not None and substitute.phase != phase:
        states = {"source": "an executable that is not configured yet", "configuration": "a configured executable"}
        message = f"expected {states[phase]}, found {states[substitute.phase]}"
        yield Problem(message, Place(file, substitute.line), f"`{substitute.phase}:` instead of `{phase}:`")


def _resources(substitute: Executable, file: str) -> Iterator[Problem]:
    """Constants whose data is not in the file. iree-compile leaves it out where it dumps executables."""
    if substitute.missing_resources:
        message = f"the file has no data for {', '.join(substitute.missing_resources)}"
        yield Problem(message, Place(file, substitute.line), "start from what `dispatchgen dump` writes")


def other_target(differences: Sequence[str], place: Place) -> Problem:
    """What to say of a substitute that was made for another target: `key: expected ..., found ...`."""
    message = "it was made for another target than this backend's"
    hint = "make it anew for this target, or allow it: `other_target: allow`"
    return Problem("\n  ".join([message, *differences]), place, hint)


def _target_differences(original: Executable, substitute: Executable) -> Iterator[str]:
    """How the targets differ, but for what is the compiler's own affair."""
    if not substitute.variants:
        return
    expected, found = dict(original.target_keys), dict(substitute.target_keys)
    for key in sorted((expected.keys() | found.keys()) - _ANY):
        if expected.get(key) != found.get(key):
            yield f"{key}: expected {expected.get(key, 'none')}, found {found.get(key, 'none')}"
