"""The golden cases `tests/golden/compare/*`: what `dispatchgen compare` prints and writes, word for word.

`UPDATE_GOLDEN=1 pytest tests/comparison/test_golden.py` writes what it prints today; look at the difference.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml

import support
from dispatchgen.cli import main

_GOLDEN = support.REPOSITORY / "tests" / "golden" / "compare"


def _cases() -> ModuleType:
    spec = importlib.util.spec_from_file_location("comparison_cases", Path(__file__).with_name("cases.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _rounded(text: str) -> str:
    """A text whose long numbers have six digits: the last ones are up to the processor."""
    return re.sub(r"\d+\.\d{7,}(e-?\d+)?", lambda found: f"{float(found[0]):.6g}", text)


@pytest.mark.parametrize("name", sorted(path.name for path in _GOLDEN.iterdir() if path.is_dir()))
def test_case(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    case = yaml.safe_load((_GOLDEN / name / "case.yaml").read_text())
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    if "results" in case:
        for file, results in zip(("base.json", "new.json"), _cases().CASES[case["results"]](), strict=True):
            Path(file).write_text(results.model_dump_json())
    for file, text in case.get("files", {}).items():
        Path(file).write_text(text)
    monkeypatch.setattr(sys, "argv", ["dispatchgen", "compare", *case["arguments"]])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    text = "".join(line.rstrip() + "\n" for line in (printed.out + printed.err).split("\n")[:-1])
    text = re.sub(r"(Usage: |Try ').*?dispatchgen compare", r"\1dispatchgen compare", text)  # by how pytest was called
    written = sorted(
        path.name for path in tmp_path.iterdir() if path.suffix in (".md", ".xml") or path.name == "out.json"
    )
    found = {"output.txt": text} | {file: _rounded((tmp_path / file).read_text()) for file in written}
    if os.environ.get("UPDATE_GOLDEN"):
        for file, content in found.items():
            (_GOLDEN / name / file).write_text(content)
    expected = {path.name: path.read_text() for path in (_GOLDEN / name).iterdir() if path.name != "case.yaml"}
    assert found == expected
    assert ended.value.code == case["exit_code"]
    assert "Traceback" not in text
