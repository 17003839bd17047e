"""Dispatches of a program, as they are and as a lock has them."""

from __future__ import annotations

from dispatchgen.extract.extraction import extract
from dispatchgen.extract.schema import Call
from dispatchgen.profile.match import codes_of, locked_codes
from profiled import Recorded


def test_codes_of_a_lock_are_those_it_was_made_with(ctrl: Recorded) -> None:
    """Data of profiles belong to these; the program may be of another compiler since."""
    call = Call(name="A", function="main", shape="A", symbols={}, inputs=("5x64xf32", "9x64xf32", "3"))
    dispatches = extract(ctrl.program, [call], "cpu").lock.dispatches
    codes = codes_of(ctrl.program)
    assert locked_codes(ctrl.program, dispatches) == codes
    first, *others = dispatches
    old = first.model_copy(update={"content": "0" * 64, "executable": "e", "export": "x"})
    key = first.executable, first.export
    assert locked_codes(ctrl.program, [old, *others]) == {**codes, key: (first.operation, "0" * 64)}
    del codes[key]
    assert locked_codes(ctrl.program, others) == codes, "what no lock has, no profile has"
