"""`dispatchgen capture` and `merge-profiles`: from recorded runs to benchmarks, and what is refused."""

from __future__ import annotations

import hashlib
import shutil
import struct
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from iree.runtime import ParameterIndex

import recording as oracle
from dispatchgen.cli.capture import command as capture_command
from dispatchgen.cli.merge_profiles import command as merge_command
from dispatchgen.errors import DataError, DispatchgenError, ModelError, ProfileError, ToolError
from dispatchgen.extract.sizes import sizes_of
from dispatchgen.iree import process
from dispatchgen.iree.configure import configure
from dispatchgen.iree.flags import compile_flags
from dispatchgen.iree.tools import find_tools
from dispatchgen.lock.modules import Step, write_modules
from dispatchgen.lock.store import read_lock
from dispatchgen.manifest import load_suite
from dispatchgen.profile.archive import Kept, RecordedBytes, archive_path, write_with_data
from dispatchgen.profile.schema import Profile
from dispatchgen.profile.store import read_profile
from profiled import dispatch, entry, profile
from support import IreeTools, RunCli

_MANIFEST = """\
version: 1
backends:
  cpu:
    target_device: local
    local_backend: llvm-cpu
    compile_flags: [--iree-llvmcpu-target-cpu=generic]
    devices: {local-sync: {uri: local-sync}, copy: {uri: local-sync}, cuda: {uri: cuda}}
  compile_only: {target_device: local, local_backend: vmvx}
  gpu: {target_device: vulkan, devices: [vulkan]}
models:
  ctrl: {source: ctrl.mlir, backends: [cpu], shapes: {from: profiles/ctrl.json, label: seen}}
  nonzero: {source: nonzero.mlir, backends: [cpu], shapes: {from: profiles/nonzero.json, top: 1}}
  embed:
    source: embed.mlir
    inputs: [BxSxi64, 1000x256xf32]
    shapes: [{B: 2, S: 3}, {B: 3, S: 17, label: large}]
    backends: [cpu, compile_only, gpu]
"""
_INPUTS = {"ctrl": ["130x64xf32", "7x64xf32", "3"], "nonzero": ["130xf32=1"]}


@pytest.fixture
def suite_dir(tmp_path: Path, models_dir: Path) -> Path:
    """A suite of which no profile is captured yet."""
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "benchmarks.yaml").write_text(_MANIFEST)
    for name in ("ctrl", "nonzero", "embed"):
        shutil.copy(models_dir / f"{name}.mlir", folder)
    return folder


def capture(suite_dir: Path, model: str, *arguments: str | Path, output: str | None = None) -> Profile:
    """Captures in this process, and reads the profile."""
    path = suite_dir / (output or f"profiles/{model}.json")
    command = [model, "--manifest", str(suite_dir), "-o", str(path), *map(str, arguments)]
    CliRunner().invoke(capture_command, command, catch_exceptions=False, standalone_mode=False)
    return read_profile(path)


def inputs(*values: str) -> list[str]:
    return [f"--input={value}" for value in values]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["ctrl", "nonzero"])
