"""The text of BUILD.bazel; `tests/bazel/` has Bazel and buildifier read it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dispatchgen.errors import LockError, ManifestError
from dispatchgen.lock.schema import Lock
from dispatchgen.manifest.suite import Backend, Model, Preset, Source, Suite
from dispatchgen.ownership import BUILD_FILE_HEADER
from dispatchgen.render.bazel import render_bazel
from dispatchgen.render.cmake import render_cmake
from rendered import GPU, LOCKS, MODEL_A, SUITE, lock_of

_SETUP, _SUITE = "iree_dispatch_benchmark_setup", "iree_dispatch_benchmark_suite"


def _calls(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The calls in a BUILD file, in their order: function and keywords."""
    calls: list[tuple[str, dict[str, Any]]] = []
    namespace: dict[str, Any] = {"load": lambda *_: None}
    for function in (_SETUP, _SUITE):
        namespace[function] = lambda function=function, **keywords: calls.append((function, keywords))
    exec(text, namespace)
    return calls


def _suite_call(text: str, name: str) -> dict[str, Any]:
    (call,) = (keywords for _, keywords in _calls(text) if keywords["name"] == name)
    return call


def _refusals(suite: Suite, locks: Mapping[str, Lock] = LOCKS) -> list[str]:
    with pytest.raises(ManifestError) as caught:
        render_bazel(suite, locks)
    return [str(problem) for problem in caught.value.problems]


def test_a_call_carries_all_that_the_rule_needs() -> None:
    call = _suite_call(render_bazel(SUITE, LOCKS), "model_a_host")
    of_substitutions = ("substitutes", "object_commands", "object_suffix", "substitute_inputs", "substitute_flags")
    assert all(call.pop(keyword) for keyword in (*of_substitutions, "combinations", "inputs"))
    assert call.pop("compile_flags")[-1] == "--iree-llvmcpu-target-cpu=generic"
    assert call == {
        "name": "model_a_host",
        "model": "model_a",
        "backend": "host",
        "src": "a.mlir",
        "lock": "locks/model_a.json",
        "data": ["d/x.npy", "seen.json"],
        "dispatches": ["a_1", "z_2"],
        "archives": ["z_2"],
        "calls": ["B1", "B8"],
        "call_inputs": ["B8.input0.bin"],
        "parameters": ["scope=weights.irpa"],
        "devices": ["sync=local-sync", "task=local-task"],
        "run_flags": ["sync=--x=$y"],
        "device_labels": ["sync=a", "sync=z"],
        "labels": ["cpu", "large"],
        "presets": ["night_ly"],
        "min_time": "0.5s",
        "repetitions": 3,
        "batch_size": 10,
    }


def test_setup_names_the_suites_of_models_and_presets() -> None:
    suite = replace(SUITE, presets=(*SUITE.presets, Preset("none", "none", labels=("nobody",))))
    function, setup = _calls(render_bazel(suite, LOCKS))[0]
    assert function == _SETUP
    assert setup == {
        "name": "iree-dispatch-benchmarks",
        "manifest": "benchmarks.yaml",
        "models": {"b": ["b_gpu"], "model_a": ["model_a_gpu", "model_a_host"]},
        "packages": ["pkg.sub"],
        "presets": {"night_ly": ["model_a_gpu", "model_a_host"], "none": []},
    }


def test_setup_names_the_presets_that_are_measured_as_a_whole() -> None:
    presets = (
        Preset("z", "z", budget=60.0, baseline="main"),
        Preset("a", "a", baseline="o.1"),
        Preset("m", "m", budget=1),
    )
    setup = _calls(render_bazel(replace(SUITE, presets=(*SUITE.presets, *presets)), LOCKS))[0][1]
    assert (setup["nightly"], setup["baselines"]) == (["a", "m", "z"], ["a=o.1", "z=main"])


