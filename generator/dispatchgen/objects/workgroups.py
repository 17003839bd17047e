"""How many workgroups a substitute is dispatched with: the original's count, or the user's affine map."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dispatchgen.errors import Problem, SubstitutionError
from dispatchgen.iree import ir
from dispatchgen.iree.executable import Export

#: Longest map, in characters: MLIR's parser recurses into parentheses.
_MAX_LENGTH = 1000
_EXAMPLE = "workgroups: (w0) -> (w0 ceildiv 64, 1, 1)"


def count_by_map(export: Export, text: str) -> str:
    """The `count` of an export, computed by an affine map from its workload.

    Args:
      export: The original's.
      text: The map, e.g. `(w0, w1) -> (w1 ceildiv 64, 1, 1)`.

    Raises SubstitutionError where it is no such map, or one of another number of inputs.
    """
    affine_map, workload = parse_map(text), export.workload or 0
    found = f"found {_shape(affine_map)}: {text}"
    problems = []
    if affine_map.value.n_dims != workload:
        expected = f"the workload of {export.name} has {_plural(workload, 'argument')}"
        problems.append(Problem(f"workgroups: {expected}; {found}", hint=_example(workload)))
    if len(affine_map.value.results) != 3:
        problems.append(Problem(f"workgroups: expected three results, x, y and z; {found}", hint=_example(workload)))
    if problems:
        raise SubstitutionError(*problems)
    arguments = ", ".join(f"%w{i}" for i in range(workload))
    declared = "".join(f", %w{i}: index" for i in range(workload))
    return f"""\
count(%device: !hal.device{declared}) -> (index, index, index) {{
  %x = affine.apply affine_map<({_dims(workload)}) -> ({affine_map.value.results[0]})>({arguments})
  %y = affine.apply affine_map<({_dims(workload)}) -> ({affine_map.value.results[1]})>({arguments})
  %z = affine.apply affine_map<({_dims(workload)}) -> ({affine_map.value.results[2]})>({arguments})
  hal.return %x, %y, %z : index, index, index
}}"""


def parse_map(text: str) -> ir.Attribute:
    """The affine map that a text is, as an attribute; needs a context.

    Raises SubstitutionError where it is none, has symbols, or divides by what is not positive.
    """
    from iree.compiler import ir as mlir

    if len(text) > _MAX_LENGTH:
        message = f"workgroups: the map has {len(text)} characters, at most {_MAX_LENGTH} are allowed"
        raise SubstitutionError(Problem(message, hint=_EXAMPLE))
    try:
        attribute = mlir.Attribute.parse(f"affine_map<{text}>")
    except Exception as error:  # MLIRError; ValueError where the text cannot be passed on
        reason = ir.NotIR(error).messages[0][2]
        raise SubstitutionError(Problem(f"workgroups: not an affine map: {text}\n  {reason}", hint=_EXAMPLE)) from None
    if attribute.value.n_symbols:
        raise SubstitutionError(
            Problem(f"workgroups: the map has symbols, which stand for nothing: {text}", hint=_EXAMPLE)
        )
    if not all(_divides_well(expression) for result in attribute.value.results for expression in _walk(result)):
        raise SubstitutionError(Problem(f"workgroups: the map divides by what is not positive: {text}", hint=_EXAMPLE))
    return attribute


def _walk(expression: Any) -> Iterator[Any]:
    from iree.compiler import ir as mlir

    yield expression
    if isinstance(expression, mlir.AffineBinaryExpr):
        yield from _walk(expression.lhs)
        yield from _walk(expression.rhs)


def _divides_well(expression: Any) -> bool:
    from iree.compiler import ir as mlir

    if not isinstance(expression, mlir.AffineFloorDivExpr | mlir.AffineCeilDivExpr | mlir.AffineModExpr):
        return True
    return isinstance(expression.rhs, mlir.AffineConstantExpr) and expression.rhs.value > 0


def _dims(count: int) -> str:
    return ", ".join(f"d{i}" for i in range(count))


def _shape(affine_map: ir.Attribute) -> str:
    return f"{_plural(affine_map.value.n_dims, 'input')} and {_plural(len(affine_map.value.results), 'result')}"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _example(workload: int) -> str:
    inputs = ", ".join(f"w{i}" for i in range(workload))
    return f"workgroups: ({inputs}) -> ({f'w{workload - 1} ceildiv 64' if workload else '1'}, 1, 1)"