def test_benchmarks_of_a_profile_do_what_was_recorded(
    model: str, suite_dir: Path, run_cli: RunCli, iree_tools: IreeTools
) -> None:
    """Record, build benchmarks of the profile, record them: equal. Among them are sizes that only the device knows."""
    result = run_cli(
        "capture", model, "--manifest", suite_dir, *inputs(*_INPUTS[model]), "-o", "profile.json", cwd=suite_dir
    )
    assert result.code == 0, result.stderr
    (suite_dir / "profiles").mkdir()
    (suite_dir / "profile.json").rename(suite_dir / "profiles" / f"{model}.json")
    assert run_cli("lock", suite_dir, "--model", model).code == 0
    suite = load_suite(suite_dir)
    (chosen,) = (each for each in suite.models if each.id == model)
    backend, tools = suite.backend("cpu"), find_tools()
    configured = configure(tools, suite, chosen, backend, suite_dir)
    write_modules(Step(configured, suite.lock_path(chosen), "cpu", suite_dir / "out"))
    assert not list((suite_dir / "out").glob("*.flags")), "no call of the whole model"
    flags = ["--compile-from=executable-configurations", *compile_flags(chosen, backend)]
    module = suite_dir / "whole.vmfb"
    process.run([str(iree_tools.compile), str(configured), "-o", str(module), *flags])
    expected = Counter(
        map(_as_recorded, oracle.record(iree_tools, module, "main", _INPUTS[model], suite_dir / "first"))
    )
    found = Counter[object]()
    for locked in read_lock(suite.lock_path(chosen)).backends["cpu"].dispatches:
        module = suite_dir / "one.vmfb"
        process.run(
            [str(iree_tools.compile), str(suite_dir / "out" / f"{locked.name}.mlir"), "-o", str(module), *flags]
        )
        for benchmark in locked.benchmarks:
            (ran,) = oracle.record(iree_tools, module, benchmark.name, ["1"], suite_dir / "second")
            (count,) = benchmark.counts.values()
            assert count is not None
            assert ran.export == locked.name, "its symbols are stable; the lock knows the program's"
            found[_as_recorded(replace(ran, export=locked.export))] += count
    assert found == expected


def _as_recorded(dispatch: oracle.RecordedDispatch) -> object:
    return dispatch.export, dispatch.constants, dispatch.lengths, dispatch.workgroups


@pytest.mark.slow
def test_profiles_of_several_runs_merge(suite_dir: Path) -> None:
    calls = [("5x64xf32", "9x64xf32", "3"), ("5x64xf32", "6x64xf32", "2"), ("130x64xf32", "9x64xf32", "0")]
    profiles = [capture(suite_dir, "ctrl", *inputs(*each), output=f"{i}.json") for i, each in enumerate(calls)]
    merged = suite_dir / "merged.json"
    command = [*(str(suite_dir / f"{number}.json") for number in range(3)), "-o", str(merged)]
    result = CliRunner().invoke(merge_command, command, catch_exceptions=False)
    assert result.stdout.splitlines() == [
        "ctrl on cpu: 3 runs, 3 dispatches",
        "  matmul_Dx64x64_f32: 7 times, 4 sizes",
        "  elementwise_D_f32: 5 times, 2 sizes",
        "  elementwise_broadcast_D_f32: 3 times, 1 size",
    ]
    found = read_profile(merged)
    assert _counts(found) == sum(map(_counts, profiles), Counter())
    assert [run.what for run in found.runs] == [f"main({', '.join(call)}) on local-sync" for call in calls]
    assert [run.dispatches for run in found.runs] == [6, 5, 4]


def _counts(profile: Profile) -> Counter[object]:
    return Counter(
        {(d.export, e.workload, e.constants, e.bindings): e.count for d in profile.dispatches for e in d.entries}
    )


def test_data_of_several_profiles_merge(tmp_path: Path) -> None:
    """Into one of them, too. What is wrong with any of them is told at once, and nothing is written."""
    held = [b"ids", b"table"]
    keys = [hashlib.sha256(data).hexdigest() for data in held]
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, data in zip(paths, [(keys[0], None), (None, keys[1])], strict=True):
        write_with_data(path, profile(dispatch(2, entry(4, 1, data))), dict(zip(keys, held, strict=True)))
    CliRunner().invoke(merge_command, [*map(str, paths), "-o", str(paths[1])], catch_exceptions=False)
    kept = Kept(paths[1], read_profile(paths[1]))
    assert [kept[key] for key in keys] == held
    for path in paths:
        archive_path(path).unlink()
    command = [*map(str, paths), "-o", str(tmp_path / "c.json")]
    with pytest.raises(ProfileError) as caught:
        CliRunner().invoke(merge_command, command, catch_exceptions=False, standalone_mode=False)
    assert [problem.message for problem in caught.value.problems] == [
        f"the bytes that {path.name} kept are not beside it" for path in paths
    ]
    assert sorted(tmp_path.iterdir()) == paths


