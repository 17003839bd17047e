"""The build's substitution step: benchmark modules in which a substitute stands in place of the compiler's own code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dispatchgen.files import sha256_of, write_if_changed
from dispatchgen.lock.drift import placeholder
from dispatchgen.substitute.agreement import CheckSpec, check_module
from dispatchgen.substitute.executable_file import EXECUTABLE_SUFFIX, executable_file
from dispatchgen.substitute.original import Missing, Original, read_originals
from dispatchgen.substitute.replacement import Replacement, Substitute, make_replacements
from dispatchgen.substitute.schema import Substituted
from dispatchgen.substitute.source import Compiler


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
    found = read_originals(step.dispatches, step.names)
    originals = [each for each in found if isinstance(each, Original)]
    replacements = make_replacements(step.substitute, originals, step.compiler)
    sha256 = sha256_of(step.substitute.file)
    notes = []
    for each in found:
        if isinstance(each, Missing):
            files = _placeholders(step, each, sha256)
            notes.append(f"{step.substitute.substitution}: {each.name} is not substituted: {each.reason}")
        else:
            replacement = replacements[each.dispatch.name]
            module = replacement.benchmark_module(each)
            files = _files(step, each, replacement, module, sha256)
            notes += _notes(step, each, replacement, same=module == each.module)
        for name, text in files.items():
            write_if_changed(step.output / name, text)
    return notes


def _files(step: Step, original: Original, replacement: Replacement, module: str, sha256: str) -> dict[str, str]:
    """All files of a dispatch: name -> content."""
    name = original.dispatch.name
    record = Substituted(
        substitution=step.substitute.substitution,
        dispatch=name,
        kind=step.substitute.kind,
        file=step.substitute.file.name,
        sha256=sha256,
        same=module == original.module,
        entry=replacement.entry,
        target_differences=replacement.target_differences,
        executable=original.dispatch.executable,
        export=original.dispatch.export,
    )
    files = {
        f"{name}.mlir": module,
        f"{name}{EXECUTABLE_SUFFIX}": executable_file(replacement),
        f"{name}.json": record.model_dump_json(indent=1) + "\n",
    }
    if step.tolerance is not None:
        kernels = original.executable.benchmark_text, replacement.benchmark_text
        check = check_module(*kernels, original.dispatch, original.device, step.tolerance)
        files[f"{name}.check.mlir"] = check.text
        files[f"{name}.check.json"] = check.spec.model_dump_json(indent=1) + "\n"
    return files


def _placeholders(step: Step, missing: Missing, sha256: str) -> dict[str, str]:
    """The files of a dispatch that is gone."""
    name, text = missing.name, placeholder(missing.reason)
    record = Substituted(
        substitution=step.substitute.substitution,
        dispatch=name,
        kind=step.substitute.kind,
        file=step.substitute.file.name,
        sha256=sha256,
        same=False,
        executable="",
        export="",
        skipped=missing.reason,
    )
    files = {f"{name}.mlir": text, f"{name}{EXECUTABLE_SUFFIX}": text}
    files[f"{name}.json"] = record.model_dump_json(indent=1) + "\n"
    if step.tolerance is not None:
        spec = CheckSpec(dispatch=name, guard=0, tolerance=step.tolerance, benchmarks=())
        files[f"{name}.check.mlir"] = text
        files[f"{name}.check.json"] = spec.model_dump_json(indent=1) + "\n"
    return files


def _notes(step: Step, original: Original, replacement: Replacement, *, same: bool) -> Iterator[str]:
    """What there is to say of a dispatch."""
    about = f"{step.substitute.substitution}: {original.dispatch.name}"
    if same:
        yield f"{about} is the same as the compiler's own"
    for difference in replacement.target_differences:
        yield f"{about} was made for another target: {difference}"
