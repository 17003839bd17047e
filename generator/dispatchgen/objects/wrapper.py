"""An executable that calls a function of an object, for CPUs.

Code generation writes the function that IREE's runtime calls; it takes the dispatch state apart and calls the object's:

    void entry(void *binding0, ..., uint32_t constant0, ..., size_t workgroup_id_x, size_t workgroup_id_y,
               size_t workgroup_id_z, size_t workgroup_count_x, size_t workgroup_count_y, size_t workgroup_count_z)
"""

from __future__ import annotations

from dispatchgen.iree.executable import Layout
from dispatchgen.iree.ir import symbol_text


def wrapper_module(export_name: str, layout: Layout, entry: str) -> str:
    """The inner module of a variant: a function `export_name` that calls `entry` of an object."""
    bindings = [f"%binding{i}" for i in range(len(layout.bindings))]
    constants = [f"%constant{i}" for i in range(layout.constants)]
    workgroups = [f"%{what}_{dim}" for what in ("id", "count") for dim in "xyz"]
    types = ["memref<i8>"] * len(bindings) + ["i32"] * len(constants) + ["index"] * len(workgroups)
    body = [
        "%zero = arith.constant 0 : index",
        *(
            f"{name} = hal.interface.constant.load layout({layout.text}) ordinal({i}) : i32"
            for i, name in enumerate(constants)
        ),
        *(
            f"{name} = hal.interface.binding.subspan layout({layout.text}) binding({i}) offset(%zero)"
            f"{_flags(layout.bindings[i].flags)} : memref<i8>"
            for i, name in enumerate(bindings)
        ),
        *(f"%id_{dim} = hal.interface.workgroup.id[{i}] : index" for i, dim in enumerate("xyz")),
        *(f"%count_{dim} = hal.interface.workgroup.count[{i}] : index" for i, dim in enumerate("xyz")),
        f"func.call {symbol_text(entry)}({', '.join(bindings + constants + workgroups)}) : ({', '.join(types)}) -> ()",
        "return",
    ]
    lines = "\n    ".join(body)
    return f"""\
builtin.module {{
  func.func private {symbol_text(entry)}({", ".join(types)}) attributes {{hal.import.static, llvm.bareptr = true}}
  func.func {symbol_text(export_name)}() {{
    {lines}
  }}
}}"""


def _flags(flags: str) -> str:
    return f' flags("{flags}")' if flags else ""