def test_shapes_of_the_manifest(suite_dir: Path) -> None:
    every = capture(suite_dir, "embed", "--backend", "cpu")
    assert [run.what for run in every.runs] == [
        f"main({size}xi64, 1000x256xf32) on local-sync" for size in ("2x3", "3x17")
    ]
    large = capture(suite_dir, "embed", "--backend", "cpu", "--shape", "large", "--device", "copy")
    assert [run.what for run in large.runs] == ["main(3x17xi64, 1000x256xf32) on copy"]
    assert [[entry.workload for entry in each.entries] for each in large.dispatches] == [[(51,)]]


@pytest.mark.slow
def test_a_recording_of_an_application(suite_dir: Path, iree_tools: IreeTools) -> None:
    """The module that the application loads is compiled with the manifest's flags, here in one go."""
    suite = load_suite(suite_dir)
    (model,) = (each for each in suite.models if each.id == "ctrl")
    flags = compile_flags(model, suite.backend("cpu"))
    process.run([str(iree_tools.compile), str(suite_dir / "ctrl.mlir"), "-o", str(suite_dir / "ctrl.vmfb"), *flags])
    paths = [suite_dir / "monday.ireereplay", suite_dir / "tuesday.ireereplay"]
    for path in paths:
        oracle.record(iree_tools, suite_dir / "ctrl.vmfb", "main", _INPUTS["ctrl"], path)
    found = capture(suite_dir, "ctrl", *(f"--recording={path}" for path in paths))
    assert [(run.what, run.dispatches) for run in found.runs] == [("monday.ireereplay", 7), ("tuesday.ireereplay", 7)]
    once = capture(suite_dir, "ctrl", *inputs(*_INPUTS["ctrl"]))
    assert _counts(found) == _counts(once) + _counts(once)


def test_bytes_of_bindings_are_kept(suite_dir: Path) -> None:
    ids = struct.pack("<6q", 3, 1, 4, 1, 5, 9)
    (suite_dir / "ids.bin").write_bytes(ids)
    profile = capture(
        suite_dir, "embed", "--backend", "cpu", *inputs(f"2x3xi64=@{suite_dir}/ids.bin", "1000x256xf32"), "--keep-data"
    )
    path = suite_dir / "profiles" / "embed.json"
    manifest = _MANIFEST.replace("[{B: 2, S: 3},", "[{B: 2, S: 3}, {from: profiles/embed.json},")
    manifest = manifest.replace("[cpu, compile_only, gpu]", "[cpu, compile_only]\n    data: {default: recorded}")
    (suite_dir / "benchmarks.yaml").write_text(manifest)
    from dispatchgen.lock.make import make_lock

    suite = load_suite(suite_dir)
    (model,) = (each for each in suite.models if each.id == "embed")
    lock = make_lock(find_tools(), suite, model)
    (dispatch,) = lock.backends["cpu"].dispatches
    symbols = (dispatch.executable, dispatch.export)
    found = RecordedBytes({symbols: (dispatch.operation, dispatch.content)}, [(path, profile)])
    held = {b.name: found(*symbols, sizes_of(b), 1) for b in dispatch.benchmarks}
    unknown = "zeros (no recording holds it)"
    assert {b.name: (held[b.name], b.data) for b in dispatch.benchmarks} == {
        f"{dispatch.name}__B2_S3": (ids, ("recorded", "recorded", "zeros")),
        f"{dispatch.name}__large": (None, (unknown, unknown, "zeros")),
    }
    (other,) = lock.backends["compile_only"].dispatches
    assert (other.executable, other.export) == symbols, "another kernel has the same symbols, and the same sizes"
    assert {b.data for b in other.benchmarks} == {(unknown, unknown, "zeros")}
    assert len(profile.dispatches) == 1


