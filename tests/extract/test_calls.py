"""Signatures read from programs, and inputs of the manifest checked against them."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from configured import Configured
from dispatchgen.errors import ModelError
from dispatchgen.extract.calls import calls_of
from dispatchgen.extract.program import Program
from dispatchgen.extract.signature import signature, suggestion
from dispatchgen.iree import ir
from dispatchgen.manifest.suite import Input, Model, Shape, Source

TWO_FUNCTIONS = """
func.func @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @square(%x: tensor<?xf32>, %unused: tensor<3xi8>) -> tensor<?xf32> {
  %y = arith.mulf %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @constant() -> index {
  %c = arith.constant 3 : index
  return %c : index
}
"""


def model(
    inputs: Mapping[Any, tuple[Input, ...]] | None = None,
    shapes: tuple[Shape, ...] = (Shape("static"),),
    entry: str | None = None,
) -> Model:
    return Model("m", "m", Source("m.mlir", "mlir"), inputs=inputs or {}, shapes=shapes, entry=entry)


def tensor(*dims: int | str, element: str = "f32") -> Input:
    return Input(element, dims)


MLP = (tensor("B", 64), tensor(64, 128), tensor(128, 32))
B2 = (Shape("B2", {"B": 2}),)


@pytest.fixture
def two_functions(configured: Configured) -> Path:
    source = configured.folder / "two_functions.in.mlir"
    source.write_text(TWO_FUNCTIONS)
    return configured.module(source)


@pytest.mark.parametrize(
    ("name", "entry", "arguments", "proposed"),
    [
        ("mlp", "main", "?x64xf32, 64x128xf32, 128x32xf32", ["Ax64xf32", "64x128xf32", "128x32xf32"]),
        ("mlp_async", "main_async", "?x64xf32, 64x128xf32, 128x32xf32", None),
        ("ctrl", "main", "?x64xf32, ?x64xf32, index", ["Ax64xf32", "Bx64xf32", "index=1"]),
        ("torchsym", "main", "?x?x64xf32, 64x128xf32", ["AxBx64xf32", "64x128xf32"]),
        ("datadep", "main", "64xf32, 2xi64", ["64xf32", "2xi64"]),
    ],
)
def test_signature(
    name: str, entry: str, arguments: str, proposed: list[str] | None, configured: Configured, models_dir: Path
) -> None:
    with ir.read_module(configured.module(models_dir / f"{name}.mlir")) as operation:
        program = Program(operation)
        assert program.entries == [entry], "one entry for a function and its $async body"
        found = signature(program, entry)
    assert ", ".join(map(str, found)) == arguments
    assert proposed is None or suggestion(found) == proposed


def test_every_public_function_that_dispatches(two_functions: Path) -> None:
    inputs = {"double": (tensor(4),), "square": (tensor("N"), tensor(3, element="i8"))}
    shapes = (Shape("N2", {"N": 2}), Shape("N3", {"N": 3}))
    with ir.read_module(two_functions) as operation:
        calls = calls_of(Program(operation), model(inputs, shapes))
    assert [(call.name, call.function, call.inputs) for call in calls] == [
        ("double__N2", "double", ("4xf32",)),
        ("double__N3", "double", ("4xf32",)),
        ("square__N2", "square", ("2xf32", "3xi8")),
        ("square__N3", "square", ("3xf32", "3xi8")),
    ]


def test_functions_whose_names_look_alike(configured: Configured) -> None:
    source = configured.folder / "alike.in.mlir"
    source.write_text(
        "\n".join(
            f"""func.func @{name}(%x: tensor<{size}xf32>) -> tensor<{size}xf32> {{
  %y = arith.addf %x, %x : tensor<{size}xf32>
  return %y : tensor<{size}xf32>
}}"""
            for name, size in (("a$b", 4), ("a_b", 5))
        )
    )
    with ir.read_module(configured.module(source)) as operation:
        calls = calls_of(Program(operation), model())
    assert [(call.name, call.function) for call in calls] == [("a_b__static", "a$b"), ("a_b_2__static", "a_b")]


def test_a_tensor_without_dims(configured: Configured) -> None:
    source = configured.folder / "rank0.in.mlir"
    source.write_text("""func.func @main(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %b = linalg.broadcast ins(%s : tensor<f32>) outs(%e : tensor<4xf32>) dimensions = [0]
  %y = arith.mulf %x, %b : tensor<4xf32>
  return %y : tensor<4xf32>
}""")
    module = configured.module(source)
    with ir.read_module(module) as operation:
        (call,) = calls_of(Program(operation), model())
        with pytest.raises(ModelError, match=r"input 1: it is a tensor, not a scalar\n.*\n  try: tensor<f32>"):
            calls_of(Program(operation), model({None: (tensor(4), Input("f32", None, (1,)))}))
    command: list[str | Path] = [configured.tools.run_module, f"--module={configured.compiled(module)}"]
    command += ["--device=local-sync", "--function=main", *(f"--input={value}" for value in call.inputs)]
    subprocess.run(command, check=True, capture_output=True)


def test_an_integer_in_a_tensor_needs_a_value(configured: Configured) -> None:
    source = configured.folder / "rank0i.in.mlir"
    source.write_text("""func.func @main(%x: tensor<4xi64>, %s: tensor<i64>) -> tensor<4xi64> {
  %e = tensor.empty() : tensor<4xi64>
  %b = linalg.broadcast ins(%s : tensor<i64>) outs(%e : tensor<4xi64>) dimensions = [0]
  %y = arith.muli %x, %b : tensor<4xi64>
  return %y : tensor<4xi64>
}""")
    x = tensor(4, element="i64")
    with ir.read_module(configured.module(source)) as operation:
        program = Program(operation)
        with pytest.raises(ModelError, match="inputs are needed"):
            calls_of(program, model())
        with pytest.raises(ModelError, match="input 1: an integer needs a value"):
            calls_of(program, model({None: (x, Input("i64", ()))}))
        (call,) = calls_of(program, model({None: (x, Input("i64", (), (2,)))}))
    assert call.inputs == ("4xi64", "i64=2")


def test_one_entry(two_functions: Path) -> None:
    with ir.read_module(two_functions) as operation:
        (call,) = calls_of(Program(operation), model(entry="double"))
        assert (call.name, call.inputs) == ("static", ("4xf32",)), "static types are read from the program"
        with pytest.raises(ModelError, match=r"no public function @doubel .* it has @double, @square\n  try: double"):
            calls_of(Program(operation), model(entry="doubel"))
        with pytest.raises(ModelError, match="no public function @constant that dispatches"):
            calls_of(Program(operation), model(entry="constant"))


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (
            None,
            r"inputs are needed: the function takes \(\?x64xf32, .*\n.*@main\n  try: inputs: \[Ax64xf32, 64x128xf32, ",
        ),
        (MLP[:2], r"2 inputs are given; the function takes"),
        ((tensor("B", 65), *MLP[1:]), r"input 0: dim 1 is 65, the program has 64"),
        ((tensor("B", "B"), *MLP[1:]), r"input 0: dim 1 is 2 \(B at shape B2\), the program has 64"),
        ((tensor("B", 64, 1), *MLP[1:]), r"input 0: it has 3 dims, the program has 2"),
        ((tensor("B", 64, element="f16"), *MLP[1:]), r"input 0: the element type is f16, the program has f32"),
        ((Input("f32", None, (1,)), *MLP[1:]), r"input 0: it is a tensor, not a scalar"),
        (
            (tensor("B", 65), tensor(64, 127), MLP[2]),
            r"(?s)input 0: dim 1 is 65.*input 1: dim 1 is 127, the program has 128",
        ),
    ],
)
def test_inputs_that_do_not_fit(
    inputs: tuple[Input, ...] | None, message: str, configured: Configured, models_dir: Path
) -> None:
    given = {} if inputs is None else {None: inputs}
    with (
        ir.read_module(configured.module(models_dir / "mlp.mlir")) as operation,
        pytest.raises(ModelError, match=message),
    ):
        calls_of(Program(operation), model(given, B2))


def test_scalars_need_a_value(configured: Configured, models_dir: Path) -> None:
    tensors = (tensor("B", 64), tensor("B", 64))
    with ir.read_module(configured.module(models_dir / "ctrl.mlir")) as operation:
        program = Program(operation)
        with pytest.raises(ModelError, match="input 2: a scalar needs a value"):
            calls_of(program, model({None: (*tensors, Input("index", None))}, B2))
        (call,) = calls_of(program, model({None: (*tensors, Input("index", None, ("B",)))}, B2))
    assert call.inputs == ("2x64xf32", "2x64xf32", "2")


def test_a_program_without_dispatches(configured: Configured) -> None:
    source = configured.folder / "nothing.in.mlir"
    source.write_text("func.func @main(%x: i32) -> i32 { return %x : i32 }")
    with (
        ir.read_module(configured.module(source)) as operation,
        pytest.raises(ModelError, match="no public function of the program dispatches anything"),
    ):
        calls_of(Program(operation), model())
