"""Substitutions in a build: what is made of them, what an edit of a substitute redoes, and what their tests say."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from pathlib import Path

import pytest

from cmake_project import Generator, Project
from substituted_suite import (
    FIRST,
    HEAD,
    KERNEL,
    PRODUCT,
    PRODUCT_KERNEL,
    PRODUCT_WORKGROUPS,
    SECOND,
    TUNING_SPEC,
    dumped_source,
    lock_and_generate,
    write_files,
    write_layers,
)
from support import IreeTools

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler `cc`")]

#: A flag that both programs know, and one of benchmarks alone.
_RUN_FLAGS = "devices: {local-sync: {run_flags: [--print_statistics=false, --benchmark_counters_tabular=false]}}"

#: Of a substitute that is made for another target than the rest of its program.
_OTHER_CPU = 'cpu = "generic"', 'cpu = "x86-64"'

_MANIFEST = f"""\
{HEAD.replace("devices: [local-sync]", _RUN_FLAGS)}
models:
  m:
    source: models/m.mlir
    run: {{min_time: 1x}}
    substitutions:
      c:
        dispatch: {FIRST}
        object: kernels/matmul.c
        inputs: [kernels/scale.h]
        check: {{tolerance: 1.0e-4}}
      edited: {{dispatch: {SECOND}, source: edited.mlir, other_target: allow, check: {{tolerance: 9}}}}
      tuned: {{dispatch: {FIRST}, tuning_spec: spec.mlir}}
    combinations:
      both: [c, edited]
  product:
    source: models/product.mlir
    run: {{min_time: 1x}}
    inputs: [Nxf32, Nxf32]
    shapes: [{{label: short, N: 100}}, {{label: long, N: 1000}}]
    substitutions:
      c:
        dispatch: {{operation: "*"}}
        object: kernels/product.c
        workgroups: "{PRODUCT_WORKGROUPS}"
        check: {{tolerance: 0}}
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory, iree_tools: IreeTools) -> Path:
    """A static and a dynamic model with substitutions of each kind, generated from the manifest."""
    folder = tmp_path_factory.mktemp("suite")
    source = dumped_source(iree_tools, write_layers(folder), SECOND)
    files = {
        "benchmarks.yaml": _MANIFEST,
        "models/product.mlir": PRODUCT,
        "kernels/matmul.c": KERNEL,
        "kernels/scale.h": "#define SCALE 1.0f\n",
        "kernels/product.c": PRODUCT_KERNEL,
        "edited.mlir": re.sub(r"constant 0\.0\S*", "constant 1.000000e+00", source).replace(*_OTHER_CPU),
        "spec.mlir": TUNING_SPEC.format(tile=8),
    }
    if sys.version_info >= (3, 11):
        files["dispatchgen.py"] = "raise SystemExit('a file of the suite was run')\n"
    write_files(folder, files)
    lock_and_generate(folder, "cmake")
    return folder


