"""A browser, and the page of made-up results, once for all tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import reported
from dispatchgen.comparison.compare import compare
from dispatchgen.comparison.schema import Comparison
from dispatchgen.report.over_time import Change, Measured, OverTime
from dispatchgen.report.report import report
from dispatchgen.results import lean


@pytest.fixture(scope="session")
def base() -> lean.Results:
    return reported.as_lean(reported.results(id="base"))


@pytest.fixture(scope="session")
def new() -> lean.Results:
    return reported.as_lean(reported.results(slower=1.2))


@pytest.fixture(scope="session")
def comparison(base: lean.Results, new: lean.Results) -> Comparison:
    return compare(base, new)


@pytest.fixture(scope="session")
def over_time() -> OverTime:
    times = [1e-4 + 1e-7 * (i * 7 % 5) for i in range(20)] + [1.2e-4 + 1e-7 * (i * 5 % 7) for i in range(8)]
    measured = [
        Measured(f"2026-01-{day:02d}T03:00:00+00:00", seconds, seconds * 0.99, seconds * 1.01, f"c0ffee{day}")
        for day, seconds in enumerate(times, 1)
    ]
    change = Change(20, 1.2, "between c0ffee20 and c0ffee21")
    return OverTime("matmul_Dx512x784_f32__B16 of mlp", tuple(measured), (change,))


@pytest.fixture(scope="session")
def html(new: lean.Results, comparison: Comparison, over_time: OverTime) -> str:
    return report([new], comparison=comparison, over_time=[over_time])


@pytest.fixture(scope="session")
def page_url(html: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(html, encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with reported.chromium() as found:
        yield found
