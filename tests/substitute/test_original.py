"""Reading the dispatches that extraction wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatchgen.errors import ModelError
from dispatchgen.substitute.original import read_originals
from substituted import Built


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("module {\n}\n", "found 0 executables and 0 devices"),
        ("module {\n  hal.executable private @a {\n  }\n}\n", "found 1 executables and 0 devices"),
        ("module {\n  util.global private @device : !hal.device\n}\n", "found 0 executables and 1 devices"),
        (None, "found 2 executables and 1 devices"),
    ],
)
def test_what_is_no_benchmark_module(mlp: Built, tmp_path: Path, text: str | None, found: str) -> None:
    first, _ = mlp.dispatches
    (tmp_path / "index.json").write_bytes((mlp.folder / "dispatches" / "index.json").read_bytes())
    path = tmp_path / f"{first}.mlir"
    path.write_text(mlp.configured.read_text() if text is None else text)
    with pytest.raises(ModelError) as caught:
        read_originals(tmp_path, [first])
    (problem,) = caught.value.problems
    assert problem.message == f"expected a benchmark module, with one executable and one device; {found}"
    assert str(problem.place) == str(path)
