"""Profiles that a manifest names: what is asked of them, and what a lock says of those of other backends."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from dispatchgen.errors import ProfileError
from dispatchgen.extract.schema import BackendDispatches, Benchmark, Dispatch
from dispatchgen.files import sha256_of
from dispatchgen.lock.compare import added_functions, stale_parts
from dispatchgen.lock.make import settings_digest
from dispatchgen.lock.profiles import profile_calls, profile_digests, read_profiles
from dispatchgen.lock.schema import Lock, MadeFrom
from dispatchgen.lock.update import coverage
from dispatchgen.manifest.suite import Backend, Model, ProfileShapes, Source, Suite
from dispatchgen.profile.store import write_profile
from profiled import dispatch, entry, profile

CPU = Backend("cpu", "cpu", "local", "llvm-cpu")
GPU = Backend("gpu", "gpu", "vulkan")
MODEL = Model("m", "m", Source("m.mlir", "mlir"), profiles=(ProfileShapes("p.json", "seen"),), backends=("cpu", "gpu"))


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    """A suite with a source and a profile of it on the CPU."""
    folder = tmp_path / "my suite"
    folder.mkdir()
    (folder / "m.mlir").write_text("module {}")
    write_profile(folder / "p.json", profile(dispatch(1, entry(4, 1)), source=sha256_of(folder / "m.mlir")))
    return Suite(folder / "benchmarks.yaml", (CPU, GPU), (MODEL,))


def test_a_profile_of_the_model(suite: Suite) -> None:
    assert read_profiles(suite, MODEL).keys() == {"seen"}
    assert profile_digests(suite, MODEL) == {"p.json": sha256_of(suite.root / "p.json")}
    (call,) = profile_calls(MODEL)
    assert (call.name, call.profile, call.is_run) == ("seen", "p.json", False)


def test_profiles_that_are_not_of_the_model(suite: Suite) -> None:
    """All that is wrong at once."""
    source = sha256_of(suite.root / "m.mlir")
    write_profile(suite.root / "source.json", profile(dispatch(1, entry(4, 1)), source="f" * 64))
    write_profile(suite.root / "backend.json", profile(dispatch(1, entry(4, 1)), source=source, backend="npu"))
    (suite.root / "damaged.json").write_text((suite.root / "p.json").read_text().replace("4", "5"))
    names = ("p", "source", "backend", "damaged", "none")
    model = replace(MODEL, profiles=tuple(ProfileShapes(f"{name}.json", name) for name in names))
    with pytest.raises(ProfileError) as caught:
        read_profiles(suite, model)
    found = {problem.place.file: problem for problem in caught.value.problems if problem.place is not None}
    assert [Path(str(file)).stem for file in found] == ["source", "backend", "damaged", "none"]
    messages = [problem.message for problem in found.values()]
    assert messages[0] == (
        "the profile is of another model, or of another version of its source: it was captured from m with the source "
        f"ffffffffffff..., that of model m is {source[:12]}... (SHA-256)"
    )
    assert messages[1] == "the profile is of backend npu, and model m has cpu, gpu"
    assert "was edited by hand" in messages[2]
    assert messages[3] == "there is no profile"
    command = shlex.join(["dispatchgen", "capture", "m", "--manifest", str(suite.manifest), "--backend", "cpu"])
    assert caught.value.problems[0].hint == f"{command} -o {shlex.quote(str(suite.root / 'source.json'))}"


def test_a_profile_that_is_gone(suite: Suite) -> None:
    (suite.root / "p.json").unlink()
    with pytest.raises(ProfileError, match="model m: cannot read the profile: No such file"):
        profile_digests(suite, MODEL)


def test_another_profile_is_another_lock() -> None:
    old = MadeFrom(source="1", settings={}, compiler="3", profiles={"a.json": "1", "b.json": "2"})
    new = MadeFrom(source="1", settings={}, compiler="3", profiles={"b.json": "3", "c.json": "4"})
    assert stale_parts(old, new) == [f"the profile {name}.json changed" for name in "abc"]
    digests = {
        settings_digest(replace(MODEL, profiles=profiles), CPU)
        for profiles in ((), MODEL.profiles, (ProfileShapes("p.json", "seen", 1),), (ProfileShapes("p.json", "day"),))
    }
    assert len(digests) == 4


def test_a_backend_that_the_profile_is_not_of() -> None:
    run = {"name": "d__seen", "workload": (1,), "constants": (), "bindings": (4,), "counts": {"seen": 3}}
    found = Dispatch(
        name="d",
        operation="d",
        executable="e",
        variant="v",
        export="x",
        content="0" * 64,
        written=(True,),
        benchmarks=(Benchmark.model_validate(run),),
    )
    calls = profile_calls(MODEL)
    lock = Lock(
        model="m",
        made_from=MadeFrom(source="1", settings={}, compiler="3"),
        entry=None,
        calls=calls,
        backends={
            "cpu": BackendDispatches(backend="cpu", dispatches=(found,)),
            "gpu": BackendDispatches(backend="gpu", dispatches=()),
        },
    )
    assert [lock.backends[name].has(calls[0]) for name in ("cpu", "gpu")] == [True, False]
    assert list(coverage(MODEL, lock)) == [
        "m/cpu: 1 of 1 dispatches",
        "m/gpu: 0 of 0 dispatches",
        "  p.json is of another backend: there is nothing at seen",
    ]
    assert added_functions(lock, ["main"]) == (), "a profile may be of any function"
