"""Compares evaluation of the host program with a recorded run: order, push constants and binding lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from configured import Configured
from dispatchgen.extract.evaluate import evaluate
from dispatchgen.extract.program import Program
from dispatchgen.extract.values import Unknown
from dispatchgen.iree import ir
from recording import RecordedDispatch, record


def assert_same(
    configured: Configured,
    module: Path,
    function: str,
    inputs: Sequence[str],
    folder: Path,
    *,
    compiled: Path | None = None,
    overrides: Mapping[str, int] | None = None,
    unknown_allowed: bool = False,
) -> Sequence[RecordedDispatch]:
    """Fails where evaluation and a recording differ; an unknown value, where allowed, equals anything.

    Args:
      module: The configured module.
      compiled: What runs, where it is not the module's own code.
      overrides: Values that the host reads back from the device.
    """
    compiled = compiled or configured.compiled(module)
    # IREE's programs call the function that waits for the other.
    recorded = record(configured.tools, compiled, function.removesuffix("$async"), inputs, folder / "run.ireereplay")
    with ir.read_module(module) as operation:
        trace = evaluate(Program(operation), function, inputs, overrides)
    assert not trace.stops
    assert [(each.export, each.initializer) for each in trace.dispatched] == [
        (each.export, each.during_load) for each in recorded
    ]
    for ours, theirs in zip(trace.dispatched, recorded, strict=True):
        found = [*(value for _, value in ours.constants), *ours.lengths]
        expected = [*theirs.constants, *theirs.lengths]
        assert len(found) == len(expected)
        assert unknown_allowed or not any(isinstance(value, Unknown) for value in found)
        assert [e if isinstance(f, Unknown) else f for f, e in zip(found, expected, strict=True)] == expected
    assert recorded, "a run without a dispatch shows nothing"
    return recorded
