"""Records of steps that are damaged or missing; `tests/cmake/test_records.py` has those of real builds."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatchgen.buildtree.layout import COMPILE, EXTRACT, IMPORT, BuildTree, Step
from dispatchgen.buildtree.records import StepRecord, read_record, recorded_steps


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"seconds": 1.5, "peak_bytes": 1048576}', StepRecord(seconds=1.5, peak_bytes=1 << 20)),
        ('{"seconds": 2, "peak_bytes": null}', StepRecord(seconds=2.0, peak_bytes=None)),
        ("", None),
        ("{", None),
        ("[]", None),
        ("3", None),
        ('{"seconds": 1.5}', None),
        ('{"seconds": "1.5", "peak_bytes": 1}', None),
        ('{"seconds": 1.5, "peak_bytes": "1"}', None),
        ("\xff", None),
    ],
)
def test_read_record(tmp_path: Path, text: str, expected: StepRecord | None) -> None:
    (tmp_path / "x.vmfb.step.json").write_bytes(text.encode("latin-1"))
    assert read_record(tmp_path / "x.vmfb") == expected


def test_no_record(tmp_path: Path) -> None:
    assert read_record(tmp_path / "x.vmfb") is None


def test_steps(tmp_path: Path) -> None:
    tree = BuildTree(tmp_path)
    for name in ("m/imported.mlir", "m/a/x.vmfb", "m/a/dispatches", "m/b/x.vmfb", "n/a/x.vmfb"):
        path = tmp_path / f"{name}.step.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    assert dict(recorded_steps(tree, "m", "a")) == {
        Step(IMPORT, "m"): tmp_path / "m/imported.mlir",
        Step(EXTRACT, "m", "a"): tmp_path / "m/a/dispatches",
        Step(COMPILE, "m", "a", "x"): tmp_path / "m/a/x.vmfb",
    }
    assert list(recorded_steps(tree, "gone", "a")) == []
