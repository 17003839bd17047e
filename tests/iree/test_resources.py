"""Texts of operations and modules that have the data of their resources with them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dispatchgen.errors import ModelError
from dispatchgen.iree import ir
from dispatchgen.iree.resources import (
    missing_resources,
    module_asm,
    module_of,
    operation_asm,
    split_resources,
    with_resources,
)


def module(constants: str, resources: str) -> str:
    body = f"  util.func private @f() {{\n{constants}\n    util.return\n  }}\n"
    tail = f"{{-#\n  dialect_resources: {{\n    builtin: {{\n{resources}\n    }}\n  }}\n#-}}\n"
    return f"module {{\n{body}}}\n\n{tail}"


def asm(text: str) -> str:
    with ir.parse_module(text) as parsed:
        return operation_asm(ir.body(parsed)[0])


@pytest.mark.parametrize("key", ["w", "torch_tensor_2_torch.float32$1", '"a key\\22, }"'])
@pytest.mark.parametrize("type_", ["tensor<2xf32>", "tensor<1xi64>", "tensor<8xi1>", "tensor<1xcomplex<f32>>"])
def test_the_data_is_behind_the_text_whatever_its_key(key: str, type_: str) -> None:
    constant = f"    %0 = arith.constant dense_resource<{key}> : {type_}"
    text = asm(module(constant, f'      {key}: "0x040000000101010100000001"'))
    name = re.search(r"dense_resource<(resource_[0-9a-f]{16})>", text)
    assert name is not None
    body, resources = split_resources(text)
    assert resources == {name[1]: "040000000101010100000001"}
    assert f"dense_resource<{name[1]}> : {type_}" in body
    assert asm(text) == text
    assert asm(module(constant.replace(key, "other"), '      other: "0x040000000101010100000001"')) == text
    assert asm(module(constant, f'      {key}: "0x040000000101010100000000"')) != text


def test_each_has_its_own_data() -> None:
    constants = "\n".join(f"    %{i} = arith.constant dense_resource<w{i}> : tensor<2xi8>" for i in (0, 2, 1, 3))
    entries = ",\n".join(f'      w{i}: "0x010000000{i % 3}00"' for i in range(5))
    body, resources = split_resources(asm(module(constants, entries)))
    keys = re.findall(r"dense_resource<(\w+)>", body)
    assert [resources[key] for key in keys] == [f"010000000{i}00" for i in (0, 2, 1, 0)]
    assert len(resources) == 3


def test_a_module_of_operations_has_the_data_of_all() -> None:
    constant = "    %0 = arith.constant dense_resource<w> : tensor<1xi8>"
    parts = [asm(module(constant, f'      w: "0x010000000{i}"')) for i in (1, 2, 1)]
    named = [part.replace("@f", f"@f{i}") for i, part in enumerate(parts)]
    with ir.parse_module(module_of(named)) as parsed:
        assert [operation_asm(operation) for operation in ir.body(parsed)] == named
    assert module_of(["util.func private @f() {\n  util.return\n}\n"]) == (
        "module {\n  util.func private @f() {\n    util.return\n  }\n}\n"
    )


@pytest.mark.parametrize(
    "tail",
    [
        "",
        '{-#\n  dialect_resources: {\n    builtin: {\n      w: "0x0100000001"\n    }\n  }\n#-}\n',
        "{-#\n  dialect_resources: {\n    ml_program: {\n    }\n  }\n#-}\n",
        "{-#\n  external_resources: {\n  }\n#-}\n",
    ],
)
def test_data_joins_what_is_there(tail: str) -> None:
    text = "module {\n  util.func private @f() {\n    %0 = arith.constant dense_resource<k> : tensor<1xi8>\n"
    text += "    util.return\n  }\n}\n" + (f"\n{tail}" if tail else "")
    joined = with_resources(text, {"k": "0100000002"})
    assert split_resources(joined)[1] == {**split_resources(text)[1], "k": "0100000002"}
    assert with_resources(joined, {"k": "0100000002"}) == joined
    with ir.parse_module(joined) as parsed:
        assert missing_resources(parsed) == ()


def test_an_operation_without_resources_is_as_mlir_prints_it() -> None:
    text = module("    %0 = arith.constant dense<[1, 2]> : tensor<2xi8>", "")
    with ir.parse_module(text) as parsed:
        (operation,) = ir.body(parsed)
        assert operation_asm(operation) == operation.get_asm(use_local_scope=True)
        located = operation.get_asm(use_local_scope=True, enable_debug_info=True)
        assert operation_asm(operation, locations=True) == located


def test_locations_stay() -> None:
    text = module("    %0 = arith.constant dense_resource<w> : tensor<2xi8>", '      w: "0x010000000102"')
    with ir.parse_module(text) as parsed:
        assert ":3:10)" in operation_asm(ir.body(parsed)[0], locations=True)


def test_data_that_is_not_there() -> None:
    constants = "    %0 = arith.constant dense_resource<a> : tensor<2xi8>\n"
    constants += "    %1 = arith.constant dense_resource<b> : tensor<2xi8>"
    with ir.parse_module(module(constants, '      a: "0x010000000102"')) as parsed:
        (operation,) = ir.body(parsed)
        assert missing_resources(operation) == ("dense_resource<b>",)
        with pytest.raises(ModelError, match="the module has no data for dense_resource<b>"):
            operation_asm(operation)


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
