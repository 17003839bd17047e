"""From sources to configured modules: with the real compiler, and with fake ones that fail in every way."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path

import pytest

import support
from dispatchgen.errors import ModelError, ToolError
from dispatchgen.iree.configure import configure, import_source, source_path
from dispatchgen.iree.tools import Tools, find_tools
from dispatchgen.manifest.suite import Backend, Model, Source, Suite

CPU = Backend("cpu", "cpu", "local", "llvm-cpu")


def make_model(source: Source, **fields: object) -> Model:
    return Model("my model", "my_model", source, backends=("cpu",), line=7, **fields)  # type: ignore[arg-type]


def make_suite(root: Path, model: Model) -> Suite:
    return Suite(root / "benchmarks.yaml", (CPU,), (model,))


@pytest.fixture(scope="module")
def tools() -> Tools:
    return find_tools()


def configure_text(tools: Tools, root: Path, text: str, timeout: float = 600) -> Path:
    """Configures a module of this text in the folder `root`."""
    (root / "m.mlir").write_text(text)
    model = make_model(Source("m.mlir", "mlir"))
    (root / "work").mkdir(exist_ok=True)
    return configure(tools, make_suite(root, model), model, CPU, root / "work", timeout)


def fake(tools: Tools, folder: Path, body: str) -> Tools:
    """The tools with another iree-compile: a shell script."""
    path = folder / "iree-compile"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return dataclasses.replace(tools, iree_compile=path)


def test_a_module_is_configured(tools: Tools, models_dir: Path, tmp_path: Path) -> None:
    output = configure_text(tools, tmp_path, (models_dir / "mlp.mlir").read_text())
    assert output == tmp_path / "work" / "configured.mlir"
    assert "hal.executable.export" in output.read_text()


def test_the_same_bytes_from_any_folder(tools: Tools, models_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    text = (models_dir / "mlp.mlir").read_text()
    one, other = configure_text(tools, tmp_path, text), configure_text(tools, tmp_path / "other", text)
    assert one.read_bytes() == other.read_bytes()


def test_a_malformed_program_is_shown_where_it_is_wrong(tools: Tools, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        configure_text(
            tools, tmp_path, "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %y : tensor<4xf32>\n}\n"
        )
    (problem,) = caught.value.problems
    assert problem.message == "model my model on backend cpu: use of undeclared SSA value name"
    assert str(problem.place) == f"{tmp_path / 'm.mlir'}:2:10"


def test_long_diagnostics_are_shortened(tools: Tools, tmp_path: Path) -> None:
    """IREE repeats whole operations, weights included."""
    body = """exec >&2
