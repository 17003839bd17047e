"""The whole program with substitutes in place of the compiler's own code."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from dispatchgen.errors import ModelError, Place, Problem, SubstitutionError
from dispatchgen.extract.schema import Dispatch
from dispatchgen.files import write_if_changed
from dispatchgen.iree import ir
from dispatchgen.iree.executable import Executable
from dispatchgen.iree.ir import symbol_text
from dispatchgen.iree.symbols import rename_symbols, symbols
from dispatchgen.lock.drift import placeholder
from dispatchgen.manifest.names import did_you_mean, show
from dispatchgen.objects.linked import duplicate_symbols
from dispatchgen.substitute.executable_file import EXECUTABLE_SUFFIX, parse_executable, read_executable_file
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
    spans = executable_spans(text)
    _check(executables, dispatches, spans.keys(), configured)
    files = {path: read_executable_file(path) for path in executables}
    duplicates = duplicate_symbols(file.linked for file in files.values() if file.linked is not None)
    if duplicates:
        raise SubstitutionError(*duplicates)
    replaced, references = {}, []
    for path, file in files.items():
        dispatch, substitute = dispatches[_dispatch_name(path)], file.executable
        span = spans[symbol_text(dispatch.executable)]
        original = parse_executable(text[span.begin : span.end])
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
    if not data.startswith(ir.BYTECODE):
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
            name = _dispatch_name(path)
            message = f"there is no dispatch {show(name)} to substitute"
            problems.append(Problem(message, Place(str(path)), did_you_mean(name, dispatches)))
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


def _pairs(original: Executable, substitute: Executable) -> list[tuple[str, str]]:
    """The names of the exports of both, of the same ordinal."""
    names = {export.ordinal: export.name for export in substitute.exports}
    return [(export.name, names[export.ordinal]) for export in original.exports]


def _export_names(substitute: Executable, original: Executable) -> dict[str, str]:
    """What the exports of a substitute are called in the program: like the original's, wherever that can be.

    An external object's are called like its entry points. What calls a function that is called like the original's
    export keeps the dispatch's stable name.
    """
    named = symbols(substitute.text)
    return {
        new: new if substitute.is_external or symbol_text(old) in named else old
        for old, new in _pairs(original, substitute)
    }
