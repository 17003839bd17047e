"""What steps of a build took: the records that `genrules/private/record_step.py` leaves beside their products.

A record stays as long as the product does: it is of the last time that the step ran.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ValidationError

from dispatchgen.buildtree.layout import BuildTree, Step

#: What the name of a record has behind that of the product.
SUFFIX = ".step.json"


class StepRecord(BaseModel, frozen=True, strict=True):
    """What a step took."""

    seconds: float  #: How long its command ran.
    peak_bytes: int | None  #: The most memory that a process of it had; None: the system does not tell.


def read_record(product: Path) -> StepRecord | None:
    """What it took to make a file of the build tree; None: there is no record."""
    try:
        return StepRecord.model_validate_json((product.parent / f"{product.name}{SUFFIX}").read_bytes())
    except (OSError, ValidationError):
        return None


def recorded_steps(tree: BuildTree, model: str, backend: str) -> Iterator[tuple[Step, Path]]:
    """The steps of a model on a backend (both are ids) that have a record, each with its product, sorted by path.

    What imports the model is among them, which its backends share.
    """
    files = [*(tree.binary_dir / model).glob(f"*{SUFFIX}"), *tree.folder(model, backend).rglob(f"*{SUFFIX}")]
    for file in sorted(files):
        product = file.with_name(file.name.removesuffix(SUFFIX))
        yield tree.step_of(str(product)), product