for i in 1 2 3 4 5; do printf "m.mlir:%d:1: error: " $i; head -c 100000 /dev/zero | tr '\\0' x; echo; done
exit 1"""
    with pytest.raises(ModelError) as caught:
        configure_text(fake(tools, tmp_path, body), tmp_path, "module {}")
    assert len(caught.value.problems) == 3
    assert len(str(caught.value)) < 2000


def test_a_compiler_that_crashes(tools: Tools, tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        configure_text(fake(tools, tmp_path, "echo 'Assertion failed: x' >&2; kill -SEGV $$"), tmp_path, "module {}")
    text = str(caught.value)
    assert "model my model: iree-compile failed: crashed (SIGSEGV)" in text
    assert "--compile-to=executable-configurations" in text, "the command can be repeated"
    assert "Assertion failed: x" in text


def test_a_compiler_that_is_killed_for_memory(tools: Tools, tmp_path: Path) -> None:
    with pytest.raises(
        ToolError, match=r"model my model: iree-compile failed: killed .SIGKILL., most likely .* memory"
    ):
        configure_text(fake(tools, tmp_path, "kill -KILL $$"), tmp_path, "module {}")


def test_a_compiler_that_hangs_is_killed_with_its_children(tools: Tools, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    hanging = fake(tools, tmp_path, f"sleep 1000 & echo $! $$ > {pids}.new; mv {pids}.new {pids}; wait")
    with pytest.raises(ToolError, match=r"model my model: iree-compile did not end within 2 s and was killed"):
        configure_text(hanging, tmp_path, "module {}", timeout=2)
    for pid in map(int, pids.read_text().split()):
        assert support.is_gone(pid)


def test_an_error_without_a_place_keeps_the_command(tools: Tools, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"(?s)exit code 1.*command: .*Unknown command line argument"):
        configure_text(
            fake(tools, tmp_path, "echo \"Unknown command line argument '--x'\" >&2; exit 1"), tmp_path, "module {}"
        )


def test_a_missing_file(tmp_path: Path) -> None:
    model = make_model(Source("none.mlir", "mlir"))
    with pytest.raises(ModelError) as caught:
        source_path(make_suite(tmp_path, model), model)
    assert f"model my model: there is no file {tmp_path / 'none.mlir'}" in str(caught.value)
    assert f"{tmp_path / 'benchmarks.yaml'}:7" in str(caught.value)


def test_a_file_of_a_python_package_is_found_without_importing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "some_models"
    package.mkdir()
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    (package / "m.onnx").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    model = make_model(Source("m.onnx", "onnx", "some_models"))
    assert source_path(make_suite(tmp_path, model), model) == package / "m.onnx"
    model = make_model(Source("n.onnx", "onnx", "some_models"))
    with pytest.raises(ModelError, match=r"there is no file n.onnx in .*some_models"):
        source_path(make_suite(tmp_path, model), model)
    model = make_model(Source("m.onnx", "onnx", "no_such_package"))
    with pytest.raises(ModelError, match=r"Python package no_such_package, which ships m.onnx, is not installed"):
        source_path(make_suite(tmp_path, model), model)


def write_onnx(path: Path, operator: str) -> Model:
    onnx = pytest.importorskip("onnx")
    values = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", 2]) for name in "xy"]
    graph = onnx.helper.make_graph([onnx.helper.make_node(operator, ["x"], ["y"])], "g", values[:1], values[1:])
    opset = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return make_model(Source(path.name, "onnx"))


def test_onnx_is_imported(tools: Tools, tmp_path: Path) -> None:
    model = write_onnx(tmp_path / "m.onnx", "Relu")
    output = import_source(tools, make_suite(tmp_path, model), model, tmp_path)
    assert output == tmp_path / "imported.mlir"
    assert "onnx.Relu" in output.read_text()


def test_onnx_that_the_importer_refuses(tools: Tools, tmp_path: Path) -> None:
    model = write_onnx(tmp_path / "m.onnx", "NoSuchOperator")
    with pytest.raises(ModelError) as caught:
        import_source(tools, make_suite(tmp_path, model), model, tmp_path)
    text = str(caught.value)
    assert "model my model: the importer refuses it: No Op registered for NoSuchOperator" in text
    assert "Traceback" not in text


def test_onnx_without_the_python_package(tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.onnx").touch()
    model = make_model(Source("m.onnx", "onnx"))
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text("import sys; sys.modules['onnx'] = None")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(hidden), *sys.path]))
    with pytest.raises(ToolError) as caught:
        import_source(tools, make_suite(tmp_path, model), model, tmp_path)
    (problem,) = caught.value.problems
    assert problem.message == "model my model: importing m.onnx needs the Python package onnx, which is missing"
    assert problem.hint == "pip install dispatchgen[onnx]"


def test_a_full_disk_is_an_error_of_the_compiler(tools: Tools, tmp_path: Path) -> None:
    """`ulimit -f` stands in for the disk: a write beyond it fails."""
    body = f'ulimit -f 1; trap "" XFSZ; exec {tools.iree_compile} "$@"'
    weights = ", ".join(str(float(i)) for i in range(4096))
    text = f"""func.func @f(%x: tensor<4096xf32>) -> tensor<4096xf32> {{
  %c = arith.constant dense<[{weights}]> : tensor<4096xf32>
  %y = arith.addf %x, %c : tensor<4096xf32>
  return %y : tensor<4096xf32>
}}"""
    with pytest.raises((ModelError, ToolError)) as caught:
        configure_text(fake(tools, tmp_path, body), tmp_path, text)
    assert "my model" in str(caught.value)