def test_bytes_of_parameter_archives_are_kept(suite_dir: Path) -> None:
    """Not only in the recording's references to files. The model's own archive stays what it is."""
    weights = struct.pack("<8f", *range(8))
    (suite_dir / "scale.mlir").write_text(
        'util.global private @w = #flow.parameter.named<"model"::"w"> : tensor<8xf32>\n'
        "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
        "  %w = util.global.load @w : tensor<8xf32>\n  %r = arith.mulf %x, %w : tensor<8xf32>\n"
        "  return %r : tensor<8xf32>\n}\n"
    )
    index = ParameterIndex()
    index.add_buffer("w", weights)
    archive = suite_dir / "scale.irpa"
    index.create_archive_file(str(archive))
    held = archive.read_bytes()
    model = "  scale: {source: scale.mlir, inputs: [8xf32=2], parameters: [model=scale.irpa], backends: [cpu]}\n"
    (suite_dir / "benchmarks.yaml").write_text(_MANIFEST + model)
    profile = capture(suite_dir, "scale", "--keep-data", output="scale.json")
    ((entry,),) = (each.entries for each in profile.dispatches)
    kept = Kept(suite_dir / "scale.json", profile)
    data = {kept[key] for key in entry.data if key is not None}
    assert data == {struct.pack("<8f", *[2.0] * 8), weights}
    capture(suite_dir, "scale", output="scale.json")
    assert archive.read_bytes() == held
    assert sorted(path.name for path in suite_dir.glob("scale.*")) == ["scale.irpa", "scale.json", "scale.mlir"]


@pytest.mark.lavapipe
def test_a_run_on_a_gpu(suite_dir: Path, run_cli: RunCli) -> None:
    """IREE 3.13's own program crashes at the end of such a run; all is recorded by then."""
    path = suite_dir / "gpu.json"
    result = run_cli("capture", "embed", "--manifest", suite_dir, "--backend", "gpu", "--shape", "large", "-o", path)
    assert result.code == 0, result.stderr
    ((entry,),) = (each.entries for each in read_profile(path).dispatches)
    assert (entry.workload, entry.bindings) == ((51,), (1024000, 408, 52224))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["embed"], DispatchgenError, r"one backend is needed, and these are meant: `cpu`, `compile_only`"),
        (["embed", "--backend", "compile_only"], DispatchgenError, "has no devices in the manifest"),
        (["embed", "--backend", "cpu", "--shape", "huge"], ModelError, "has no shape `huge`"),
        (
            ["embed", "--backend", "cpu", "--shape", "B=5"],
            ModelError,
            "(?s)has no shape `B=5`.*--shape with a label of the manifest or the lock; --input for other sizes",
        ),
        (["embed", "--device", "copy", "--input=1", "--function", "f"], ModelError, "no entry function `f`"),
        (
            ["embed", "--device", "copy", "--function", "f"],
            ModelError,
            "nothing to call in `f`; it calls `main`",
        ),
        (["ctrl"], ModelError, "has nothing to call"),
        (["ctrl", "--device", "cuda", "--input=1"], ToolError, r"the device cuda \(cuda\) is not there"),
        (["ctrl", "--input=3x65xf32", "--input=3x64xf32", "--input=1"], ToolError, "INVALID_ARGUMENT"),
        (
            ["embed", "--device", "copy", "--input=1x2xi64=5 1000", "--input=1000x256xf32"],
            DataError,
            "input 0: element 1 is 1000, the kernel needs positions from 0 to 999",
        ),
        (
            # In a form that only IREE's tools read.
            ["embed", "--device", "copy", "--input=1x2xi64=[[5 9000000000000]]", "--input=1000x256xf32"],
            ToolError,
            r"(?s)crashed \(SIGSEGV\).*check the inputs: kernels crash at positions that are out of bounds",
        ),
        (["ctrl", "--recording=none"], ProfileError, "cannot read the recording: No such file"),
    ],
)
def test_what_cannot_be_captured(
    arguments: list[str], error: type[DispatchgenError], message: str, suite_dir: Path
) -> None:
    command = [*arguments, "--manifest", str(suite_dir), "-o", str(suite_dir / "p.json")]
    with pytest.raises(error, match=message):
        CliRunner().invoke(capture_command, command, catch_exceptions=False, standalone_mode=False)
    assert not (suite_dir / "p.json").exists()


