from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import made_up_results
from dispatchgen.errors import ResultsError
from dispatchgen.results.load import load, load_full
from dispatchgen.results.write import text_of

_READERS = pytest.mark.parametrize("read", [load, load_full])


def test_both_readers_read_the_same(tmp_path: Path) -> None:
    results = made_up_results.results([made_up_results.call([made_up_results.dispatch("a", [1e-3] * 3)])])
    file = tmp_path / "r.json"
    file.write_text(text_of(results))
    assert load_full(file) == results
    lean = load(file)
    assert lean.calls[0].dispatches[0].timing is not None
    assert list(lean.calls[0].dispatches[0].timing.fastest) == [1e-3] * 3


@_READERS
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this is no result file of dispatchgen"),
        ("[]", "this is no result file of dispatchgen"),
        ('{"version": 2}', "this is no result file of dispatchgen"),
        ('{"version": 1, "calls": []}', "format has version 1, this dispatchgen reads version 2"),
        ('{"version": 99}', "format has version 99"),
        ('{"journal":', "this is no journal of dispatchgen"),
        ('{"journal": 1, "results": {}, "tasks": []}\n', "this is no journal of dispatchgen"),
    ],
)
def test_what_is_no_result_file_is_refused(
    tmp_path: Path, read: Callable[[Path], object], text: str, message: str
) -> None:
    file = tmp_path / "r.json"
    file.write_text(text)
    with pytest.raises(ResultsError, match=message) as error:
        read(file)
    assert str(file) in str(error.value)


@_READERS
def test_a_file_that_is_not_there(tmp_path: Path, read: Callable[[Path], object]) -> None:
    with pytest.raises(ResultsError, match="cannot read the results: No such file or directory"):
        read(tmp_path / "none.json")


@_READERS
def test_an_environment_that_is_none_is_refused(tmp_path: Path, read: Callable[[Path], object]) -> None:
    file = tmp_path / "r.json"
    file.write_text(text_of(made_up_results.results([])).replace('"cores"', '"kernels"'))
    with pytest.raises(ResultsError, match="this is no result file of dispatchgen"):
        read(file)
