"""The `count` of an export, computed by the user's affine map."""

from __future__ import annotations

from dispatchgen.errors import Problem, SubstitutionError
from dispatchgen.iree.executable import Export
from dispatchgen.manifest.affine import affine_problem, map_dims


def count_by_map(export: Export, text: str) -> str:
    """The `count` of an export, computed by an affine map from its workload; needs a context.

    Args:
      export: The original's.
      text: The map, e.g. `(w0, w1) -> (w1 ceildiv 64, 1, 1)`.

    Raises SubstitutionError where it is no such map, or one of another number of operands.
    """
    from iree.compiler import ir as mlir

    workload = export.workload or 0
    problem = affine_problem(text)
    if problem is None and (found := len(map_dims(text))) != workload:
        problem = f"expected {workload} operands, the workload of {export.name}; found {found}: {text}"
    if problem is not None:
        raise SubstitutionError(Problem(f"workgroups: {problem}", hint=_example(workload)))
    results = mlir.Attribute.parse(f"affine_map<{text}>").value.results  # in terms of d0, d1...
    dims, arguments = (", ".join(f"{name}{i}" for i in range(workload)) for name in ("d", "%w"))
    declared = "".join(f", %w{i}: index" for i in range(workload))
    applied = "\n".join(
        f"  %{dim} = affine.apply affine_map<({dims}) -> ({result})>({arguments})"
        for dim, result in zip("xyz", results, strict=True)
    )
    return f"""\
count(%device: !hal.device{declared}) -> (index, index, index) {{
{applied}
  hal.return %x, %y, %z : index, index, index
}}"""


def _example(workload: int) -> str:
    inputs = ", ".join(f"w{i}" for i in range(workload))
    return f"workgroups: ({inputs}) -> ({f'w{workload - 1} ceildiv 64' if workload else '1'}, 1, 1)"
