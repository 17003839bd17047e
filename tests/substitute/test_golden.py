"""The golden cases `tests/golden/substitute/*`: what `dispatchgen substitute` says of substitutes, word for word."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import support
from dispatchgen import cli
from substituted import TARGETS

GOLDEN = support.REPOSITORY / "tests" / "golden" / "substitute"
CASES = sorted(path.parent.name for path in GOLDEN.glob("*/case.yaml"))


def arguments(case: dict[str, Any], compiler: Path) -> list[str]:
    if "arguments" in case:
        return list(case["arguments"])
    target = case.get("target", "llvm-cpu")
    return [
        "substitute",
        "--name=fast",
        f"--kind={case['kind']}",
        f"--substitute={case['substitute']}",
        f"--dispatches=dispatches/{target}",
        f"--dispatch={case.get('dispatch', 'elementwise_D_f32')}",
        "--output=output",
        f"--iree-compile={compiler}",
        *case.get("options", []),
        "--",
        *TARGETS[target],
    ]


@pytest.mark.parametrize("name", CASES)
def test_case(
    name: str,
    tmp_path: Path,
    iree_tools: support.IreeTools,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(GOLDEN / name, tmp_path, dirs_exist_ok=True)
    shutil.copytree(GOLDEN / "dispatches", tmp_path / "dispatches")
    case = yaml.safe_load((tmp_path / "case.yaml").read_text())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["dispatchgen", *arguments(case, iree_tools.compile)])
    with pytest.raises(SystemExit) as ended:
        cli.main()

    output = capsys.readouterr()
    text = (output.out + output.err).replace(str(tmp_path), "<case>")
    expected = GOLDEN / name / "output.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        expected.write_text(text)
    assert text == expected.read_text()
    assert ended.value.code == case["exit_code"]
    assert (tmp_path / "output").exists() == (case["exit_code"] == 0)
