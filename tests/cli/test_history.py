"""`dispatchgen history`: what it prints of a history of twelve days."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import made_up_results as made_up
from dispatchgen.cli import dispatchgen
from dispatchgen.errors import HistoryError
from dispatchgen.history.database import opened
from dispatchgen.history.importing import import_results
from dispatchgen.history.series import read_series
from dispatchgen.results.schema import Compiled, Results
from kept_results import call, written


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a history: `gather` got slower by a commit, `softmax` faster by none, and `conv` has a new name."""
    folder = tmp_path_factory.mktemp("history")
    import_results(folder / "history.sqlite", [written(folder, _results(day)) for day in range(1, 13)])
    return folder


def _results(day: int) -> Results:
    factors: Mapping[str, float] = {"gather": 1.3 if day > 6 else 1.0, "softmax": 0.8 if day > 6 else 1.0}
    found = []
    for index, name in enumerate(("gather", "matmul", "softmax", "conv", "[red]")):
        rounds = made_up.rounds_of(1e-5 * factors.get(name, 1.0), noise=0.003, rounds=3, seed=(name, day))
        code = f"{index}{day > 6 and name == 'gather':d}" * 32
        each = made_up.dispatch("convolution" if name == "conv" and day > 3 else name, rounds, content=name)
        found.append(each.model_copy(update={"compiled": Compiled(seconds=1, peak_bytes=1, size=1, sha256=code)}))
    software = made_up.SOFTWARE.model_copy(update={"commit": f"{day:x}" * 40, "dirty": False})
    started = f"2026-01-{day:02d}T02:00:00+00:00"
    return made_up.results([call(found)], id=f"day{day}", started=started, software=software)


def invoked(folder: Path, *arguments: str) -> Result:
    """Runs `dispatchgen history` on the folder's history."""
    environment = {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
    command = ["history", *arguments, "--history", str(folder / "history.sqlite")]
    return CliRunner(env=environment).invoke(dispatchgen, command)


def test_an_import_tells_what_became_of_each_file(folder: Path, tmp_path: Path) -> None:
    new = written(tmp_path, _results(13))
    done = CliRunner().invoke(
        dispatchgen, ["history", "import", str(folder / "day1.json"), str(new), "--history", str(tmp_path / "h.sqlite")]
    )
    assert done.output.count("6 benchmarks: imported\n") == 2
    assert done.exit_code == 0
    assert "6 benchmarks: there already\n" in invoked(folder, "import", str(folder / "day1.json")).output


def test_changes_are_listed_with_the_commits_between(folder: Path) -> None:
    lines = [line.rstrip() for line in invoked(folder, "changes").output.splitlines()]
    assert lines[0].startswith("2026-01-07 02:00 on made_up_8x")
    assert lines[1].startswith("between: 666666666666..777777777777")
    [gather] = [line for line in lines if "gather" in line]
    [softmax] = [line for line in lines if "softmax" in line]
    assert "10.0 us  13.0 us  +30.0 %" in gather
    assert "the code is the same: machine or runtime" in softmax + lines[1]
    assert lines[-1] == "2 changes of 6 benchmarks"


def test_changes_of_some(folder: Path) -> None:
    assert "1 change of 1 benchmark\n" in invoked(folder, "changes", "gath*").output
    assert "0 changes of 6 benchmarks" in invoked(folder, "changes", "--since", "2026-01-08").output
    assert "2 changes of 6 benchmarks" in invoked(folder, "changes", "--since", "2026-01-07").output


def test_a_benchmark_is_shown_run_by_run(folder: Path) -> None:
    lines = invoked(folder, "show", "gather").output.splitlines()
    assert lines[0].startswith("model on cpu, local, static: gather (made_up_8x")
    assert len([line for line in lines if line.startswith("2026-01-")]) == 12
    [changed] = [line for line in lines if "%: " in line]
    assert changed.startswith("2026-01-07 02:00  777777777777  13.0 us")
    assert "666666666666..777777777777" in changed


def test_a_benchmark_is_shown_by_a_name_that_it_had(folder: Path) -> None:
    output = invoked(folder, "show", "conv", "--last", "2").output
    assert "static: convolution (" in output
    assert "before: conv\n" in output
    assert output.count("\n2026-01-") == 2


def test_names_are_taken_literally(folder: Path) -> None:
    assert "static: [red] (" in invoked(folder, "show", "[[]red]").output


def test_a_misspelled_name_is_told(folder: Path) -> None:
    """A typo is not taken for a benchmark that did not change."""
    [machine] = {series.machine for series in read_series(folder / "history.sqlite")}
    for arguments, message, hint in (
        (("show", "gahter"), "nothing was measured of `gahter`", "`gather`"),
        (("changes", "gahter"), "nothing was measured of `gahter`", "`gather`"),
        (("changes", "--machine", machine[:-1]), f"the history has no machine `{machine[:-1]}`", f"`{machine}`"),
        (("show", "gather", "--machine", machine[:-1]), f"the history has no machine `{machine[:-1]}`", f"`{machine}`"),
    ):
        done = invoked(folder, *arguments)
        assert isinstance(done.exception, HistoryError)
        assert message in str(done.exception)
        assert str(done.exception).endswith(f"try: {hint}")


def test_an_empty_history_says_so(tmp_path: Path) -> None:
    with opened(tmp_path / "history.sqlite", create=True):
        pass
    for arguments in (("show", "gather"), ("changes", "gather"), ("changes", "--machine", "mine")):
        done = invoked(tmp_path, *arguments)
        assert isinstance(done.exception, HistoryError)
        assert str(done.exception).endswith("try: nothing is in it: dispatchgen history import RESULT")
