"""Texts of operations that have the data of their resources in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatchgen.errors import ModelError
from dispatchgen.iree import ir
from dispatchgen.iree.resources import missing_resources, module_asm, operation_asm


def module(constants: str, resources: str) -> str:
    body = f"  util.func private @f() {{\n{constants}\n    util.return\n  }}\n"
    tail = f"{{-#\n  dialect_resources: {{\n    builtin: {{\n{resources}\n    }}\n  }}\n#-}}\n"
    return f"module {{\n{body}}}\n\n{tail}"


def asm(text: str) -> str:
    with ir.parse_module(text) as parsed:
        return operation_asm(ir.body(parsed)[0])


@pytest.mark.parametrize(
    ("type_", "data", "values"),
    [
        ("tensor<2xf32>", "0000803F00000040", "[1.000000e+00, 2.000000e+00]"),
        ("tensor<2xf32>", "0000803F0000803F", "1.000000e+00"),
        ("tensor<1xf32>", "0000803F", "1.000000e+00"),
        ("tensor<2xi64>", "0100000000000000FFFFFFFFFFFFFFFF", "[1, -1]"),
        ("tensor<3xi1>", "010001", "[true, false, true]"),
        ("tensor<2xbf16>", "803F0040", "[1.000000e+00, 2.000000e+00]"),
        ("tensor<1xcomplex<f32>>", "0000803F00000040", "(1.000000e+00,2.000000e+00)"),
        ("vector<2xi8>", "0102", "[1, 2]"),
    ],
)
@pytest.mark.parametrize("key", ["w", "torch_tensor_2_torch.float32$1", '"a key\\22, }"'])
def test_the_data_becomes_part_of_the_text(key: str, type_: str, data: str, values: str) -> None:
    text = module(f"    %0 = arith.constant dense_resource<{key}> : {type_}", f'      {key}: "0x04000000{data}"')
    plain = module(f"    %0 = arith.constant dense<{values}> : {type_}", "")
    assert asm(text) == asm(plain)


def test_each_has_its_own_data() -> None:
    constants = "\n".join(f"    %{i} = arith.constant dense_resource<w{i}> : tensor<2xi8>" for i in (0, 2, 1))
    resources = ",\n".join(f'      w{i}: "0x010000000{i}0{i + 1}"' for i in range(4))
    text = asm(module(constants, resources))
    assert [line.split("constant ")[1] for line in text.splitlines() if "constant" in line] == [
        f"dense<[{i}, {i + 1}]> : tensor<2xi8>" for i in (0, 2, 1)
    ]


def test_an_operation_without_resources_is_as_mlir_prints_it() -> None:
    text = module("    %0 = arith.constant dense<[1, 2]> : tensor<2xi8>", "")
    with ir.parse_module(text) as parsed:
        (operation,) = ir.body(parsed)
        assert operation_asm(operation) == operation.get_asm(use_local_scope=True)
        located = operation.get_asm(use_local_scope=True, enable_debug_info=True)
        assert operation_asm(operation, locations=True) == located


def test_locations_stay() -> None:
    text = module("    %0 = arith.constant dense_resource<w> : tensor<2xi8>", '      w: "0x010000000102"')
    plain = module("    %0 = arith.constant dense<[1, 2]> : tensor<2xi8>", "")
    with ir.parse_module(text) as parsed, ir.parse_module(plain) as expected:
        found = operation_asm(ir.body(parsed)[0], locations=True)
        assert found == operation_asm(ir.body(expected)[0], locations=True)
        assert ":3:10)" in found


def test_data_that_is_not_there() -> None:
    constants = "    %0 = arith.constant dense_resource<a> : tensor<2xi8>\n"
    constants += "    %1 = arith.constant dense_resource<b> : tensor<2xi8>"
    with ir.parse_module(module(constants, '      a: "0x010000000102"')) as parsed:
        (operation,) = ir.body(parsed)
        assert missing_resources(operation) == ("dense_resource<b>",)
        with pytest.raises(ModelError, match="the module has no data for dense_resource<b>"):
            operation_asm(operation)


def test_data_of_another_size() -> None:
    text = module("    %0 = arith.constant dense_resource<a> : tensor<3xi8>", '      a: "0x010000000102"')
    with pytest.raises(ModelError, match="the data of a resource does not fit its type: "):
        asm(text)


def test_a_module_keeps_its_resources(models_dir: Path) -> None:
    with ir.read_module(models_dir / "resources.mlir") as parsed:
        text = module_asm(parsed)
        body = parsed.get_asm(use_local_scope=True)
    assert text.startswith(body)
    with ir.parse_module(text) as parsed:
        assert module_asm(parsed) == text
        assert [missing_resources(operation) for operation in ir.body(parsed)] == [()]
    with ir.parse_module("module {\n}\n") as parsed:
        assert module_asm(parsed) == parsed.get_asm(use_local_scope=True)
