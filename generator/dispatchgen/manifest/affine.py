"""Affine maps from the workload of a dispatch to its workgroup count, as `workgroups` in the manifest has them.

Only their form is checked, in the notation of MLIR ("Affine Maps", mlir.llvm.org/docs/Dialects/Affine), so that a slip
is found in the manifest and not by the compiler.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dispatchgen.manifest.names import show

#: Results of a map: workgroups in x, y and z.
RESULTS = 3

_MAP = re.compile(r"\s*\((?P<dims>[^()]*)\)\s*->\s*\((?P<results>.*)\)\s*", re.ASCII | re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_TOKEN = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*|[0-9]+|.)", re.ASCII | re.DOTALL)
_DIVISIONS = ("floordiv", "ceildiv", "mod")
#: Longest number: it fits 64 bits.
_DIGITS = 18
#: Deepest nesting of an expression.
_MAX_DEPTH = 50


class _MapProblem(Exception):
    """What is wrong with a map."""


def affine_problem(text: str) -> str | None:
    """Why `text` is not an affine map with three results; None where it is one."""
    try:
        _check(text)
    except _MapProblem as problem:
        return f"{show(text)} is not a workgroup count: {problem}"
    return None


def map_dims(text: str) -> tuple[str, ...]:
    """The names of the workload operands in a map that `affine_problem` accepts."""
    match = _MAP.fullmatch(text)
    assert match is not None
    return tuple(name.strip() for name in match["dims"].split(",") if name.strip())


def _check(text: str) -> None:
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
    parser = _Parser(frozenset(dims), [token for token in _TOKEN.findall(match["results"]) if token.strip()])
    count = parser.results()
    if count != RESULTS:
        raise _MapProblem(f"it has {count} results; {RESULTS} are needed, the workgroups in x, y and z")


@dataclass
class _Parser:
    """Reads expressions. Each method returns the value of what it read where that is a constant, else None."""

    dims: frozenset[str]
    tokens: list[str]
    position: int = 0
    depth: int = 0

    def results(self) -> int:
        """How many expressions there are, separated by commas."""
        count = 1
        self._sum()
        while self._peek() == ",":
            self.position += 1
            self._sum()
            count += 1
        if self.position < len(self.tokens):
            raise _MapProblem(f"{show(self._peek())} where an operator, `,` or the end is expected")
        return count

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
            return None
        if _NAME.fullmatch(token) and token not in _DIVISIONS:
            raise _MapProblem(f"{show(token)} is not one of its workload operands")
        raise _MapProblem(f"{show(token) if token else 'the end'} where a number or a workload operand is expected")

    def _peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""
