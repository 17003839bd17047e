"""All files for Bazel are as buildifier formats them, without a warning: what ships, and what is generated."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dispatchgen.manifest.suite import Backend, Device, Source, Suite
from dispatchgen.render.bazel import render_bazel
from dispatchgen.render.starlark import path_refusal
from dispatchgen.render.text import control_refusal
from rendered import HOST, KERNEL, LOCKS, MODEL_A, SUITE
from support import REPOSITORY

_ALPHABET = "\"'\\$<>{}[]();,#%@:=|&`~!*?/+-^_ .nrtx0uU8aé漢\U0001f600"
_TEXTS = st.text(st.sampled_from(_ALPHABET), max_size=20).filter(lambda text: control_refusal(text) is None)
_PATHS = st.text(st.sampled_from(_ALPHABET), min_size=1, max_size=20).filter(lambda text: path_refusal(text) is None)


@pytest.fixture(scope="module")
def buildifier() -> str:
    """The program: the one that $BUILDIFIER names, the one of `make buildifier`, or the one on PATH."""
    installed = REPOSITORY / ".venv" / "buildifier" / "node_modules" / ".bin"
    search = os.pathsep.join([str(installed), os.environ.get("PATH", "")])
    program = os.environ.get("BUILDIFIER") or shutil.which("buildifier", path=search)
    if program is None:
        pytest.skip("no buildifier: `make buildifier`, or set BUILDIFIER")
    return program


def _complaints(buildifier: str, *files: Path) -> str:
    """What buildifier has to say of the files, formatting included; empty: nothing."""
    command = [buildifier, "--mode=diff", "--lint=warn", "--diff_command=diff -u", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or done.stdout or done.stderr
    return done.stdout + done.stderr


def _shipped() -> list[Path]:
    names = {"BUILD.bazel", "MODULE.bazel", "WORKSPACE"}
    paths = [*(REPOSITORY / "genrules").rglob("*"), *(REPOSITORY / "samples").glob("*"), *_of_samples()]
    return sorted(path for path in paths if path.name in names or path.suffix == ".bzl")


def _of_samples() -> Iterator[Path]:
    """The build files of the samples, without what `bazel-bin` and the like lead to."""
    for manifest in REPOSITORY.glob("samples/*/benchmarks.yaml"):
        yield manifest.with_name("BUILD.bazel")


def test_shipped_files(buildifier: str) -> None:
    files = _shipped()
    assert {path.name for path in files} >= {"defs.bzl", "update.bzl", "BUILD.bazel", "WORKSPACE", "MODULE.bazel"}
    assert _complaints(buildifier, *files) == ""


def test_the_build_file_of_the_repository_rule(buildifier: str, tmp_path: Path) -> None:
    template = REPOSITORY / "genrules" / "bazel" / "private" / "iree_tools.BUILD.tpl"
    text = template.read_text().replace("%{defs}", "@dispatchgen//:defs.bzl")
    path = tmp_path / "BUILD.bazel"
    path.write_text(re.sub(r"%\{\w+\}", "None", text))
    assert _complaints(buildifier, path) == ""


def test_what_is_wrong_is_seen(buildifier: str, tmp_path: Path) -> None:
    path = tmp_path / "BUILD.bazel"
    path.write_text(render_bazel(SUITE, LOCKS).replace('    model = "b",\n', "").replace("\n)", '\n    model = "b",)'))
    assert "model" in _complaints(buildifier, path)


def test_a_generated_file(buildifier: str, tmp_path: Path) -> None:
    path = tmp_path / "BUILD.bazel"
    path.write_text(render_bazel(SUITE, LOCKS))
    assert _complaints(buildifier, path) == ""


@pytest.mark.slow
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(texts=st.lists(_TEXTS, min_size=20, max_size=60), paths=st.lists(_PATHS, min_size=10, max_size=10))
def test_texts_of_users_keep_it_so(
    buildifier: str, tmp_path_factory: pytest.TempPathFactory, texts: list[str], paths: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("texts")
    files = []
    for index, path in enumerate(paths):
        backend = Backend("host", "host", "local", "llvm-cpu", tuple(texts), (Device("d", "local-sync", tuple(texts)),))
        source = Source(path, "mlir", package="onnx" if index % 2 else None)
        kernel = replace(KERNEL, file=path, inputs=tuple(paths), command=tuple(texts))
        model = replace(MODEL_A, source=source, backends=("host",), labels=tuple(texts), parameters=(f"s={path}",))
        model = replace(model, substitutions=(kernel,), combinations=(), flag_files={"host": tuple(paths)})
        file = folder / str(index) / "BUILD.bazel"
        file.parent.mkdir()
        file.write_text(render_bazel(Suite(SUITE.manifest, (backend, HOST), (model,)), LOCKS), encoding="utf-8")
        files.append(file)
    assert _complaints(buildifier, *files) == ""