def test_what_is_not_used_is_left_out() -> None:
    model = replace(MODEL_A, labels=(), parameters=(), backends=("gpu",))
    calls = _calls(render_bazel(Suite(SUITE.manifest, (GPU,), (model,)), LOCKS))
    assert set(calls[0][1]) == {"name", "manifest", "models"}
    assert not set(calls[1][1]) & {"devices", "run_flags", "device_labels", "import_flags", "labels", "parameters"}


def test_cmake_is_called_with_the_same() -> None:
    """Keyword by keyword, in the same order of suites: both are made of the same arguments."""
    cmake = re.findall(r"iree_dispatch_benchmark_suite\(\n(.*?)\n\)", render_cmake(SUITE, LOCKS), re.DOTALL)
    bazel = [keywords for function, keywords in _calls(render_bazel(SUITE, LOCKS)) if function == _SUITE]
    assert len(cmake) == len(bazel) == 3
    for text, keywords in zip(cmake, bazel, strict=True):
        read: dict[str, list[str]] = {}
        for line in text.splitlines():
            if line.startswith("    "):
                read[list(read)[-1]].append(line.strip()[1:-1].replace("\\$", "$"))
            else:
                read[line.strip().lower()] = []
        assert read == {key: value if isinstance(value, list) else [str(value)] for key, value in keywords.items()}


def test_keywords_are_in_the_order_of_buildifier() -> None:
    for _, keywords in _calls(render_bazel(SUITE, LOCKS)):
        rest = [keyword for keyword in keywords if keyword not in ("name", "src")]
        assert next(iter(keywords)) == "name"
        assert rest == sorted(rest)


def test_the_text_depends_on_nothing_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = render_bazel(SUITE, LOCKS)
    monkeypatch.chdir(tmp_path)
    moved = replace(SUITE, manifest=tmp_path / "benchmarks.yaml", models=SUITE.models[::-1])
    assert render_bazel(moved, dict(reversed(LOCKS.items()))) == text
    assert text.encode().startswith(BUILD_FILE_HEADER)


def test_locks_must_be_there() -> None:
    with pytest.raises(LockError, match="has no lock file"):
        render_bazel(SUITE, {})


def test_all_strings_that_bazel_cannot_carry_are_named() -> None:
    source = Source("../m:a.mlir", "mlir")
    model = replace(MODEL_A, source=source, parameters=("s=../w.irpa",), labels=("a\nb",), line=7)
    locks = {"model_a": LOCKS["model_a"].model_copy(update={"files": ("../x.npy",)})}
    problems = _refusals(replace(SUITE, models=(model,)), locks)
    assert [problem.splitlines()[0].partition(" of model ")[0] for problem in problems] == [
        "error: Bazel cannot carry '../m:a.mlir'",
        "error: Bazel cannot carry '../w.irpa'",
        "error: Bazel cannot carry '../x.npy'",
        "error: Bazel cannot carry 'a\\nb'",
    ]
    assert all(problem.endswith("at somewhere/benchmarks.yaml:7") for problem in problems)


def test_a_manifest_that_cannot_be_a_target_is_refused() -> None:
    (problem,) = _refusals(replace(SUITE, manifest=Path("a:b.yaml")))
    assert "Bazel cannot read a manifest of this name" in problem


def test_suites_that_would_be_one_target_are_refused() -> None:
    backends = (replace(GPU, name="c", id="c"), Backend("b c", "b_c", "cuda"))
    models = (
        Model("a_b", "a_b", Source("x.mlir", "mlir"), backends=("c",)),
        Model("a", "a", Source("y.mlir", "mlir"), backends=("b_c",), line=9),
    )
    locks = {"a_b": lock_of("a_b", "c"), "a": lock_of("a", "b_c")}
    (problem,) = _refusals(Suite(SUITE.manifest, backends, models), locks)
    assert "model 'a' on backend 'b c' and model 'a_b' on backend 'c' have one name in Bazel: 'a_b_c'" in problem
