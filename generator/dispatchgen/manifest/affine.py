"""Affine maps from the workload of a dispatch to its workgroup count, as `workgroups` in the manifest has them.

They are read in the notation of MLIR ("Affine Maps", mlir.llvm.org/docs/Dialects/Affine) and without it, so that a slip
is found in the manifest and not by the compiler.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dispatchgen.manifest.names import show

#: Results of a map: workgroups in x, y and z.
RESULTS = 3

_MAP = re.compile(r"\s*\((?P<dims>[^()]*)\)\s*->\s*\((?P<results>.*)\)\s*", re.ASCII | re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_TOKEN = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*|[0-9]+|.)", re.ASCII | re.DOTALL)
_DIVISIONS = ("floordiv", "ceildiv", "mod")
#: Longest map, in characters: MLIR's parser recurses.
_MAX_LENGTH = 1000
#: Longest number: it fits 64 bits.
_DIGITS = 18
#: Deepest nesting of an expression.
_MAX_DEPTH = 50


class _MapProblem(Exception):
    """What is wrong with a map."""


def affine_problem(text: str) -> str | None:
    """Why `text` is not an affine map with three results; None where it is one."""
    try:
        _read(text)
    except _MapProblem as problem:
        return f"{show(text)} is not a workgroup count: {problem}"
    return None


def map_dims(text: str) -> tuple[str, ...]:
    """The names of the workload operands in a map that `affine_problem` accepts."""
    return _read(text)[0]


def map_results(text: str, workload: Sequence[int]) -> tuple[int, ...]:
    """The workgroups in x, y and z for a workload, by a map that `affine_problem` accepts and that takes as many."""
    return tuple(value for value in _read(text, workload)[1] if value is not None)


def _read(text: str, workload: Sequence[int] = ()) -> tuple[tuple[str, ...], list[int | None]]:
    """The operands' names and the results of a map; None: a result that depends on operands without a value."""
    if len(text) > _MAX_LENGTH:
        raise _MapProblem(f"it has {len(text)} characters; at most {_MAX_LENGTH} are allowed")
    match = _MAP.fullmatch(text)
    if match is None:
        raise _MapProblem(
            "a map such as `(w0, w1) -> (w0 ceildiv 64, w1, 1)` is needed, with a name per workload operand"
        )
    dims = [name.strip() for name in match["dims"].split(",")] if match["dims"].strip() else []
    for index, name in enumerate(dims):
        if not _NAME.fullmatch(name) or name in _DIVISIONS:
            raise _MapProblem(f"{show(name)} cannot be the name of a workload operand")
        if name in dims[:index]:
            raise _MapProblem(f"two workload operands are called {show(name)}")
    values = dict.fromkeys(dims) | dict(zip(dims, workload, strict=False))
    results = _Parser(values, [token for token in _TOKEN.findall(match["results"]) if token.strip()]).results()
    if len(results) != RESULTS:
        raise _MapProblem(f"it has {len(results)} results; {RESULTS} are needed, the workgroups in x, y and z")
    return tuple(dims), results


@dataclass
class _Parser:
    """Reads expressions. Each method returns the value of what it read; None where that depends on unknown operands."""

    dims: Mapping[str, int | None]  #: The operands, with their values where these are known.
    tokens: list[str]
    position: int = 0
    depth: int = 0

    def results(self) -> list[int | None]:
        """Expressions, separated by commas."""
        values = [self._sum()]
        while self._peek() == ",":
            self.position += 1
            values.append(self._sum())
        if self.position < len(self.tokens):
            raise _MapProblem(f"{show(self._peek())} where an operator, `,` or the end is expected")
        return values

    def _sum(self) -> int | None:
        value = self._product()
        while (operator := self._peek()) in ("+", "-"):
            self.position += 1
            other = self._product()
            sign = 1 if operator == "+" else -1
            value = None if value is None or other is None else value + sign * other
        return value

    def _product(self) -> int | None:
        value = self._factor()
        while (operator := self._peek()) in ("*", *_DIVISIONS):
            self.position += 1
            other = self._factor()
            if operator == "*":
                if value is None and other is None:
                    raise _MapProblem("one side of `*` has to be a constant")
                value = None if value is None or other is None else value * other
            elif other is None or other <= 0:
                raise _MapProblem(f"the right side of `{operator}` has to be a constant above zero")
            elif value is not None:
                value = {"floordiv": value // other, "ceildiv": -(-value // other), "mod": value % other}[operator]
        return value

    def _factor(self) -> int | None:
        token = self._peek()
        self.position += 1
        if token in ("-", "("):
            self.depth += 1
            if self.depth > _MAX_DEPTH:
                raise _MapProblem("it is nested too deeply")
            value = self._factor() if token == "-" else self._sum()
            self.depth -= 1
            if token == "-":
                return None if value is None else -value
            if self._peek() != ")":
                raise _MapProblem("a `)` is missing")
            self.position += 1
            return value
        if token.isascii() and token.isdigit():
            if len(token) > _DIGITS:
                raise _MapProblem(f"{show(token)} is too large")
            return int(token)
        if token in self.dims:
            return self.dims[token]
        if _NAME.fullmatch(token) and token not in _DIVISIONS:
            raise _MapProblem(f"{show(token)} is not one of its workload operands")
        raise _MapProblem(f"{show(token) if token else 'the end'} where a number or a workload operand is expected")

    def _peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""