def test_a_truncated_recording_is_an_error(suite_dir: Path, run_cli: RunCli) -> None:
    path = suite_dir / "cut.ireereplay"
    path.write_bytes(b"IRRP\2\0\0\0\x18\0\0\0\0\0\0\0" + struct.pack("<Q", 1 << 20))
    result = run_cli("capture", "ctrl", "--manifest", suite_dir, "--recording", path, "-o", suite_dir / "p.json")
    assert result.code == 2
    assert result.stderr.splitlines() == [
        "error: the recording cannot be read: replay file length extends past file contents (DATA_LOSS)",
        f"  at {path}",
        "  try: record the run again, with this release of IREE",
    ]


def test_options_that_exclude_each_other(suite_dir: Path) -> None:
    command = ["ctrl", "--manifest", str(suite_dir), "--input=1", "--recording=r", "-o", "p.json"]
    result = CliRunner().invoke(capture_command, command)
    assert result.exit_code == 2
    assert "--recording and --input exclude each other." in result.stderr


@pytest.mark.slow
def test_a_lock_of_a_profile_that_does_not_fit(suite_dir: Path, run_cli: RunCli) -> None:
    """Not captured yet, of another version of the source, of another backend, damaged: all models' at once."""
    capture(suite_dir, "nonzero", *inputs("130xf32=1"))
    with (suite_dir / "nonzero.mlir").open("a") as source:
        source.write("// another version\n")
    result = run_cli("lock", suite_dir, "--model", "ctrl", "--model", "nonzero")
    assert result.code == 2
    assert "model ctrl: cannot read the profile: No such file or directory" in result.stderr
    assert f"try: dispatchgen capture ctrl --manifest {suite_dir / 'benchmarks.yaml'} --backend cpu -o" in result.stderr
    assert "model nonzero: the profile is of another model, or of another version of its source" in result.stderr
    path = suite_dir / "profiles" / "nonzero.json"
    path.write_text(path.read_text().replace('"count": 1', '"count": 2'))
    result = run_cli("lock", suite_dir, "--model", "nonzero")
    assert result.code == 2
    assert "the profile was edited by hand" in result.stderr


@pytest.mark.slow
def test_what_top_leaves_out_is_said(suite_dir: Path, run_cli: RunCli) -> None:
    profiles = ("130xf32=1", "130xf32=0", "130xf32=1")
    for number, value in enumerate(profiles):
        capture(suite_dir, "nonzero", *inputs(value), output=f"{number}.json")
    files = [str(suite_dir / f"{number}.json") for number in range(3)]
    CliRunner().invoke(
        merge_command, [*files, "-o", str(suite_dir / "profiles" / "nonzero.json")], catch_exceptions=False
    )
    result = run_cli("lock", suite_dir, "--model", "nonzero")
    assert result.stdout.splitlines() == [
        "nonzero/cpu: 2 of 2 dispatches",
        "  elementwise_broadcast_D_f32 at nonzero: 66.7 % of its runs are covered; sizes left out: 1",
    ]


@pytest.mark.slow
def test_a_profile_that_changed_makes_the_lock_stale(suite_dir: Path, run_cli: RunCli) -> None:
    capture(suite_dir, "nonzero", *inputs("130xf32=1"))
    assert run_cli("lock", suite_dir, "--model", "nonzero").code == 0
    capture(suite_dir, "nonzero", *inputs("7xf32=1"))
    result = run_cli("lock", suite_dir, "--model", "nonzero", "--check", "--no-compile")
    assert result.code == 1
    assert "its lock is stale: the profile profiles/nonzero.json changed" in result.stderr
