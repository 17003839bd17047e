"""From recordings to histograms; and recordings of something else."""

from __future__ import annotations

import json
import struct
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from configured import FLAGS
from dispatchgen.errors import ProfileError
from dispatchgen.extract.evaluate import evaluate
from dispatchgen.profile.histogram import Histogram
from profiled import Recorded
from support import TIMEOUT


def counts(histogram: Histogram) -> Counter[object]:
    return Counter(
        {
            (dispatch.export, entry.constants, entry.bindings, entry.workgroups): entry.count
            for dispatch in histogram.dispatches
            for entry in dispatch.entries
        }
    )


def test_counts_are_those_of_what_ran(ctrl: Recorded, tmp_path: Path) -> None:
    path = tmp_path / "run.ireereplay"
    ran = ctrl.record(path, ["130x64xf32", "7x64xf32", "4"])
    found = ctrl.histogram(path)
    assert counts(found) == Counter((each.export, each.constants, each.lengths, each.workgroups) for each in ran)
    assert found.count == len(ran) == 8
    assert found.others == 0 and not found.kept


def test_the_most_frequent_sizes_come_first(ctrl: Recorded, ctrl_recording: Path) -> None:
    entries = [[entry.count for entry in each.entries] for each in ctrl.histogram(ctrl_recording).dispatches]
    assert entries == [[1, 1], [3], [1]]


@pytest.mark.parametrize(
    ("program", "inputs"),
    [
        ("ctrl", ["130x64xf32", "7x64xf32", "2"]),
        ("embed", ["3x17xi64", "1000x256xf32"]),
    ],
)
def test_workloads_are_those_of_the_host_program(
    program: str, inputs: list[str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A recording has no workloads: the kernels tell."""
    recorded: Recorded = request.getfixturevalue(program)
    recorded.record(tmp_path / "run.ireereplay", inputs)
    found = Counter[object]()
    for dispatch in recorded.histogram(tmp_path / "run.ireereplay").dispatches:
        for entry in dispatch.entries:
            found[dispatch.export, entry.workload, entry.constants] += entry.count
    trace = evaluate(recorded.program, "main", inputs)
    assert found == Counter(
        (each.export, each.workload, tuple(value for _, value in each.constants)) for each in trace.dispatched
    )


def test_data_of_bindings_that_the_host_wrote(embed: Recorded, embed_recording: Path) -> None:
    found = embed.histogram(embed_recording, keep_data=True)
    ((entry,),) = (each.entries for each in found.dispatches)
    data = [found.kept[key] if key is not None else None for key in entry.data]
    assert data == [struct.pack("<256000f", *[2.0] * 256000), struct.pack("<51q", *[7] * 51), None]
    assert embed.histogram(embed_recording).dispatches[0].entries[0].data == (), "not asked for"


def test_results_of_dispatches_are_not_kept(ctrl: Recorded, ctrl_recording: Path) -> None:
    """The loop reads what a dispatch wrote. The constant of the model and both inputs are known."""
    found = ctrl.histogram(ctrl_recording, keep_data=True)
    known = [[key is not None for key in entry.data] for each in found.dispatches for entry in each.entries]
    assert known == [[True, True, False]] * 2 + [[]] * 2


def test_a_recording_of_another_model(ctrl: Recorded, embed_recording: Path) -> None:
    with pytest.raises(
        ProfileError, match=r"of another model: it ran main_dispatch_0_.*; the model has layer_"
    ) as caught:
        ctrl.histogram(embed_recording)
    assert "iree-compile m.mlir" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "cpu=generic",
            "cpu=haswell",
            "another version of the compiler, other flags, or another version of the source",
        ),
        ("=llvm-cpu", "=vmvx", "it is for another target, vmvx-bytecode-fb"),
        ("debug-symbols=false", "debug-symbols=true", "it has debug symbols (--iree-llvmcpu-debug-symbols)"),
    ],
)
def test_a_recording_of_another_compilation(
    old: str, new: str, message: str, ctrl: Recorded, models_dir: Path, tmp_path: Path
) -> None:
    """Another version of the compiler looks the same: other code of functions that have the same names."""
    module = tmp_path / "m.vmfb"
    flags = [flag.replace(old, new) for flag in FLAGS]
    command: list[str | Path] = [ctrl.tools.compile, *flags, models_dir / "ctrl.mlir", "-o", module]
    subprocess.run(command, check=True, timeout=TIMEOUT)
    replace(ctrl, module=module).record(tmp_path / "run.ireereplay", ["5x64xf32", "9x64xf32", "3"])
    with pytest.raises(
        ProfileError, match=r"of another compilation of the model: the code of layer_dispatch_0"
    ) as caught:
        ctrl.histogram(tmp_path / "run.ireereplay")
    assert message in str(caught.value)
    assert "iree-compile 3.13 makes of it" in str(caught.value)
    assert "record a run of the module that this makes: iree-compile m.mlir" in str(caught.value)


def test_a_recording_in_which_nothing_ran(ctrl: Recorded, ctrl_recording: Path, tmp_path: Path) -> None:
    """What the header says of the length counts: the recording ends before the call begins."""
    path = tmp_path / "empty.ireereplay"
    path.write_bytes(before_the_call(ctrl, ctrl_recording))
    with pytest.raises(ProfileError, match="no dispatch ran in the recording"):
        ctrl.histogram(path)


def before_the_call(recorded: Recorded, path: Path) -> bytes:
    dump: list[str | Path] = [recorded.tools.dump_replay, "--format=jsonl", path]
    lines = subprocess.run(dump, check=True, capture_output=True, text=True, timeout=TIMEOUT).stdout.splitlines()
    begin = next(json.loads(line)["file_offset"] for line in lines if '"name":"execute"' in line)
    return path.read_bytes()[:16] + struct.pack("<Q", begin) + path.read_bytes()[24:begin]
