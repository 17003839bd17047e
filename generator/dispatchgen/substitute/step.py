"""The build's substitution step: benchmark modules in which a substitute stands in place of the compiler's own code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dispatchgen.agreement.module import check_module
from dispatchgen.agreement.spec import CheckSpec
from dispatchgen.errors import Place, Problem, SubstitutionError
from dispatchgen.extract.origin import Origin, read_origin
from dispatchgen.extract.schema import Dispatch
from dispatchgen.files import sha256_of, write_if_changed
from dispatchgen.lock.drift import placeholder
from dispatchgen.substitute.configure import Compiler
from dispatchgen.substitute.executable_file import EXECUTABLE_SUFFIX, executable_file
from dispatchgen.substitute.original import Missing, Original, read_originals
from dispatchgen.substitute.replacement import Replacement, Substitute, make_replacements
from dispatchgen.substitute.schema import Substituted

#: How much of a first line is read, in characters: a binary may have no others.
_LONGEST_LINE = 4096


@dataclass(frozen=True)
class Step:
    """One substitution step of a build."""

    substitute: Substitute
    dispatches: Path  #: Folder that extraction wrote.
    names: tuple[str, ...]  #: The dispatches to substitute.
    output: Path  #: Folder of what is written.
    compiler: Compiler
    tolerance: float | None = None  #: Write check modules with this tolerance; None: none.


def write_substitutes(step: Step) -> list[str]:
    """Writes `<dispatch>.mlir`, `<dispatch>.executable.mlir` and `<dispatch>.json` to a folder, per dispatch.

    With a tolerance `<dispatch>.check.mlir` and `<dispatch>.check.json` as well. Where the dispatch is gone and drift
    is allowed, each module is a placeholder. Returns what there is to say, a line each.

    Raises:
      SubstitutionError: a dispatch is not there, or the substitute does not fit, with all problems.
      ModelError, OutputError, ToolError: as reading, writing and compiling raise them.
    """
    read = _read(step.substitute)
    found = read_originals(step.dispatches, step.names)
    originals = [each for each in found if isinstance(each, Original)]
    replacements = make_replacements(step.substitute, originals, step.compiler)
    notes: list[str] = []
    for each in found:
        if isinstance(each, Missing):
            record, texts = _record(step, each, read), _placeholders(step, each)
        else:
            replacement = replacements[each.name]
            texts = _texts(step, each, replacement)
            record = _record(step, each, read, replacement, same=texts[".mlir"] == each.module)
        texts[".json"] = record.model_dump_json(indent=1) + "\n"
        for suffix, text in texts.items():
            write_if_changed(step.output / f"{each.name}{suffix}", text)
        notes += _notes(record)
    return notes


@dataclass(frozen=True)
class _Read:
    """What is told of a substitute's file, whatever is in it."""

    sha256: str
    origin: Origin | None


def _read(substitute: Substitute) -> _Read:
    try:
        with substitute.file.open(encoding="utf-8", errors="replace") as stream:
            return _Read(sha256_of(substitute.file), read_origin(stream.readline(_LONGEST_LINE)))
    except OSError as error:
        place = Place(substitute.shown)
        raise SubstitutionError(Problem(f"cannot read the substitute: {error.strerror}", place)) from None


def _texts(step: Step, original: Original, replacement: Replacement) -> dict[str, str]:
    """The files of a dispatch but its record, by what is appended to its name."""
    texts = {".mlir": replacement.benchmark_module(original), EXECUTABLE_SUFFIX: executable_file(replacement)}
    if step.tolerance is not None:
        kernels = original.executable.benchmark_text, replacement.benchmark_text
        check = check_module(*kernels, original.dispatch, original.device, step.tolerance, replacement.export)
        texts |= {".check.mlir": check.text, ".check.json": check.spec.model_dump_json(indent=1) + "\n"}
    return texts


def _placeholders(step: Step, missing: Missing) -> dict[str, str]:
    """The same for a dispatch that is gone."""
    text = placeholder(missing.reason)
    texts = {".mlir": text, EXECUTABLE_SUFFIX: text}
    if step.tolerance is not None:
        spec = CheckSpec(dispatch=missing.name, guard=0, tolerance=step.tolerance, benchmarks=())
        texts |= {".check.mlir": text, ".check.json": spec.model_dump_json(indent=1) + "\n"}
    return texts


def _record(
    step: Step, dispatch: Original | Missing, read: _Read, replacement: Replacement | None = None, *, same: bool = False
) -> Substituted:
    return Substituted(
        substitution=step.substitute.substitution,
        dispatch=dispatch.name,
        kind=step.substitute.kind,
        file=step.substitute.recorded,
        sha256=read.sha256,
        same=same,
        entry=replacement.entry if replacement is not None else None,
        target_differences=replacement.target_differences if replacement is not None else (),
        notes=tuple(_origin_notes(read.origin, dispatch.dispatch))
        if isinstance(dispatch, Original) and not same
        else (),
        executable=dispatch.dispatch.executable if isinstance(dispatch, Original) else "",
        export=dispatch.dispatch.export if isinstance(dispatch, Original) else "",
        skipped=dispatch.reason if isinstance(dispatch, Missing) else None,
    )


def _origin_notes(origin: Origin | None, dispatch: Dispatch) -> Iterator[str]:
    """What there is to say where a substitute was dumped from something else than it replaces."""
    if origin is None or origin.content == dispatch.content:
        return
    if origin.dispatch == dispatch.name:
        yield "the file was dumped from another version of this dispatch: dump it again, and edit that"
    else:
        yield f"the file was dumped from another dispatch: {origin.dispatch}"


def _notes(record: Substituted) -> Iterator[str]:
    """What there is to say of a dispatch."""
    about = f"{record.substitution}: {record.dispatch}"
    if record.skipped is not None:
        yield f"{about} is not substituted: {record.skipped}"
    if record.same:
        yield f"{about} is the same as the compiler's own"
    for difference in record.target_differences:
        yield f"{about} was made for another target: {difference}"
    for note in record.notes:
        yield f"{about}: {note}"
