"""From the sections `substitutions` and `combinations` of a model to what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from dispatchgen.manifest import sources
from dispatchgen.manifest.checks import Checks, Path_
from dispatchgen.manifest.names import did_you_mean, make_id, show, show_all
from dispatchgen.manifest.objects import (
    DEFAULT_COMMANDS,
    MLIR_SUFFIXES,
    OBJECT_SUFFIXES,
    code_generator,
    generator_of_object,
)
from dispatchgen.manifest.substitutions import KINDS, OperationSelector, SubstitutionSection
from dispatchgen.manifest.suite import Backend, Combination, Selector, Substitution, SubstitutionKind

#: Keys that go with some kinds of substitutions only.
_KEYS: dict[str, tuple[SubstitutionKind, ...]] = {
    "dispatch": ("source", "configuration", "object", "tuning_spec"),
    "command": ("object",),
    "inputs": ("object",),
    "entry": ("object",),
    "workgroups": ("object",),
    "other_target": ("source", "configuration", "object", "directory"),
}


@dataclass(frozen=True)
class _File:
    """A substitute as its name tells it."""

    path: str
    is_source: bool = False  #: Whether a command makes an object from it.
    generator: str | None = None  #: What generates code for the only kind of backends that take it; None: any.


@dataclass
class SubstitutionResolver:
    """Resolves the substitutions of one model; what is wrong is added to `checks`."""

    checks: Checks
    model: Path_  #: Of the model in the manifest.
    backends: Sequence[Backend]  #: Those that the model uses.
    _unreadable: set[str] = field(default_factory=set)  #: Substitutions whose kind cannot be told.

    def substitutions(self, sections: Mapping[str, SubstitutionSection]) -> tuple[Substitution, ...]:
        """The substitutions; those whose kind cannot be told are left out."""
        lines = self.checks.document.lines((*self.model, "substitutions")) if sections else {}
        found = []
        for name, section in sections.items():
            path = (*self.model, "substitutions", name)
            if len(section.given) == 1:
                ((kind, file),) = section.given.items()
                found.append(self._substitution(path, section, kind, file, lines.get(name)))
            else:
                self._unreadable.add(name)
                given = f"{show_all(section.given)} are given" if section.given else "there is none"
                self.checks.add(path, f"exactly one of {show_all(KINDS)} is needed; {given}", at_key=True)
        return tuple(found)

    def combinations(
        self, sections: Mapping[str, Sequence[str]], substitutions: Sequence[Substitution]
    ) -> tuple[Combination, ...]:
        """The combinations of `substitutions`. Checks the names of both, which are of one namespace."""
        names = [(*self.model, "substitutions", each.name) for each in substitutions]
        self.checks.check_ids([*names, *((*self.model, "combinations", name) for name in sections)])
        known = {each.name: each.id for each in substitutions}
        by_id = {each.id: each for each in substitutions}
        lines = self.checks.document.lines((*self.model, "combinations")) if sections else {}
        found = []
        for name, texts in sections.items():
            path = (*self.model, "combinations", name)
            members = self._members(path, texts, known)
            common = [
                backend.id
                for backend in self.backends
                if all(backend.id in by_id[member].backends for member in members)
            ]
            if len(members) == len(texts) and all(by_id[member].backends for member in members) and not common:
                message = f"the combination {show(name)} is empty: no backend has all of its substitutions"
                self.checks.add(path, message, "substitutions of the same backends")
            found.append(Combination(name, make_id(name), members, tuple(common), lines.get(name)))
        return tuple(found)

    def _members(self, path: Path_, texts: Sequence[str], known: Mapping[str, str]) -> tuple[str, ...]:
        by_any = {member: member for member in known.values()} | dict(known)
        members: dict[str, None] = {}
        for index, text in enumerate(texts):
            if text in by_any and by_any[text] in members:
                self.checks.add((*path, index), f"the substitution {show(text)} is there twice", "remove one of them")
            elif text in by_any:
                members[by_any[text]] = None
            elif text not in self._unreadable:
                self.checks.add((*path, index), f"there is no substitution {show(text)}", did_you_mean(text, known))
        if len(texts) == 1:
            self.checks.add(path, "a combination has two substitutions or more", "remove it: one alone is built anyway")
        return tuple(members)

    def _substitution(
        self, path: Path_, section: SubstitutionSection, kind: SubstitutionKind, text: str, line: int | None
    ) -> Substitution:
        self._check_keys(path, section, kind)
        command: tuple[str, ...] = ()
        files: dict[str, tuple[str, ...]] = {}
        if kind == "directory":
            backends, files = self._directory(path, section, text)
        else:
            file = self._file(path, section, kind, text)
            command = self._command(path, section, file)
            backends = self._backends_of(path, section, kind, file)
            text = self.checks.file((*path, kind), text)
        return Substitution(
            name=str(path[-1]),
            id=make_id(str(path[-1])),
            kind=kind,
            file=text,
            files=files,
            selectors=tuple(_selectors(section)),
            backends=backends,
            command=command,
            inputs=self._inputs(path, section, command),
            entry=section.entry,
            workgroups=section.workgroups,
            other_target=section.other_target == "allow",
            tolerance=section.check.tolerance if section.check is not None else None,
            line=line,
        )

    def _check_keys(self, path: Path_, section: SubstitutionSection, kind: SubstitutionKind) -> None:
        for key, kinds in _KEYS.items():
            if key in section.model_fields_set and kind not in kinds:
                message = f"`{key}` goes with {show_all(kinds)} only, not with `{kind}`"
                if kind == "directory" and key == "dispatch":
                    message = "`dispatch` does not go with `directory`, whose files are named after what they replace"
                self.checks.add((*path, key), message, "remove it", at_key=True)
        if section.dispatch is None and kind not in ("directory", "tuning_spec"):
            hint = "add `dispatch: ...`; the lock file has the names"
            self.checks.add(path, "the key `dispatch` is missing", hint, at_key=True)

    # Files.

    def _file(self, path: Path_, section: SubstitutionSection, kind: SubstitutionKind, text: str) -> _File:
        suffix = PurePosixPath(text).suffix
        if kind != "object":
            if suffix not in MLIR_SUFFIXES:
                message = f"{show(text)} is no {kind.replace('_', ' ')}"
                self.checks.add((*path, kind), message, f"a file ending in {' or '.join(MLIR_SUFFIXES)}")
            return _File(text)
        generator = generator_of_object(suffix)
        if generator is not None:
            return _File(text, generator=generator)
        if section.command is not None or suffix not in DEFAULT_COMMANDS:
            # The user's command may compile the source for another kind of backend than ours would.
            known = DEFAULT_COMMANDS[suffix][0] if suffix in DEFAULT_COMMANDS and section.backends is None else None
            return _File(text, is_source=True, generator=known)
        return _File(text, is_source=True, generator=DEFAULT_COMMANDS[suffix][0])

    def _command(self, path: Path_, section: SubstitutionSection, file: _File) -> tuple[str, ...]:
        suffix = PurePosixPath(file.path).suffix
        if section.object is None:
            return ()
        if not file.is_source:
            for key in ("command", "inputs"):
                if key in section.model_fields_set:
                    message = f"`{key}` goes with the source of a kernel, and {show(file.path)} is an object already"
                    self.checks.add((*path, key), message, "remove it", at_key=True)
            return ()
        if section.command is None:
            if suffix not in DEFAULT_COMMANDS:
                message = f"{show(file.path)} is neither an object nor a source that dispatchgen has a command for"
                known = [*(end for ends in OBJECT_SUFFIXES.values() for end in ends), *DEFAULT_COMMANDS]
                hint = f"a file ending in {', '.join(known)}; or `command` and `backends`"
                self.checks.add((*path, "object"), message, hint)
                return ()
            return DEFAULT_COMMANDS[suffix][1]
        for place in ("{source}", "{output}"):
            if not any(place in argument for argument in section.command):
                self.checks.add((*path, "command"), f"the command lacks `{place}`", f'an argument "{place}"')
        if section.entry is None and any("{entry}" in argument for argument in section.command):
            self.checks.add(
                (*path, "command"), "the command has `{entry}`, but no `entry` is given", "add `entry: ...`"
            )
        return tuple(section.command)

    def _inputs(self, path: Path_, section: SubstitutionSection, command: Sequence[str]) -> tuple[str, ...]:
        """The files that the command reads: those listed, and those that its arguments name.

        The program is looked up like a shell does: what holds no `/` is not a file of the suite.
        """
        listed = [self.checks.file((*path, "inputs", index), each) for index, each in enumerate(section.inputs)]
        texts = [text for text in command[:1] if "/" in text] + list(command[1:])
        values = [value for text in texts for value in (text, text.partition("=")[2]) if value]
        named = [file for value in values if (file := sources.suite_file(value, self.checks.root)) is not None]
        return tuple(dict.fromkeys([*listed, *named]))

    def _directory(
        self, path: Path_, section: SubstitutionSection, text: str
    ) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
        """The backends of a folder of substitutes, and the files for each."""
        where = (*path, "directory")
        before = len(self.checks.problems)
        files = self.checks.folder(where, text)
        candidates = self._chosen(path, section)
        by_backend: dict[str, list[str]] = {backend.id: [] for backend in candidates}
        for file in files:
            suffix = PurePosixPath(file).suffix
            generator = generator_of_object(suffix)
            if suffix not in MLIR_SUFFIXES and generator is None:
                allowed = [*MLIR_SUFFIXES, *(end for ends in OBJECT_SUFFIXES.values() for end in ends)]
                message = f"{show(file)} is no substitute: files ending in {', '.join(allowed)} are"
                self.checks.add(where, message, "move it to another folder")
                continue
            fitting = [each for each in candidates if generator is None or code_generator(each) == generator]
            for backend in fitting:
                by_backend[backend.id].append(file)
            if not fitting and candidates:
                self.checks.add(where, f"none of its backends takes {show(file)}, an object for {generator}")
        if not files and len(self.checks.problems) == before:
            self.checks.add(where, f"there is no file in {show(text)}")
        if section.backends is not None and len(self.checks.problems) == before:
            for backend in candidates:
                if not by_backend[backend.id]:
                    message = f"no file in {show(text)} is for the backend {show(backend.name)}"
                    self.checks.add((*path, "backends"), message, "remove it")
        found = {backend: tuple(of_it) for backend, of_it in by_backend.items() if of_it}
        return tuple(found), found

    # Backends.

    def _chosen(self, path: Path_, section: SubstitutionSection) -> list[Backend]:
        """The backends that the section names; all of the model's where it names none."""
        if section.backends is None:
            return list(self.backends)
        known = {name: backend for backend in self.backends for name in (backend.id, backend.name)}
        unused = {name for every in self.checks.manifest.backends or () for name in (every, make_id(every))}
        for index, name in enumerate(section.backends):
            where = (*path, "backends", index)
            if name in known or name in self.checks.broken.get("backends", ()):
                continue
            if name in unused:
                message = f"the model does not use the backend {show(name)}"
                self.checks.add(where, message, "add it to `backends` of the model, or remove it here")
            else:
                hint = did_you_mean(name, [backend.name for backend in self.backends])
                self.checks.add(where, f"there is no backend {show(name)}", hint)
        chosen = {known[name].id for name in section.backends if name in known}
        return [backend for backend in self.backends if backend.id in chosen]

    def _backends_of(
        self, path: Path_, section: SubstitutionSection, kind: SubstitutionKind, file: _File
    ) -> tuple[str, ...]:
        chosen = self._chosen(path, section)
        if kind != "object":
            return tuple(backend.id for backend in chosen)
        is_known = section.backends is not None or file.generator is not None
        fitting = [each for each in chosen if is_known and _takes(each, file)]
        if not is_known and section.command is not None:
            message = f"the key `backends` is missing: nothing tells which take what is made from {show(file.path)}"
            self.checks.add(path, message, "add `backends: [...]`", at_key=True)
        elif is_known and section.backends is None and not fitting and not self.checks.broken.get("backends"):
            message = f"none of the model's backends takes {show(file.path)}, which is for {file.generator}"
            self.checks.add((*path, "object"), message)
        for backend in chosen if section.backends is not None else ():
            if backend not in fitting:
                is_for = f", and {show(file.path)} is for {file.generator}" if file.generator else ""
                takes = f"objects for {made}" if (made := code_generator(backend)) else "no objects"
                message = f"the backend {show(backend.name)} takes {takes}{is_for}"
                self.checks.add((*path, "backends"), message, "remove it")
        return tuple(backend.id for backend in fitting)


def _takes(backend: Backend, file: _File) -> bool:
    """Whether a backend takes an object, or what is made of a source."""
    generator = code_generator(backend)
    return generator is not None and file.generator in (None, generator)


def _selectors(section: SubstitutionSection) -> Iterator[Selector]:
    items = section.dispatch if isinstance(section.dispatch, list) else [section.dispatch]
    for item in items:
        if isinstance(item, OperationSelector):
            yield Selector(item.operation, "operation")
        elif item is not None:
            yield Selector(item)
