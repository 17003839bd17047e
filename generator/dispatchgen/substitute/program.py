"""The whole program with substitutes in place of the compiler's own code."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dispatchgen.errors import ModelError, Place, Problem, SubstitutionError
from dispatchgen.extract.schema import Dispatch
from dispatchgen.files import write_if_changed
from dispatchgen.iree import ir
from dispatchgen.iree.executable import Executable
from dispatchgen.iree.ir import symbol_text
from dispatchgen.iree.resources import module_asm
from dispatchgen.iree.symbols import rename_symbols, symbols
from dispatchgen.lock.drift import placeholder
from dispatchgen.manifest.names import did_you_mean, show
from dispatchgen.objects.linked import duplicate_symbols
from dispatchgen.substitute.executable_file import EXECUTABLE_SUFFIX, parse_executable, read_executable_file
from dispatchgen.substitute.fit import interface_problems
from dispatchgen.substitute.original import read_index, skipped_reason
from dispatchgen.substitute.splice import executable_spans, rename_reference, replace_executables


def write_program(configured: Path, index: Path, output: Path, executables: Sequence[Path]) -> list[str]:
    """Writes a configured module in which substitutes stand in place of the compiler's own executables.

    Where the dispatch of a substitute is gone and drift is allowed there is nothing to substitute: a placeholder is
    written. Returns what there is to say, a line each.

    Args:
      configured: The configured module of the program.
      index: `index.json` of its extraction.
      output: The module to write.
      executables: `<dispatch>.executable.mlir` of each substitute.

    Raises:
      SubstitutionError: a substitute has no place in the program, or two have the same, with all problems.
      ModelError, OutputError, ToolError: as reading and writing raise them.
    """
    gone = {path: reason for path in executables if (reason := skipped_reason(path)) is not None}
    if gone:
        reasons = [f"{_dispatch_name(path)} is not substituted: {reason}" for path, reason in gone.items()]
        write_if_changed(output, placeholder("; ".join(reasons)))
        return reasons
    dispatches = {dispatch.name: dispatch for dispatch in read_index(index).dispatches}
    text = _read_text(configured)
    _check(executables, dispatches, executable_spans(text).keys(), configured)
    symbols = {path: dispatches[_dispatch_name(path)].executable for path in executables}
    replaced = _replacements(text, symbols, dispatches.values())
    text = replace_executables(text, {symbol: each.text for symbol, each in replaced.items()})
    for symbol, each in replaced.items():
        for old, new in each.exports.items():
            text = rename_reference(text, symbol, each.variant, old, new)
    write_if_changed(output, text)
    return []


@dataclass(frozen=True)
class _Replaced:
    """What stands in place of an executable of the program."""

    path: Path
    text: str
    variant: str
    exports: Mapping[str, str]  #: What the exports were called, and what they are called now.
    functions: tuple[str, ...]  #: Symbols of the functions of its own code.


def _replacements(program: str, symbols: Mapping[Path, str], dispatches: Iterable[Dispatch]) -> dict[str, _Replaced]:
    """What stands in place of each executable, by its symbol in the program.

    Dispatches of one executable may all be substituted, by the same.

    Args:
      program: Text of the program.
      symbols: Symbol of the executable that each file replaces.
      dispatches: All of the program.

    Raises SubstitutionError with all problems: an executable does not fit, two stand for one, names collide.
    """
    spans = executable_spans(program)
    files = {path: read_executable_file(path) for path in symbols}
    problems = duplicate_symbols(file.linked for file in files.values() if file.linked is not None)
    replaced: dict[str, _Replaced] = {}
    for path, symbol in symbols.items():
        span = spans[symbol_text(symbol)]
        original, substitute = parse_executable(program[span.begin : span.end]), files[path].executable
        misfits = interface_problems(original, substitute, str(path))
        if misfits:
            problems += [replace(misfit, hint="run the substitution's step again") for misfit in misfits]
            continue
        new = _replaced(path, original, substitute)
        first = replaced.setdefault(symbol, new)
        if first.text != new.text:
            problems.append(_two(symbol, first.path, path))
    problems += _taken_names(replaced, dispatches)
    if problems:
        raise SubstitutionError(*problems)
    return replaced


def _taken_names(replaced: Mapping[str, _Replaced], dispatches: Iterable[Dispatch]) -> Iterator[Problem]:
    """Functions of substitutes that are called like the exports of others: IREE links all into one module."""
    exports = {}
    for dispatch in dispatches:
        each = replaced.get(dispatch.executable)
        exports[dispatch.export if each is None else each.exports[dispatch.export]] = dispatch
    for symbol, each in replaced.items():
        for function in each.functions:
            other = exports.get(function)
            if other is not None and other.executable != symbol:
                message = f"{show(function)} is a function of the substitute, and the program's name of {other.name}"
                yield Problem(message, Place(str(each.path)), "give the kernel another name")


def _two(symbol: str, first: Path, second: Path) -> Problem:
    return Problem(f"two substitutes stand for the executable @{symbol}: {first} and {second}", hint="name one")


def _replaced(path: Path, original: Executable, substitute: Executable) -> _Replaced:
    """A substitute with the symbols of the original, wherever that can be.

    An external object's exports are called like its entry points. What calls a function that is called like the
    original's export keeps the dispatch's stable name.
    """
    by_ordinal = {export.ordinal: export.name for export in substitute.exports}
    pairs = [(export.name, by_ordinal[export.ordinal]) for export in original.exports]
    named = symbols(substitute.text)
    exports = {old: new if substitute.is_external or symbol_text(old) in named else old for old, new in pairs}
    renamed = {new: exports[old] for old, new in pairs}
    text = rename_symbols(substitute.text, substitute.symbol, original.symbol, renamed)
    functions = tuple(renamed.get(each, each) for each in substitute.functions)
    return _Replaced(path, text, original.variant, exports, functions)


def _dispatch_name(path: Path) -> str:
    return path.name.removesuffix(EXECUTABLE_SUFFIX)


def _read_text(configured: Path) -> str:
    """A configured module as MLIR's printer writes it. Raises ModelError where it cannot be read."""
    try:
        data = configured.read_bytes()
    except OSError as error:
        raise ModelError(Problem(f"cannot read the module: {error.strerror}", Place(str(configured)))) from None
    if not data.startswith(ir.BYTECODE):
        return data.decode()
    with ir.read_module(configured) as module:
        return module_asm(module)


def _check(
    executables: Sequence[Path], dispatches: Mapping[str, Dispatch], symbols: Collection[str], configured: Path
) -> None:
    """Raises SubstitutionError where a substitute has no place in the program, or two have the same."""
    problems = []
    first: dict[str, Path] = {}
    for path in executables:
        dispatch = dispatches.get(_dispatch_name(path))
        if dispatch is None:
            name = _dispatch_name(path)
            message = f"there is no dispatch {show(name)} to substitute"
            problems.append(Problem(message, Place(str(path)), did_you_mean(name, dispatches)))
        elif symbol_text(dispatch.executable) not in symbols:
            message = f"the program has no executable @{dispatch.executable}, which {dispatch.name} is"
            problems.append(Problem(message, Place(str(configured)), "extract the dispatches of this program"))
        elif first.setdefault(dispatch.name, path) != path:
            problems.append(_two(dispatch.executable, first[dispatch.name], path))
    if problems:
        raise SubstitutionError(*problems)
