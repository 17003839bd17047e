"""The golden cases `tests/golden/baseline/*`: what `dispatchgen baseline` says, word for word, and exit codes.

`UPDATE_GOLDEN=1 pytest tests/baseline/test_golden.py` writes what is printed today; look at the difference.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

import made_up_results as made_up
import support
from dispatchgen.baseline.store import machines
from dispatchgen.cli import dispatchgen
from dispatchgen.comparison import table
from dispatchgen.comparison.schema import Comparison
from dispatchgen.comparison.text import counted
from dispatchgen.errors import DispatchgenError
from dispatchgen.results.schema import Results
from kept_results import call, dispatches, suite_in, written

GOLDEN = support.REPOSITORY / "tests" / "golden" / "baseline"
CASES = sorted(path.parent.name for path in GOLDEN.glob("*/case.yaml"))


def results() -> Iterator[Results]:
    """Three runs of the same code and one more; one with a bit of everything; one of another machine."""
    for index, factor in enumerate((1.0, 1.006, 0.996)):
        yield made_up.results([call(dispatches(factor, seed=index))], id=f"aa{index}")
    yield made_up.results([call(dispatches(seed="again"))], id="again")
    found = dispatches(seed="new")
    for index, factor in ((4, 1.2), (5, 1.3), (6, 0.5)):
        timing = found[index].timing
        assert timing is not None
        found[index] = made_up.dispatch(found[index].name, [each[0] * factor for each in timing.real])
    found[7] = made_up.dispatch("matmul_7", None)
    found[8] = made_up.dispatch("added", made_up.rounds_of(1e-5))
    yield made_up.results([call(found)], id="new", started="2026-02-01T00:00:00+00:00")
    machine = made_up.MACHINE.model_copy(update={"memory_bytes": 1 << 36})
    yield made_up.results([call(dispatches())], id="other_machine", machine=machine)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The texts of the result files, by name."""
    folder = tmp_path_factory.mktemp("results")
    return {path.name: path.read_text() for path in (written(folder, each) for each in results())}


def invoked(arguments: list[str]) -> tuple[str, int]:
    """What `dispatchgen baseline` prints, and its exit code."""
    environment = {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
    done = CliRunner(env=environment).invoke(dispatchgen, ["baseline", *arguments])
    if isinstance(done.exception, DispatchgenError):
        return f"{done.output}{done.exception}\n", done.exception.exit_code
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.output, done.exit_code


def shortened(comparison: Comparison, *, every: bool = False) -> str:  # noqa: ARG001
    """What stands for the table of a comparison, which has tests of its own."""
    return f"<comparison: {counted(comparison)}>"


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    case = yaml.safe_load((GOLDEN / name / "case.yaml").read_text())
    suite_in(tmp_path, yaml.safe_dump({"thresholds": case["thresholds"]}) if "thresholds" in case else "")
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(table, "render", shortened)
    shown, code = "", 0
    for index, arguments in enumerate(case["commands"]):
        text, code = invoked(arguments)
        shown += f"$ dispatchgen baseline {' '.join(arguments)}\n{text}"
        if index == 0 and "replaced" in case:
            [path] = machines(Path(), "nightly")
            path.write_text(path.read_text().replace(*case["replaced"]))
    shown = re.sub(r"made_up_8x_\w+", "<machine>", shown)
    expected = GOLDEN / name / "output.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        expected.write_text(shown)
    assert shown == expected.read_text()
    assert code == case["exit_code"]


def test_cases_were_found() -> None:
    assert len(CASES) > 15
