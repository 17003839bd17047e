"""What is read of `<dispatch>.check.json`."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatchgen.agreement.spec import read_spec
from dispatchgen.errors import SubstitutionError


def test_a_spec_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.check.json"
    with pytest.raises(SubstitutionError, match="No such file"):
        read_spec(path)
    path.write_text("{}")
    with pytest.raises(SubstitutionError, match="not what this dispatchgen writes"):
        read_spec(path)
    path.write_text('{"version": 99, "dispatch": "d", "guard": 0, "tolerance": 0, "benchmarks": []}')
    with pytest.raises(SubstitutionError, match="has the version 99"):
        read_spec(path)
