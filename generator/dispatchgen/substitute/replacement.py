"""From a substitute's file to the configured executables that stand in place of the compiler's own."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dispatchgen.errors import Place, Problem, SubstitutionError
from dispatchgen.iree import ir
from dispatchgen.iree.executable import Executable, Phase, read_executables
from dispatchgen.iree.process import shorten
from dispatchgen.iree.symbols import rename_symbols
from dispatchgen.objects.executable import object_executable
from dispatchgen.objects.fit import fit_object
from dispatchgen.objects.linked import LinkedObject
from dispatchgen.objects.read import read_object
from dispatchgen.selection.workgroups import workgroup_problems
from dispatchgen.substitute.configure import Compiler, configure_executable, resolve_executable
from dispatchgen.substitute.fit import Fit, fit, other_target
from dispatchgen.substitute.original import Original
from dispatchgen.substitute.schema import Kind
from dispatchgen.substitute.splice import rename_reference, replace_executables

#: How much of a file is looked at to tell text from other content, in bytes.
_START = 4096


@dataclass(frozen=True)
class Substitute:
    """A file, and what is said of it."""

    substitution: str  #: Id of the substitution.
    kind: Kind
    file: Path
    entry: str | None = None  #: Entry point of an object; None: its only one.
    workgroups: str | None = None  #: Affine map from an object's workload; None: the original's workgroup count.
    any_target: bool = False  #: Whether it may be made for another target.
    given: str | None = None  #: What the user named, where the build made the file of it or copied it.

    @property
    def recorded(self) -> str:
        """The file in what is written: the same in every folder that a build may be in."""
        return self.file.name if self.given is None else self.given

    @property
    def shown(self) -> str:
        """The file in messages. A program that was configured with a tuning spec is itself: lines are in it."""
        return str(self.file) if self.given is None or self.kind == "tuning_spec" else self.given


@dataclass(frozen=True)
class Replacement:
    """What stands in place of a dispatch's executable. It has the stable names of benchmark modules."""

    text: str
    benchmark_text: str  #: With alignments as benchmark modules have them.
    export: str  #: The dispatch's export: an external object's is called like the entry point.
    entry: str | None = None  #: Entry point of the object, where there is one.
    linked: LinkedObject | None = None  #: The object, where it is linked: for CPUs.
    target_differences: tuple[str, ...] = ()

    def benchmark_module(self, original: Original) -> str:
        """The benchmark module of the original with this in its place."""
        executable, name = original.executable, original.name
        module = replace_executables(original.module, {executable.symbol: self.benchmark_text})
        return rename_reference(module, executable.symbol, executable.variant, name, self.export)


def make_replacements(
    substitute: Substitute, originals: Sequence[Original], compiler: Compiler
) -> dict[str, Replacement]:
    """What replaces each of the originals, by the dispatch's name.

    Raises:
      SubstitutionError: the substitute does not fit, with all problems, or does not compile.
      ToolError: the compiler crashed.
    """
    if substitute.kind == "object":
        return {each.name: _of_object(substitute, each, compiler) for each in originals}
    fits = _fits(substitute, originals, _read(substitute))
    return {
        original.name: _of_executable(substitute, original, each, compiler)
        for original, each in zip(originals, fits, strict=True)
    }


def _of_executable(substitute: Substitute, original: Original, each: Fit, compiler: Compiler) -> Replacement:
    if substitute.kind == "source":
        source = _renamed(each.executable.located_text, each, original)
        configured = configure_executable(compiler, original.device, source, substitute.shown)
        text, benchmark_text = configured.text, configured.benchmark_text
    else:
        text = _renamed(each.executable.text, each, original)
        benchmark_text = _renamed(each.executable.benchmark_text, each, original)
    export = _export_names(each)[original.name]
    return Replacement(text, benchmark_text, export, target_differences=each.target_differences)


def _of_object(substitute: Substitute, original: Original, compiler: Compiler) -> Replacement:
    """The executable that runs an object. All is checked before the compiler runs, which tells the workgroup count."""
    exports = original.executable.exports
    if len(exports) > 1:
        names = ", ".join(f"@{export.name}" for export in exports)
        message = f"an object replaces an executable of one export; @{original.dispatch.executable} has {names}"
        raise SubstitutionError(Problem(message, Place(substitute.shown), "`source` or `configuration`"))
    object_file = read_object(substitute.file, substitute.shown)
    found = fit_object(original.executable, object_file, substitute.entry)
    if isinstance(found, list):
        raise SubstitutionError(*found)
    if found.target_differences and not substitute.any_target:
        raise SubstitutionError(other_target(found.target_differences, Place(substitute.shown)))
    if substitute.workgroups is not None:
        problems = [*workgroup_problems(substitute.workgroups, original.dispatch)]
        if problems:
            raise SubstitutionError(*problems)
    resolved = None
    if substitute.workgroups is None or object_file.format != "elf":  # GPUs need the number of threads from it, too
        resolved = resolve_executable(compiler, original.module, original.name).exports[0].text
    path = f"{substitute.substitution}/{substitute.file.name}"
    made = object_executable(original.executable, object_file, found, substitute.workgroups, resolved, path)
    linked = None
    if object_file.format == "elf":
        name = f"{substitute.recorded} ({substitute.substitution})"
        linked = LinkedObject(
            name=name, sha256=hashlib.sha256(object_file.data).hexdigest(), symbols=object_file.defined
        )
    return Replacement(made.text, made.text, made.export_name, found.entry.name, linked, found.target_differences)


def _read(substitute: Substitute) -> list[Executable]:
    """The executables of a file. Raises SubstitutionError where it cannot be read or parsed."""
    place = Place(substitute.shown)
    try:
        data = substitute.file.read_bytes()
    except OSError as error:
        raise SubstitutionError(Problem(f"cannot read the substitute: {error.strerror}", place)) from None
    if b"\0" in data[:_START] and not data.startswith(ir.BYTECODE):
        message = f"expected MLIR, found a file that starts with the bytes {data[:8].hex(' ')}"
        raise SubstitutionError(Problem(message, place, "`object:` for a kernel's object"))
    try:
        with ir.parse_module(data) as module:
            return read_executables(module)
    except ir.NotIR as error:
        problems = [
            Problem(f"MLIR refuses it: {shorten(text)}", replace(place, line=line, column=column))
            for line, column, text in error.messages
        ]
        raise SubstitutionError(*problems) from None


def _fits(substitute: Substitute, originals: Sequence[Original], executables: Sequence[Executable]) -> list[Fit]:
    """How a file fits each of the originals. Raises SubstitutionError with the problems of all."""
    phase: Phase = "source" if substitute.kind == "source" else "configuration"
    fits, problems = [], []
    for original in originals:
        found = fit(original, executables, phase, substitute.shown, any_target=substitute.any_target)
        if isinstance(found, Fit):
            fits.append(found)
        else:
            problems += found
    if problems:
        raise SubstitutionError(*problems)
    return fits


def _export_names(each: Fit) -> dict[str, str]:
    """The original's exports and what they are called in the replacement, which is also what they must be called."""
    is_external = each.executable.is_external
    return {old.name: new.name if is_external else old.name for old, new in each.exports}


def _renamed(text: str, each: Fit, original: Original) -> str:
    names = _export_names(each)
    exports = {new.name: names[old.name] for old, new in each.exports}
    return rename_symbols(text, each.executable.symbol, original.executable.symbol, exports)
