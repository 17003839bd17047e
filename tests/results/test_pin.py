from __future__ import annotations

import os
import subprocess
import sys

import pytest

from dispatchgen.results.pin import allowed, kept_on, parse, processors_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the system keeps no process on a processor")


def test_what_can_be_asked_for() -> None:
    assert parse("auto") == "auto"
    assert parse("none") == "none"
    some = sorted(allowed())
    assert parse(",".join(map(str, some))) == allowed()
    assert parse(f"{some[0]}-{some[0]}") == frozenset({some[0]})


@pytest.mark.parametrize("text", ["", "all", "0,", "1-", "-1", "a-b", "0 1"])
def test_what_is_no_list_of_processors_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is none of `auto`, `none` and numbers of processors"):
        parse(text)


@pytest.mark.parametrize("text", ["99999", "0-99999", "0-99999999999", "9" * 5000])
def test_processors_that_are_not_there_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"there is no processor [0-9]+ that may be used; there are"):
        parse(text)


def test_a_range_whose_last_comes_first_is_refused() -> None:
    with pytest.raises(ValueError, match="'5-2' has no processors: the last comes before the first"):
        parse("0,5-2")


def test_devices_of_one_thread_are_kept_on_the_last_processor() -> None:
    assert processors_for("auto", "local-sync") == frozenset({max(allowed())})
    assert processors_for("auto", "local-sync://") == frozenset({max(allowed())})
    assert processors_for("auto", "local-task") is None
    assert processors_for("auto", "vulkan") is None
    assert processors_for("none", "local-sync") is None
    assert processors_for(frozenset({0}), "vulkan") == frozenset({0})


def test_what_is_started_inherits_the_processors_and_this_process_gets_its_own_back() -> None:
    before = os.sched_getaffinity(0)
    one = max(before)
    ask = [sys.executable, "-c", "import os; print(*os.sched_getaffinity(0))"]
    with kept_on({one}):
        inherited = subprocess.run(ask, capture_output=True, text=True, check=True).stdout
    assert inherited.split() == [str(one)]
    assert os.sched_getaffinity(0) == before
    with kept_on(None):
        assert os.sched_getaffinity(0) == before
