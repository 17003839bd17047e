"""Data in locks and in the build's extraction step: what is wrong is told before anything runs."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import support
from configured import Configured
from dispatchgen.errors import DataError, DispatchgenError, ProfileError
from dispatchgen.extract.program import Program
from dispatchgen.extract.sizes import Sizes
from dispatchgen.iree import ir
from dispatchgen.iree.tools import Tools, find_tools
from dispatchgen.lock.data import ProfilesOf, data_plan
from dispatchgen.lock.make import make_lock, settings_digest
from dispatchgen.lock.modules import Step, write_modules
from dispatchgen.lock.schema import Lock
from dispatchgen.lock.store import read_lock, write_lock
from dispatchgen.manifest.fills import DataSettings, Recorded
from dispatchgen.manifest.load import load_suite
from dispatchgen.manifest.suite import Suite
from dispatchgen.profile.archive import write_with_data
from dispatchgen.profile.match import codes_of
from profiled import dispatch, entry, profile
from support import IreeTools

_HEAD = """\
version: 1
models:
  embed:
    source: embed.mlir
"""
_INPUTS = "    inputs: [{type: 1x4xi64, data: {file: ids.npy}}, 1000x256xf32]\n"
DISPATCH = "elementwise_broadcast_Dx256_i64xf32"


@pytest.fixture(scope="module")
def tools() -> Tools:
    return find_tools()


@pytest.fixture
def suite(tmp_path: Path, models_dir: Path) -> Callable[[str], Suite]:
    """A suite with `embed.mlir` and data, and this in its model."""
    (tmp_path / "embed.mlir").write_bytes((models_dir / "embed.mlir").read_bytes())
    np.save(tmp_path / "ids.npy", np.array([[1, 2, 3, 999]]))
    np.save(tmp_path / "wrong.npy", np.array([[1, 2, 3, 1000]]))

    def read(text: str) -> Suite:
        path = tmp_path / "benchmarks.yaml"
        path.write_text(_HEAD + text)
        return load_suite(path)

    return read


def lock(tools: Tools, suite: Suite) -> Lock:
    (model,) = suite.models
    return make_lock(tools, suite, model)


def test_a_lock_says_all_that_the_build_needs(tools: Tools, suite: Callable[[str], Suite]) -> None:
    text = f"    data: {{default: {{seed: 3}}, bindings: {{{DISPATCH}: {{2: 1.5}}}}}}\n"
    made = lock(tools, suite(_INPUTS + text))
    assert made.files == ("ids.npy",)
    assert made.data.model_dump(mode="json", exclude_defaults=True) == {
        "default": {"seed": 3},
        "bindings": {DISPATCH: {"2": 1.5}},
    }
    (call,) = made.calls
    assert call.inputs == ("1x4xi64=@static.input0.bin", "1000x256xf32")
    assert call.files == ("static.input0.bin",)
    (dispatch,) = made.backends["cpu"].dispatches
    assert dispatch.archive
    assert dispatch.benchmarks[0].data == ("random f32, seed 3", "input 0: ids.npy", "1.5 everywhere")
    path = Path(suite("").root) / "embed.json"
    write_lock(path, made)
    assert read_lock(path) == made.model_copy(update={"digest": read_lock(path).digest})


def test_what_the_manifest_says_of_data_makes_locks_stale(suite: Callable[[str], Suite]) -> None:
    texts = ["", "    data: {default: random}\n", "    data: {bindings: {a: {0: random}}}\n", _INPUTS]
    # Of several fills of one binding the last counts.
    texts += [f"    data: {{bindings: {{{each}}}}}\n" for each in ("a: {0: 1}, '*': {0: 2}", "'*': {0: 2}, a: {0: 1}")]
    digests = []
    for text in texts:
        found = suite(text)
        digests.append(settings_digest(found.models[0], found.backends[0]))
    assert len(set(digests)) == len(digests)
    found = suite("    data: {default: zeros}\n")
    assert settings_digest(found.models[0], found.backends[0]) == digests[0]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            _INPUTS.replace("ids", "wrong"),
            "input 0: wrong.npy: element 3 is 1000, the kernel needs positions from 0 to 999",
            None,
        ),
        (
            _INPUTS + "    data:\n      bindings:\n        elementwise_broadcst_Dx256_i64xf32: {0: random}\n",
            "model embed: there is no dispatch `elementwise_broadcst_Dx256_i64xf32` to hold data",
            f"`{DISPATCH}`",
        ),
        (_INPUTS + "    data: {bindings: {'*': {3: random}}}\n", f"{DISPATCH} has no binding 3: it has 3", None),
        (_INPUTS + "    data: {default: recorded}\n", "nothing is recorded", "`dispatchgen capture --keep-data`"),
    ],
)
def test_what_is_wrong_is_told_by_the_lock(
    tools: Tools, suite: Callable[[str], Suite], text: str, message: str, hint: str | None
) -> None:
    with pytest.raises(DispatchgenError) as raised:
        lock(tools, suite(text))
    (problem,) = raised.value.problems
    assert message in problem.message
    assert (problem.hint or "").startswith(hint or "")


@pytest.fixture
def step(tools: Tools, suite: Callable[[str], Suite], configured: Configured, models_dir: Path) -> Step:
    """An extraction step of the suite."""
    found = suite(_INPUTS)
    path = found.lock_path(found.models[0])
    write_lock(path, lock(tools, found))
    return Step(configured.module(models_dir / "embed.mlir"), path, "cpu", found.root / "dispatches")


@pytest.fixture(scope="module")
def configured(iree_tools: IreeTools, tmp_path_factory: pytest.TempPathFactory) -> Configured:
    return Configured(iree_tools, tmp_path_factory.mktemp("configured"))


def test_the_build_writes_data_beside_the_modules(step: Step) -> None:
    write_modules(step)
    ids = np.array([1, 2, 3, 999], "<i8").tobytes()
    assert (step.output / "static.input0.bin").read_bytes() == ids
    assert ids in (step.output / f"{DISPATCH}.irpa").read_bytes()
    flags = (step.output / "static.flags").read_text().splitlines()
    assert f"--input=1x4xi64=@{step.output / 'static.input0.bin'}" in flags


def test_other_data_leave_the_module_as_it_was(step: Step) -> None:
    write_modules(step)
    module, archive = step.output / f"{DISPATCH}.mlir", step.output / f"{DISPATCH}.irpa"
    before = module.stat().st_mtime_ns, archive.read_bytes()
    np.save(step.output.parent / "ids.npy", np.array([[5, 6, 7, 8]]))
    write_modules(step)
    assert module.stat().st_mtime_ns == before[0]
    assert archive.read_bytes() != before[1]


def test_data_that_no_longer_fit_fail_the_build(step: Step) -> None:
    """With what is wrong, and not with the advice to renew the lock: that would not help."""
    np.save(step.output.parent / "ids.npy", np.array([[5, 6, 7, -8]]))
    with pytest.raises(DataError, match=r"ids\.npy: element 3 is -8, the kernel needs positions from 0 to 999"):
        write_modules(step)
    (step.output.parent / "ids.npy").unlink()
    with pytest.raises(DataError, match=r"ids\.npy: cannot read the file: No such file or directory"):
        write_modules(step)


def test_recorded_data_are_those_of_the_backend(configured: Configured, models_dir: Path, tmp_path: Path) -> None:
    """Each backend has a profile of the same sizes of the same code, one of them without data."""
    settings = DataSettings(Recorded())
    held = {"cpu": b"12345", "gpu": b"67890"}
    keys = {backend: hashlib.sha256(data).hexdigest() for backend, data in held.items()}
    with ir.read_module(configured.module(models_dir / "embed.mlir")) as module:
        program = Program(module)
        (symbols,) = program.exports
        operation, content = codes_of(program)[symbols]
        for backend, data in [("cpu", ("", "")), ("gpu", (keys["gpu"], "")), ("cpu", (keys["cpu"], ""))]:
            known = tuple(key or None for key in data)
            code = {"executable": symbols[0], "export": symbols[1], "operation": operation, "content": content}
            found = dispatch(1, entry(4, 1, known)).model_copy(update=code)
            name = f"{backend}{'' if any(known) else '-sizes'}.json"
            write_with_data(tmp_path / name, profile(found, backend=backend), {keys[k]: held[k] for k in held})

        def recorded(backend: str, *files: str) -> bytes | None:
            plan = data_plan(settings, tmp_path, ProfilesOf(files, program, backend))
            return plan.recorded(*symbols, Sizes((4,), (("i32", 4), ("i32", 0)), entry(4, 1).bindings), 0)

        files = ("cpu-sizes.json", "gpu.json", "cpu.json")
        assert {backend: recorded(backend, *files) for backend in ("cpu", "gpu", "npu")} == {**held, "npu": None}
        assert recorded("cpu", "gpu.json") is None
        with pytest.raises(DataError, match=r"no data are recorded: cpu-sizes\.json has none"):
            recorded("cpu", "cpu-sizes.json")
        (tmp_path / "gpu.json.irpa").unlink()
        assert recorded("cpu", *files) == held["cpu"], "what no buffer needs is not looked at"
        with pytest.raises(ProfileError, match=r"the bytes that gpu\.json kept are not beside it"):
            recorded("gpu", *files)


@pytest.mark.slow
def test_a_recorded_run_is_benchmarked_on_its_data(suite: Callable[[str], Suite], tmp_path: Path) -> None:
    suite("    inputs: [BxSxi64=7, 1000x256xf32=1.5]\n    shapes: {B: 2, S: 5}\n")
    dispatchgen(tmp_path, "capture", "embed", "--keep-data", "-o", "profile.json")
    suite("    inputs: [BxSxi64, 1000x256xf32]\n    shapes: {from: profile.json}\n    data: {default: recorded}\n")
    dispatchgen(tmp_path, "run", "--json", "results.json")
    (call,) = json.loads((tmp_path / "results.json").read_text())["calls"]
    (row,) = call["dispatches"]
    assert row["data"] == ["recorded", "recorded", "zeros"]
    assert row["timing"] is not None
    (archive,) = tmp_path.glob(f".dispatchgen/**/{DISPATCH}.irpa")
    assert np.full(10, 7, "<i8").tobytes() in archive.read_bytes()


def dispatchgen(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "dispatchgen", *arguments]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=support.TIMEOUT)
    assert result.returncode == 0, result.stderr
