"""Reading real files of iree-benchmark-module 3.13 (`data/`)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dispatchgen.results.benchmark_json import UnreadableResult, function_of, read

DATA = Path(__file__).parent / "data"
DISPATCH = "main_dispatch_0_embedded_elf_x86_64_main_dispatch_0_matmul_8x128x64_f32"


def test_repetitions_are_told_and_the_librarys_aggregates_are_not() -> None:
    raw = json.loads((DATA / "dispatch_repeated.json").read_text())["benchmarks"]
    repetitions = [entry for entry in raw if entry["run_type"] == "iteration"]
    sample = read(DATA / "dispatch_repeated.json").samples[DISPATCH]
    assert len(raw) > len(repetitions) == 3
    assert sample.real == pytest.approx([entry["real_time"] * 1e-6 for entry in repetitions])
    assert sample.cpu == pytest.approx([entry["cpu_time"] * 1e-6 for entry in repetitions])
    assert sample.iterations == repetitions[-1]["iterations"]


def test_milliseconds_become_seconds() -> None:
    raw = json.loads((DATA / "model.json").read_text())["benchmarks"][0]
    assert raw["time_unit"] == "ms"
    assert read(DATA / "model.json").samples["main"].real == pytest.approx([raw["real_time"] * 1e-3])


def test_every_function_is_found_under_its_own_name() -> None:
    assert set(read(DATA / "functions.json").samples) == {"a.b", "axb", "a(b", "a b/c"}


def test_the_host_is_noted() -> None:
    host = read(DATA / "model.json").host
    assert host is not None
    assert (host.cpus, host.aslr_enabled, len(host.load_avg)) == (2, True, 3)


def test_a_function_that_failed_has_no_time_but_a_reason() -> None:
    file = read(DATA / "error.json")
    assert file.samples == {}
    reason = "input list and function mismatch; expected 3 arguments but passed 1 (INVALID_ARGUMENT)"
    assert file.failures == {"main": reason}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "wrote no result"),
        ("", "an empty result"),
        ('{"context": {}, "benchmarks": [{"run_na', "cannot be read"),
        ('{"context": {}}', "cannot be read"),
        ("[]", "cannot be read"),
    ],
)
def test_a_file_that_is_not_whole_is_refused(tmp_path: Path, content: str | None, reason: str) -> None:
    path = tmp_path / "result.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UnreadableResult, match=reason):
        read(path)


def test_an_empty_file_is_what_the_tool_leaves_when_nothing_matches() -> None:
    with pytest.raises(UnreadableResult, match="empty"):
        read(DATA / "empty.json")


@pytest.mark.parametrize("name", ["main", "a/b", "a/real_time", "BM_x"])
def test_the_function_is_what_the_name_was_made_of(name: str) -> None:
    assert function_of(f"BM_{name}/process_time/real_time") == name
