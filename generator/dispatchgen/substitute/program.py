"""The whole program with substitutes in place of the compiler's own code."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from dispatchgen.errors import ModelError, Place, Problem, SubstitutionError
from dispatchgen.extract.emit import rename_symbols
from dispatchgen.extract.schema import Dispatch
from dispatchgen.files import write_if_changed
from dispatchgen.iree import ir
from dispatchgen.iree.ir import symbol_text
from dispatchgen.lock.drift import placeholder
from dispatchgen.substitute.interface import Executable, read_executables
from dispatchgen.substitute.original import read_index, skipped_reason
from dispatchgen.substitute.splice import executable_spans, rename_reference, replace_executables
from dispatchgen.substitute.step import EXECUTABLE_SUFFIX

#: How MLIR bytecode begins, which iree-compile writes where its flags ask for it.
_BYTECODE = b"ML\xefR"


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
    spans = executable_spans(text)
    _check(executables, dispatches, spans.keys(), configured)
    replaced, references = {}, []
    for path in executables:
        dispatch = dispatches[_dispatch_name(path)]
        span = spans[symbol_text(dispatch.executable)]
        original = _parse(text[span.begin : span.end], configured)
        substitute = _parse(path.read_text(encoding="utf-8"), path)
        names = _export_names(substitute, original)
        replaced[dispatch.executable] = rename_symbols(substitute.text, substitute.symbol, dispatch.executable, names)
        references += [(original, old, names[new]) for old, new in _pairs(original, substitute)]
    text = replace_executables(text, replaced)
    for original, old, new in references:
        text = rename_reference(text, original.symbol, original.variant, old, new)
    write_if_changed(output, text)
    return []


def _dispatch_name(path: Path) -> str:
    return path.name.removesuffix(EXECUTABLE_SUFFIX)


def _read_text(configured: Path) -> str:
    """A configured module as MLIR's printer writes it. Raises ModelError where it cannot be read."""
    try:
        data = configured.read_bytes()
    except OSError as error:
        raise ModelError(Problem(f"cannot read the module: {error.strerror}", Place(str(configured)))) from None
    if not data.startswith(_BYTECODE):
        return data.decode()
    with ir.read_module(configured) as module:
        return str(module.get_asm(use_local_scope=True))


def _check(
    executables: Sequence[Path], dispatches: Mapping[str, Dispatch], symbols: Collection[str], configured: Path
) -> None:
    """Raises SubstitutionError where a substitute has no place in the program, or two have the same."""
    problems = []
    first: dict[str, Path] = {}
    for path in executables:
        dispatch = dispatches.get(_dispatch_name(path))
        if dispatch is None:
            message = f"there is no dispatch {_dispatch_name(path)!r} to substitute"
            problems.append(Problem(message, Place(str(path)), f"one of: {', '.join(dispatches)}"))
        elif symbol_text(dispatch.executable) not in symbols:
            message = f"the program has no executable @{dispatch.executable}, which {dispatch.name} is"
            problems.append(Problem(message, Place(str(configured)), "extract the dispatches of this program"))
        elif dispatch.executable in first:
            other = first[dispatch.executable]
            message = f"two substitutes stand for the executable @{dispatch.executable}: {other} and {path}"
            problems.append(Problem(message, hint="name one"))
        else:
            first[dispatch.executable] = path
    if problems:
        raise SubstitutionError(*problems)


def _parse(text: str, file: Path) -> Executable:
    """The executable that a text is. Raises ModelError where it is none."""
    try:
        with ir.parse_module(text) as module:
            executables = read_executables(module)
    except ir.NotIR as error:
        raise ModelError(Problem(f"the executable cannot be parsed: {error}", Place(str(file)))) from None
    if len(executables) != 1:
        raise ModelError(Problem(f"expected one hal.executable, found {len(executables)}", Place(str(file))))
    return executables[0]


def _pairs(original: Executable, substitute: Executable) -> list[tuple[str, str]]:
    """The names of the exports of both, of the same ordinal."""
    names = {export.ordinal: export.name for export in substitute.exports}
    return [(export.name, names[export.ordinal]) for export in original.exports]


def _export_names(substitute: Executable, original: Executable) -> dict[str, str]:
    """What the exports of a substitute are called in the program: like the original's, or like an entry point."""
    return {new: new if substitute.is_external else old for old, new in _pairs(original, substitute)}
