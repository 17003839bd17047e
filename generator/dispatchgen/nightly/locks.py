"""Whether the locks are those of the manifest and its files, before anything is built or measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dispatchgen.errors import CheckFailed, DispatchgenError, Place, Problem
from dispatchgen.lock.store import renew_command
from dispatchgen.lock.update import check_origins
from dispatchgen.manifest.suite import Model, Suite


def check(suite: Suite, models: Sequence[Model], renew: str | None = None) -> None:
    """Compares the files and settings of models with what their locks were made from; compiles nothing.

    Whether the dispatches are those of the lock the build finds out, as the manifest's `drift` says.

    Args:
      renew: The command that renews the locks; None: that of the command line.

    Raises:
      CheckFailed: locks are stale or missing; each is named, with the command.
      DispatchgenError: a lock cannot be read; then all that is wrong.
    """
    checks = list(check_origins(suite, [model for model in models if suite.lock_path(model).exists()]))
    unreadable = [problem for found in checks for problem in found.problems]
    stale = [*_missing(suite, models, renew)]
    for found in checks:
        if found.stale:
            stale.append(_problem(suite, found.model, f"its lock is stale: {'; '.join(found.stale)}", renew))
    if unreadable:
        raise DispatchgenError(*unreadable, *stale)
    if stale:
        raise CheckFailed(*stale)


def _missing(suite: Suite, models: Sequence[Model], renew: str | None) -> Iterator[Problem]:
    for model in models:
        if not suite.lock_path(model).exists():
            yield _problem(suite, model, "it has no lock file", renew)


def _problem(suite: Suite, model: Model, message: str, renew: str | None) -> Problem:
    path = suite.lock_path(model)
    return Problem(f"model {model.name}: {message}", Place(str(path)), renew or renew_command(path, suite.manifest))
