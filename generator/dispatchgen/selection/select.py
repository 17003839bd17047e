"""Which dispatches of a lock the substitutions of the manifest replace, and by which files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from dispatchgen.errors import Place, Problem, SubstitutionError
from dispatchgen.extract.schema import Dispatch, Skipped
from dispatchgen.lock.schema import Lock
from dispatchgen.manifest.names import nearest, show, show_all
from dispatchgen.manifest.suite import Backend, Combination, Model, Selector, Substitution, Suite
from dispatchgen.selection.directory import named_files
from dispatchgen.selection.workgroups import workgroup_problems

#: What a target's file is; `kernel`: a source that the substitution's command builds an object from.
TargetKind = Literal["source", "configuration", "object", "kernel", "tuning_spec"]

_PATTERN = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Target:
    """A dispatch and what replaces it."""

    dispatch: Dispatch
    kind: TargetKind
    file: str  #: Relative to the suite's folder.

    @property
    def is_object(self) -> bool:
        """Whether an object replaces it, ready or built from a kernel."""
        return self.kind in ("object", "kernel")


@dataclass(frozen=True)
class Selected:
    """What a substitution replaces on a backend."""

    substitution: Substitution
    targets: tuple[Target, ...]


def select_substitutions(suite: Suite, model: Model, backend: Backend, lock: Lock) -> list[Selected]:
    """What the substitutions of `model` on `backend` replace, in the order of the manifest.

    Raises SubstitutionError with all problems: a substitution that finds no dispatch, a file that is named after none,
    two files for one dispatch, two members of a combination that replace one dispatch, or parts of one executable.
    """
    problems: list[Problem] = []
    selected = []
    of_model = f"of model {show(model.name)} on backend {show(backend.name)}"
    for substitution in model.substitutions:
        if backend.id not in substitution.backends:
            continue
        try:
            selected.append(Selected(substitution, tuple(_targets(substitution, backend.id, lock))))
        except SubstitutionError as error:
            where = f"substitution {show(substitution.name)} {of_model}"
            place = Place(str(suite.manifest), substitution.line)
            problems += [Problem(f"{where}: {each.message}", place, each.hint) for each in error.problems]
    for combination in model.combinations:
        if backend.id in combination.backends:
            where, place = (
                f"combination {show(combination.name)} {of_model}",
                Place(str(suite.manifest), combination.line),
            )
            for message, hint in _conflicts(combination, selected):
                problems.append(Problem(f"{where}: {message}", place, hint))
    if problems:
        raise SubstitutionError(*problems)
    return selected


def select_dispatches(
    selectors: Sequence[Selector], dispatches: Sequence[Dispatch], skipped: Sequence[Skipped] = ()
) -> list[Dispatch]:
    """The dispatches that at least one of the selectors names, in their order.

    A text names, and the first of these that there is counts: the dispatch of that stable name; those of the executable
    or export of that symbol; those of that operation; those of which one of these fits it as a pattern.

    Args:
      skipped: What has no benchmark, to say so where a selector names it.

    Raises:
      SubstitutionError: with a problem per selector that names none.
    """
    found: set[str] = set()
    problems = []
    for selector in selectors:
        matching = _matching(selector, dispatches)
        found.update(dispatch.name for dispatch in matching)
        if not matching:
            problems.append(_nothing(selector, dispatches, skipped))
    if problems:
        raise SubstitutionError(*problems)
    return [dispatch for dispatch in dispatches if dispatch.name in found]


def _matching(selector: Selector, dispatches: Sequence[Dispatch]) -> list[Dispatch]:
    text = selector.text
    rules: list[Callable[[Dispatch], bool]] = [lambda dispatch: dispatch.operation == text]
    if selector.by == "any":
        rules.insert(0, lambda dispatch: dispatch.name == text)
        rules.insert(1, lambda dispatch: text in (dispatch.executable, dispatch.export))
    if _PATTERN.search(text):
        rules.append(lambda dispatch: any(fnmatchcase(name, text) for name in _names(selector, dispatch)))
    return next((found for rule in rules if (found := [each for each in dispatches if rule(each)])), [])


def _names(selector: Selector, dispatch: Dispatch) -> tuple[str, ...]:
    """What a selector can name a dispatch by."""
    if selector.by == "operation":
        return (dispatch.operation,)
    return (dispatch.name, dispatch.executable, dispatch.export, dispatch.operation)


def _nothing(selector: Selector, dispatches: Sequence[Dispatch], skipped: Sequence[Skipped]) -> Problem:
    """That a selector names no dispatch."""
    text = selector.text
    of_operation = " of the operation" if selector.by == "operation" else ""
    for each in skipped:
        names = (each.operation,) if of_operation else (each.executable, each.export, each.operation)
        if text in names or (_PATTERN.search(text) and any(fnmatchcase(name, text) for name in names)):
            return Problem(f"the dispatch {show(each.export)} has no benchmark: {each.reason}")
    guess = nearest(text, [name for dispatch in dispatches for name in _names(selector, dispatch)])
    there = show_all(dict.fromkeys(_names(selector, dispatch)[0] for dispatch in dispatches))
    hint = show(guess) if guess is not None else f"one of {there}" if there else None
    return Problem(f"there is no dispatch{of_operation} {show(text)}", hint=hint)


def _targets(substitution: Substitution, backend: str, lock: Lock) -> Iterator[Target]:
    """What a substitution replaces on a backend. Raises SubstitutionError."""
    here = lock.backends[backend]
    if substitution.kind == "directory":
        by_backend = {each: locked.dispatches for each, locked in lock.backends.items()}
        for named in named_files(substitution, backend, by_backend):
            yield Target(named.dispatch, named.kind, named.file)
        return
    selected: Sequence[Dispatch] = here.dispatches
    if substitution.selectors:
        selected = select_dispatches(substitution.selectors, here.dispatches, here.skipped)
    if substitution.workgroups is not None:
        problems = [each for dispatch in selected for each in workgroup_problems(substitution.workgroups, dispatch)]
        if problems:
            raise SubstitutionError(*problems)
    kind: TargetKind = "kernel" if substitution.command else substitution.kind
    for dispatch in selected:
        yield Target(dispatch, kind, substitution.file)


def _conflicts(combination: Combination, selected: Sequence[Selected]) -> Iterator[tuple[str, str]]:
    """A message and a hint for each two members that replace one dispatch, or parts of one executable."""
    members = [each for each in selected if each.substitution.id in combination.members]
    first: dict[str, Selected] = {}
    shared: dict[tuple[str, str], list[str]] = {}
    for member in members:
        for target in member.targets:
            other = first.setdefault(target.dispatch.name, member)
            if other is not member:
                pair = (other.substitution.name, member.substitution.name)
                shared.setdefault(pair, []).append(target.dispatch.name)
    yield from _parts(members)
    every = [each.substitution.name for each in selected if not each.substitution.selectors]
    for pair, names in shared.items():
        broad = next((name for name in pair if name in every), None)
        hint = f"give {show(broad)} a `dispatch`" if broad is not None else "remove one of them"
        yield f"{show(pair[0])} and {show(pair[1])} both replace {show_all(names)}", hint


def _parts(members: Sequence[Selected]) -> Iterator[tuple[str, str]]:
    """The same for members that replace dispatches of one executable, a program's whole, by different files."""
    first: dict[str, tuple[Selected, Target]] = {}
    for member in members:
        for target in member.targets:
            other, replaced = first.setdefault(target.dispatch.executable, (member, target))
            differs = (replaced.kind, replaced.file) != (target.kind, target.file)
            if other is not member and differs and replaced.dispatch.name != target.dispatch.name:
                names = f"{show(other.substitution.name)} and {show(member.substitution.name)}"
                both = f"{show(replaced.dispatch.name)} and {show(target.dispatch.name)}"
                message = f"{names} replace {both}, which are one executable, {show(target.dispatch.executable)}"
                yield message, "name both dispatches in one substitution, whose file has what is new in both"
