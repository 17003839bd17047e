"""Runs that are killed, and runs at the same time: of real benchmarks, in processes of their own."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

import support
from dispatchgen.results import journal
from dispatchgen.results.load import INTERRUPTED, load, load_full
from dispatchgen.results.schema import Results, Timing

pytestmark = pytest.mark.slow

_MANIFEST = """
version: 1
backends:
  cpu:
    target_device: local
    local_backend: llvm-cpu
    compile_flags: [--iree-llvmcpu-target-cpu=generic]
    devices: [local-sync]
run: {repetitions: 1, min_time: 1x, batch_size: 1, rounds: 6}
models:
  mlp:
    source: mlp.mlir
    inputs: [Bx64xf32, 64x128xf32, 128x32xf32]
    shapes: {B: [2, 7]}
"""
#: A run that does not end while a test waits for something of it.
_LONG = ("--rounds", "200")


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Path:
    """A suite that is built, in `.dispatchgen`."""
    folder = tmp_path_factory.mktemp("suite")
    shutil.copy(models_dir / "mlp.mlir", folder)
    (folder / "benchmarks.yaml").write_text(_MANIFEST)
    assert support.run_cli("run", folder, "--rounds", "1").code == 0
    return folder


def _arguments(suite: Path, file: Path, more: Sequence[str] = ()) -> list[str]:
    """Runs what is built, with a build folder of its own for what it writes besides."""
    built, own = suite / ".dispatchgen", file.parent / f"{file.stem}.build"
    return ["run", str(suite), "--built", str(built), "--build-dir", str(own), "--json", str(file), *more]


@contextmanager
def _running(suite: Path, file: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "dispatchgen", *_arguments(suite, file, more)]
    with support.started(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        yield process


def _ended(partial: Path) -> int:
    """How many processes of a run have ended, as far as its journal tells."""
    return partial.read_bytes().count(b"\n") - 1 if partial.exists() else -1


def _timings(results: Results) -> dict[tuple[str, str], tuple[Timing | None, str | None]]:
    """Times and failures, by call and benchmark; of whole models, it is empty."""
    found = {}
    for call in results.calls:
        found[call.call, ""] = (call.whole_model.timing, call.whole_model.failure)
        for row in call.dispatches:
            found[call.call, row.benchmark] = (row.timing, row.failure)
    return found


def test_what_a_killed_run_finished_is_there_and_the_rest_is_measured_when_it_goes_on(
    suite: Path, tmp_path: Path
) -> None:
    file, chance = tmp_path / "r.json", random.Random(0)
    partial = journal.partial_of(file)
    more: list[str] = []
    seen: dict[tuple[str, str], dict[int, tuple[float, ...]]] = {}
    for until in sorted(chance.sample(range(24), 3)):
        with _running(suite, file, *_LONG, *more) as process:
            support.wait_until(lambda until=until: _ended(partial) >= until, process)  # type: ignore[misc]
            support.kill_all(process)
        assert not file.exists()
        load(partial)
        timings = _timings(load_full(partial))
        assert sum(timing is not None for timing, _ in timings.values()) >= len(seen)
        for key, (timing, failure) in timings.items():
            found = dict(zip(timing.rounds, timing.real, strict=True)) if timing is not None else {}
            assert timing is not None or failure == INTERRUPTED
            assert seen.get(key, {}).items() <= found.items()
            seen[key] = found
        more = ["--resume"]
    done = support.run_cli(*_arguments(suite, file, more))
    assert done.code == 0, done.stderr
    assert not partial.exists()
    results = load_full(file)
    assert results.finished is not None
    for key, (timing, failure) in _timings(results).items():
        assert failure is None and timing is not None
        assert len(timing.rounds) >= 6
        assert timing.rounds == tuple(range(len(timing.rounds)))
        assert seen[key].items() <= dict(zip(timing.rounds, timing.real, strict=True)).items()


def test_two_runs_at_once_do_not_mix(suite: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "a.json", tmp_path / "b.json"
    partial = journal.partial_of(file)
    with _running(suite, file, *_LONG) as process:
        support.wait_until(lambda: _ended(partial) >= 1, process)
        process.send_signal(signal.SIGSTOP)
        same = _arguments(suite, file)
        same[same.index("--build-dir") + 1] = str(tmp_path / "own")
        refused = support.run_cli(*same)
        assert refused.code == 2
        assert "another run is measuring into this result file" in refused.stderr
        beside = support.run_cli(*_arguments(suite, other))
        assert beside.code == 0, beside.stderr
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        assert process.stderr is not None
        said = process.stderr.read()
    assert f"{partial}; the same command with --resume goes on" in said
    assert not file.exists()
    first, second = load_full(partial), load_full(other)
    assert first.id != second.id
    for timing, failure in _timings(second).values():
        assert failure is None and timing is not None and timing.rounds == tuple(range(6))
