"""`dispatchgen report`: what it writes, and what it refuses."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import made_up_results as made_up
import reported
from dispatchgen.cli import dispatchgen
from dispatchgen.errors import DispatchgenError

Report = Callable[..., Result]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two result files, of the same machine, and one of another."""
    path = tmp_path_factory.mktemp("results")
    machine = made_up.MACHINE.model_copy(update={"memory_bytes": 1 << 30})
    other = made_up.results([made_up.call([made_up.dispatch("d", [1e-6] * 3)])], id="other", machine=machine)
    for found in (reported.results(id="base"), reported.results(slower=1.2), other):
        (path / f"{found.id}.json").write_text(found.model_dump_json(), encoding="utf-8")
    return path


@pytest.fixture
def report(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Report:
    """Runs the command on result files by their names; raises what it raises."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Result:
        files: Sequence[str] = [str(folder / each) if each.endswith(".json") else each for each in arguments]
        return CliRunner().invoke(dispatchgen, ["report", *files], catch_exceptions=False)

    return run


def test_writes_a_page(report: Report) -> None:
    assert report("new.json").exit_code == 0
    page = Path("report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "24 of 34" not in page
    assert "<strong>24</strong> of 34 dispatches measured" in page
    assert "Comparison</h2>" not in page


def test_same_input_same_bytes(report: Report) -> None:
    report("new.json", "--base", "base.json", "-o", "a.html")
    report("new.json", "--base", "base.json", "-o", "b.html")
    assert Path("a.html").read_bytes() == Path("b.html").read_bytes()


def test_compares_and_writes_markdown(report: Report) -> None:
    done = report("new.json", "--base", "base.json", "-o", "page.html", "--markdown", "-")
    assert done.exit_code == 0
    assert "Comparison</h2>" in Path("page.html").read_text(encoding="utf-8")
    assert "24 of 34 dispatches measured, 2 failed, 8 skipped" in done.stdout
    assert "**slower**" in done.stdout


def test_several_results(report: Report) -> None:
    assert report("new.json", "base.json").exit_code == 0
    assert "<strong>48</strong> of 68 dispatches measured" in Path("report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("new.json", "base.json", "--base", "base.json"), "only one RESULT can be compared"),
        (("new.json", "--base", "base.json", "--baseline", "main"), "exclude each other"),
        (("new.json", "new.json"), "more than once"),
        (("new.json", "--base", "new.json"), "the same run"),
        (("new.json", "-o", "new.json"), "is read, and would be written over"),
        (("new.json", "--base", "base.json", "--markdown", "base.json"), "is read, and would be written over"),
        (("new.json", "-o", "a", "--markdown", "a"), "--output and --markdown are one file, 'a'"),
        (("new.json", "-o", "-", "--markdown", "-"), "standard output"),
        (("new.json", "-o", "nowhere/report.html"), "there is no folder 'nowhere'"),
        ((), "Missing argument"),
    ],
)
def test_refuses(report: Report, arguments: tuple[str, ...], message: str) -> None:
    done = report(*arguments)
    assert done.exit_code == 2
    assert message in done.output
    assert not list(Path().iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.json",), "cannot read the results"),
        (("new.json", "--base", "other.json"), "different machines"),
        (("new.json", "--history", "none.sqlite"), "there is no history"),
        (("new.json", "--baseline", "main"), "there is no manifest"),
    ],
)
def test_errors(report: Report, arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(DispatchgenError, match=message) as raised:
        report(*arguments)
    assert raised.value.exit_code == 2
    assert not Path("report.html").exists()


def test_other_machines_are_compared_where_that_is_forced(report: Report) -> None:
    assert report("new.json", "--base", "other.json", "--force").exit_code == 0
    assert "other machine: " in Path("report.html").read_text(encoding="utf-8")


def test_a_history_is_drawn(report: Report, folder: Path) -> None:
    pytest.importorskip("ruptures", reason="no ruptures: pip install dispatchgen[history]")
    from dispatchgen.history.importing import import_results

    paths = []
    for day in range(1, 13):
        found = reported.results(models=("mlp",), slower=1.3 if day > 6 else 1.0, id=f"run{day}")
        started = f"2026-01-{day:02d}T00:00:00+00:00"
        software = found.environment.software.model_copy(update={"commit": f"{day:02x}" * 20, "dirty": False})
        environment = found.environment.model_copy(update={"software": software})
        found = found.model_copy(update={"started": started, "finished": started, "environment": environment})
        paths.append(Path(f"{day}.json").absolute())
        paths[-1].write_text(found.model_dump_json(), encoding="utf-8")
    import_results(Path("history.sqlite"), paths)
    assert report(str(folder / "new.json"), "--history", "history.sqlite").exit_code == 0
    page = Path("report.html").read_text(encoding="utf-8")
    section = page[page.index('<section id="history"') :].partition("</section>")[0]
    assert section.count("<figure") == 24
    first = section.partition("</figure>")[0]
    assert "<figcaption>whole model of mlp on cpu, local, B64</figcaption>" in first
    assert re.search(r"slower, x 1\.[12]\d\d: between 2026-01-06 and 2026-01-07; 060606060606\.\.070707070707", section)
