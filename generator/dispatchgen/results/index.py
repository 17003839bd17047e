"""What a build has: the list of dispatches that extraction leaves."""

from __future__ import annotations

from pydantic import ValidationError

from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.errors import OutputError, Place, Problem
from dispatchgen.extract.schema import BackendDispatches


def read_index(tree: BuildTree, model: str, backend: str) -> BackendDispatches:
    """What a build has of a model on a backend; both are ids. Raises OutputError."""
    path = tree.index(model, backend)
    try:
        return BackendDispatches.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        hint = "remove the build folder and run again"
        raise OutputError(Problem("the build left no readable list of dispatches", Place(str(path)), hint)) from error
