"""Results as comparisons read them: of made-up results, and of rounds alone where there are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

import made_up_results
from dispatchgen.results import lean
from dispatchgen.results.estimate import estimate
from dispatchgen.results.schema import Results

_SOFTWARE = made_up_results.SOFTWARE.model_copy(update={"runtime": None})


def read(results: Results) -> lean.Results:
    """What is read of results."""
    return msgspec.json.decode(results.model_dump_json().encode(), type=lean.Results)


def of_rounds(
    rounds: Mapping[str, Sequence[float]],
    *,
    id: str,
    session: str | None = None,
    code: Mapping[str, str] | None = None,
) -> lean.Results:
    """Results of one call; `rounds` are by benchmark, each of one repetition, at least two.

    The runtime is not known: it may be another, so that the same code may have become slower.

    Args:
      code: Hash of the module, by benchmark; else it is not known.
    """
    frame = read(made_up_results.results([made_up_results.call([])], id=id, session=session, software=_SOFTWARE))
    dispatches = tuple(_dispatch(name, each, (code or {}).get(name)) for name, each in rounds.items())
    call = msgspec.structs.replace(frame.calls[0], dispatches=dispatches, whole_model=lean.WholeModel())
    return msgspec.structs.replace(frame, calls=(call,))


def _dispatch(name: str, rounds: Sequence[float], sha256: str | None) -> lean.Dispatch:
    found = estimate(rounds)
    timing = lean.Timing(
        seconds=found.seconds,
        cpu_seconds=found.seconds,
        low=found.low,
        high=found.high,
        rounds=tuple(range(len(rounds))),
        fastest=tuple(rounds),
    )
    return lean.Dispatch(
        name=name,
        benchmark=name,
        operation=name,
        executable=name,
        export=name,
        content=f"{name} {sha256}",
        workload=(),
        constants=(),
        bindings=(),
        count=1,
        timing=timing,
        compiled=None if sha256 is None else lean.Compiled(size=1, sha256=sha256),
    )
