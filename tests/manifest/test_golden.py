"""What bad manifests are answered: `tests/golden/manifest_*/` holds the manifest and the expected text and exit code.

`UPDATE_GOLDEN=1 pytest tests/manifest/test_golden.py` writes what is printed today; look at the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dispatchgen.errors import DispatchgenError
from dispatchgen.manifest import load_suite

_GOLDEN = Path(__file__).resolve().parent.parent / "golden"
_CASES = sorted(path.name for path in _GOLDEN.glob("manifest_*"))


@pytest.mark.parametrize("case", _CASES)
def test_message(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(_GOLDEN / case)
    with pytest.raises(DispatchgenError) as raised:
        load_suite(Path("benchmarks.yaml"))
    found = {"stderr.txt": f"{raised.value}\n", "exit_code.txt": f"{raised.value.exit_code}\n"}
    if os.environ.get("UPDATE_GOLDEN"):
        for name, text in found.items():
            Path(name).write_text(text, encoding="utf-8")
    assert found == {name: Path(name).read_text(encoding="utf-8") for name in found}


def test_cases_were_found() -> None:
    assert len(_CASES) > 20