@pytest.fixture(scope="module")
def built(generator: Generator, suite: Path, tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Project:
    """A copy of the suite, built."""
    folder = tmp_path_factory.mktemp("copy") / "suite"
    shutil.copytree(suite, folder)
    project = Project(folder, generator, environment={"PYTHONPATH": str(checkout)})
    project.configure()
    project.build()
    return project


@pytest.fixture
def edit(built: Project) -> Path:
    """The folder of the suite, up to date. Edits stay: none changes what a later test looks at."""
    built.build()
    if built.generator != "Ninja":
        time.sleep(1.1)  # GNU make compares whole seconds where the file system keeps no more
    return built.folder


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def _steps(*steps: str) -> list[str]:
    """Steps of substitutions of m, as `Project.steps` reports them."""
    return sorted(step.replace(" ", " m/host/substitutions/") for step in steps)


def test_all_is_built_and_nothing_twice(built: Project) -> None:
    folder = built.build_dir / "m" / "host" / "substitutions"
    modules = {path.relative_to(folder).as_posix() for path in folder.rglob("*.vmfb")}
    assert modules == {
        *(f"c/{FIRST}.vmfb", f"c/{FIRST}.check.vmfb", "c/model.vmfb", f"edited/{SECOND}.vmfb"),
        *(f"edited/{SECOND}.check.vmfb", "edited/model.vmfb"),
        *(f"tuned/{FIRST}.vmfb", "tuned/model.vmfb", "both/model.vmfb"),
    }
    assert built.steps() == []


def test_tests_measure_the_substitutes_and_compare_their_outputs(built: Project) -> None:
    built.build()
    outcome = built.test("-V", "-j2")
    assert outcome.returncode == 0, outcome.stdout
    results = built.build_dir / "results"
    (product,) = built.dispatches("product")
    assert {path.relative_to(results).as_posix() for path in results.rglob("substitutions/**/*.json")} == {
        *(f"m/host/local-sync/substitutions/{each}/static.json" for each in ("c", "edited", "tuned", "both")),
        *(f"m/host/local-sync/substitutions/{each}/{FIRST}.json" for each in ("c", "tuned")),
        f"m/host/local-sync/substitutions/edited/{SECOND}.json",
        *(f"product/host/local-sync/substitutions/c/{each}.json" for each in (product, "short", "long")),
    }
    assert f"{FIRST}: agrees" in outcome.stdout
    assert f"{product}__long: agrees" in outcome.stdout
    assert "note: the same code" not in outcome.stdout
    one = json.loads((results / f"m/host/local-sync/substitutions/c/{FIRST}.json").read_text())
    assert (one["context"]["substitution"], one["context"]["dispatch"]) == ("c", FIRST)


def test_labels(built: Project) -> None:
    listed = built.test("-N", "-L", "^substitution=c$", "-L", "^model=m$").stdout
    prefix = "iree-dispatch-benchmarks/m/host/local-sync/substitutions/c"
    tests = (f"{FIRST}", f"{FIRST}/smoke", f"{FIRST}/check", "model/static", "model/static/smoke")
    assert set(re.findall(r"Test +#\d+: (\S+)", listed)) == {f"{prefix}/{test}" for test in tests}
    assert "Total Tests: 3" in built.test("-N", "-L", "^test-type=substitution-check$").stdout


def test_objects_do_not_tell_whether_a_whole_model_should_differ(built: Project) -> None:
    listed = json.loads(built.test("--show-only=json-v1", "-R", "m/host/local-sync/substitutions/.*/model/").stdout)
    folder = built.build_dir / "m" / "host" / "substitutions"
    changes = {"edited": f"edited/{SECOND}", "both": f"edited/{SECOND}", "tuned": f"tuned/{FIRST}"}
    assert {
        (re.sub(r".*/substitutions/(\w+)/.*", r"\1", test["name"]), word)
        for test in listed["tests"]
        for word in test["command"]
        if word.startswith("-DCHANGES=")
    } == {(each, f"-DCHANGES={folder}/{module}.vmfb") for each, module in changes.items()}


def test_comments_in_substitutes_compile_nothing(built: Project, edit: Path) -> None:
    for name in ("kernels/matmul.c", "kernels/scale.h", "edited.mlir", "spec.mlir"):
        path = edit / name
        path.write_text("// A comment.\n" + path.read_text())
    assert built.steps() == _steps("Building c/c.o", f"Substituting edited/{SECOND}", "Configuring tuned")
    assert built.steps() == []


def test_edited_kernel_compiles_its_modules_and_whole_models(built: Project, edit: Path) -> None:
    """By an edit of a file that the kernel includes."""
    _replace(edit / "kernels" / "scale.h", "1.0f", "3.0f")
    assert built.steps() == _steps(
        *("Building c/c.o", f"Substituting c/{FIRST}", "Substituting c/model", "Substituting both/model"),
        *(f"Compiling c/{FIRST}.vmfb", f"Compiling c/{FIRST}.check.vmfb"),
        *("Compiling c/model.vmfb", "Compiling both/model.vmfb"),
    )


def test_edited_executable_and_tuning_spec_compile_what_they_change(built: Project, edit: Path) -> None:
    _replace(edit / "edited.mlir", "constant 1.0", "constant 2.0")
    (edit / "spec.mlir").write_text(TUNING_SPEC.format(tile=16))
    assert built.steps() == _steps(
        *(f"Substituting edited/{SECOND}", "Substituting edited/model", "Substituting both/model"),
        *(f"Compiling edited/{SECOND}.vmfb", f"Compiling edited/{SECOND}.check.vmfb"),
        *("Compiling edited/model.vmfb", "Compiling both/model.vmfb"),
        *("Configuring tuned", "Substituting tuned/tuned", "Substituting tuned/model"),
        *(f"Compiling tuned/{FIRST}.vmfb", "Compiling tuned/model.vmfb"),
    )
    assert built.steps() == []


def test_what_was_not_built_since_an_edit_is_not_measured(built: Project, edit: Path) -> None:
    built.build()
    path = edit / "edited.mlir"
    text = path.read_text()
    of_edited = ("-R", "m/host/local-sync/(model|substitutions/(edited|both|tuned))/.*(smoke|check)$")
    for change in (path.unlink, lambda: path.write_text(text + "\n")):
        change()
        outcome = built.test(*of_edited).stdout
        failed = set(re.findall(r"/local-sync/(\S+) \(Failed\)", outcome))
        assert failed == {
            *(f"substitutions/edited/{test}" for test in (f"{SECOND}/smoke", f"{SECOND}/check", "model/static/smoke")),
            "substitutions/both/model/static/smoke",
        }
    built.build()
    assert "100% tests passed" in built.test(*of_edited).stdout


def test_files_replaced_by_older_ones_are_built(built: Project, edit: Path) -> None:
    """As by `cp -p`, `mv` and `tar`, which keep the times of files."""
    built.definitions = {"DISPATCHGEN_HASH_INPUTS": "ON"}
    built.configure()
    built.build()
    for name in ("models/m.mlir", "edited.mlir", "kernels/matmul.c", "kernels/scale.h", "spec.mlir"):
        path = edit / name
        path.write_text(path.read_text() + "\n")
        os.utime(path, (1000, 1000))
    built.configure()
    assert built.steps() == sorted(
        [*_steps("Building c/c.o", f"Substituting edited/{SECOND}", "Configuring tuned"), "Configuring m/host"]
    )
    built.configure()
    assert built.steps() == []


_VULKAN_MANIFEST = f"""\
version: 1
backends:
  gpu: {{target_device: vulkan, devices: [vulkan]}}
models:
  m:
    source: models/m.mlir
    run: {{min_time: 1x}}
    substitutions:
      glsl: {{dispatch: {FIRST}, object: matmul.comp, workgroups: "() -> (16, 1, 1)", check: {{tolerance: 1.0e-4}}}}
"""
_VULKAN_KERNEL = """\
#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) writeonly buffer C { float c[]; };
void main() {
  uint i = gl_LocalInvocationID.x, j = gl_WorkGroupID.x;
  float sum = 0.0;
  for (uint k = 0; k < 8; ++k) sum += a[i * 8 + k] * b[k * 16 + j];
  c[i * 16 + j] = sum;
}
"""


@pytest.mark.lavapipe
@pytest.mark.skipif(shutil.which("glslangValidator") is None, reason="no glslangValidator")
def test_kernel_of_a_gpu(tmp_path: Path, checkout: Path) -> None:
    write_layers(tmp_path)
    write_files(tmp_path, {"benchmarks.yaml": _VULKAN_MANIFEST, "matmul.comp": _VULKAN_KERNEL})
    lock_and_generate(tmp_path, "cmake")
    project = Project(tmp_path, environment={"PYTHONPATH": str(checkout)})
    project.configure()
    project.build("iree-dispatch-benchmarks-m-gpu-glsl")
    outcome = project.test("-V", "-L", "substitution=glsl")
    assert "100% tests passed" in outcome.stdout, outcome.stdout
    assert f"{FIRST}: agrees" in outcome.stdout
    path = tmp_path / "matmul.comp"
    path.write_text(path.read_text() + "// A comment.\n")
    assert project.steps("iree-dispatch-benchmarks-m-gpu-glsl") == ["Building m/gpu/substitutions/glsl/glsl.spv"]
