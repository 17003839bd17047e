"""The golden cases `tests/golden/lock_*`: what `dispatchgen lock` says of bad input, word for word, and exit codes."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

import support
from dispatchgen.files import sha256_of
from dispatchgen.iree.tools import find_tools

GOLDEN = support.REPOSITORY / "tests" / "golden"
CASES = sorted(path.name for path in GOLDEN.glob("lock_*"))


def contents(folder: Path) -> dict[str, str]:
    """The digest of every file below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in files}


def portable(text: str, folder: Path, iree_tools: support.IreeTools) -> str:
    """`text` without what differs from machine to machine, from release to release and from run to run."""
    text = text.replace(str(folder), "<case>").replace(str(iree_tools.compiler_dir), "<wheel>")
    text = text.replace(find_tools().compiler_version, "<version>")
    text = re.sub(rf"{re.escape(tempfile.gettempdir())}/dispatchgen-\w+", "<temporary>", text)
    return re.sub(r"^(?:locking|checking): \[.*\n", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path, iree_tools: support.IreeTools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IREE_HOST_BIN_DIR", raising=False)
    folder = tmp_path / "case"
    shutil.copytree(GOLDEN / name, folder)
    case = yaml.safe_load((folder / "case.yaml").read_text())
    before = contents(folder)
    environment: Mapping[str, str] = case.get("environment", {})
    result = support.run_cli(*case["arguments"], cwd=folder, env=environment)
    after = contents(folder)

    text = portable(result.stdout + result.stderr, folder, iree_tools)
    expected = GOLDEN / name / "output.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        expected.write_text(text)
    assert text == expected.read_text()
    assert result.code == case["exit_code"]
    assert "Traceback" not in text
    assert {path for path in after if before.get(path) != after[path]} == set(case.get("written", []))
