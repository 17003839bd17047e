"""Builds that are taken as they are, and builds whose dispatches may be others than those of the lock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.buildtree.state import BuildState
from dispatchgen.errors import OutputError
from dispatchgen.job.made import Made, binary_dir, check_locks, find_record, no_build, read_locks
from dispatchgen.job.options import Options
from dispatchgen.lock.drift import REPORT
from dispatchgen.manifest.suite import Suite
from dispatchgen.observer import Observer
from dispatchgen.ownership import is_build_folder
from dispatchgen.results.plan import with_calls

_NOT_BUILT = "it is not built, or its last build failed"


def open_build(selected: Suite, folder: Path, options: Options) -> Made:
    """A build as it is, of the locks as they are. Models that it does not have are told of in its state.

    Raises LockError, and OutputError where it is of other locks, or a build folder's last build did not end.
    """
    locks = read_locks(selected)
    suite, tree = with_calls(selected, locks), BuildTree(binary_dir(folder.absolute(), selected))
    state = BuildState({pair: _NOT_BUILT for pair in _pairs(suite) if not _is_built(tree, *pair)})
    drifting = {pair: "drift" for pair in _pairs(suite) if _drift(tree, *pair) is not None}
    check_locks(suite, locks, tree, BuildState({**state.models, **drifting}))
    parent = tree.binary_dir.parent
    record = find_record(parent)
    if record is None and is_build_folder(parent):
        raise OutputError(no_build(parent))
    if record is None:
        return Made(options.plan(suite, locks), tree, state)
    state = replace(record.state, models={**record.state.models, **state.models})
    return Made(options.plan(suite, locks), tree, state, record.failures, record.software)


def settle_drift(made: Made, observer: Observer) -> Made:
    """What of a build is run whose dispatches may be others than those of the lock: those of both. The rest is told."""
    named: dict[tuple[str, str], frozenset[str]] = {}
    for model, backend in _pairs(made.plan.suite):
        text = _drift(made.tree, model, backend)
        if text and (model, backend) not in made.state.models:
            for line in text.splitlines():
                observer.say(f"note: {line}")
            locked = made.plan.locks[model].backends[backend].dispatches
            named[model, backend] = frozenset(dispatch.name for dispatch in locked)
    return replace(made, plan=replace(made.plan, named=named))


def _pairs(suite: Suite) -> Iterator[tuple[str, str]]:
    """Ids of each model and each of its backends."""
    return ((model.id, backend) for model in suite.models for backend in model.backends)


def _is_built(tree: BuildTree, model: str, backend: str) -> bool:
    """Whether the list of dispatches is there, of the last build: where a step of CMake's failed its stamp is gone."""
    folder = tree.folder(model, backend)
    if not tree.index(model, backend).is_file():
        return False
    # Bazel keeps what it needs itself; it has this file, and CMake does not.
    if not tree.configured(model, backend).exists() or (folder / "listed.txt").exists():
        return True
    return all((folder / f"{name}.stamp").exists() for name in ("configured.mlir", "dispatches"))


def _drift(tree: BuildTree, model: str, backend: str) -> str | None:
    """How dispatches differ from those of the lock; empty: not at all. None: the build does not allow that they do."""
    try:
        return (tree.index(model, backend).parent / REPORT).read_text(encoding="utf-8")
    except OSError:
        return None
