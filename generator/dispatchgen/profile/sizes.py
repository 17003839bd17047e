"""Sizes for the dispatches of a program, from a profile or from a lock that was made with one.

Dispatches are the same where their content is. Sizes are used only where they fit what the program passes to the
dispatch, and where the kernel itself makes the same workload of the push constants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dispatchgen.errors import Place, Problem, ProfileError
from dispatchgen.extract.interface import interface_of
from dispatchgen.extract.program import Program
from dispatchgen.extract.recorded import Recorded
from dispatchgen.extract.schema import BackendDispatches, Call, Dispatch, Omitted, Skipped
from dispatchgen.extract.sizes import Sizes
from dispatchgen.extract.values import Unknown
from dispatchgen.manifest.suite import ProfileShapes
from dispatchgen.profile.match import codes_of, paired, profiled
from dispatchgen.profile.schema import Entry, Profile, ProfiledDispatch
from dispatchgen.profile.workload import Workloads

_Key = tuple[str, str]  #: Executable and export.


def profile_sizes(program: Program, profile: Profile, shapes: ProfileShapes, compiler: str) -> Recorded:
    """What a profile holds for today's program.

    Args:
      profile: Of the program's source and backend.
      shapes: What the manifest says of the profile.
      compiler: Version text of today's compiler.

    Raises ProfileError where nothing of it fits the program.
    """
    pairs = paired(codes_of(program), profile.dispatches)
    reason = f"the profile {shapes.file} is of other code of it, made by iree-compile {profile.compiler}"
    reason += "" if compiler == profile.compiler else f"; today's is {compiler}"
    kept = {
        key: dispatch.model_copy(update={"entries": dispatch.entries[: shapes.top]}) for key, dispatch in pairs.same
    }
    counts, unfit = _counts(program, kept)
    if not counts:
        message = f"nothing of the profile fits the program: {next(iter(unfit.values()), reason)}"
        raise ProfileError(Problem(message, Place(shapes.file), "dispatchgen capture"))
    return Recorded(
        counts=counts,
        omitted={key: left for key, dispatch in pairs.same if (left := _omitted(dispatch, shapes.top)) is not None},
        unusable={**{key: reason for key, _ in pairs.changed}, **unfit},
        missing=tuple(
            Skipped(
                executable=dispatch.executable,
                export=dispatch.export,
                operation=dispatch.operation,
                calls=(shapes.label,),
                reason=reason,
            )
            for dispatch in pairs.gone
        ),
    )


def _omitted(dispatch: ProfiledDispatch, top: int | None) -> Omitted | None:
    left = dispatch.entries[top:] if top is not None else ()
    return Omitted(sizes=len(left), runs=sum(entry.count for entry in left)) if left else None


def locked_sizes(program: Program, locked: BackendDispatches, calls: Iterable[Call]) -> dict[str, Recorded]:
    """What a lock holds for a program, by the name of each call that stands for a profile."""
    return {call.name: _locked(program, locked, call.name) for call in calls if not call.is_run}


def _locked(program: Program, locked: BackendDispatches, call: str) -> Recorded:
    by_symbol = {(dispatch.executable, dispatch.export): dispatch for dispatch in locked.dispatches}
    pairs = paired(codes_of(program), [_held(dispatch, call) for dispatch in locked.dispatches])
    found = {key: dispatch for key, dispatch in (*pairs.same, *pairs.changed) if dispatch.entries}
    counts, unfit = _counts(program, found)
    omitted = {
        key: by_symbol[dispatch.executable, dispatch.export].omitted.get(call) for key, dispatch in found.items()
    }
    skips = {
        (s.executable, s.export): s.model_copy(update={"calls": (call,)}) for s in locked.skipped if call in s.calls
    }
    reasons = {key: skip.reason for key, skip in skips.items() if key in program.exports}
    return Recorded(
        counts=counts,
        omitted={key: each for key, each in omitted.items() if each is not None},
        unusable=reasons | unfit,
        missing=tuple(skip for key, skip in skips.items() if key not in program.exports),
    )


def _held(dispatch: Dispatch, call: str) -> ProfiledDispatch:
    """What a lock has of a dispatch from a profile."""
    entries = tuple(
        Entry(
            count=count,
            workload=benchmark.workload,
            constants=tuple(value for _, value in benchmark.constants),
            bindings=benchmark.bindings,
        )
        for benchmark in dispatch.benchmarks
        if (count := benchmark.counts.get(call))
    )
    return profiled(dispatch).model_copy(update={"entries": entries})


def _counts(
    program: Program, dispatches: Mapping[_Key, ProfiledDispatch]
) -> tuple[dict[_Key, Mapping[Sizes, int]], dict[_Key, str]]:
    """How often each dispatch runs with which sizes; and why those of a dispatch do not fit the program."""
    workloads = Workloads(program)
    counts: dict[_Key, Mapping[Sizes, int]] = {}
    unfit: dict[_Key, str] = {}
    for key, dispatch in dispatches.items():
        try:
            counts[key] = {_sizes(program, workloads, key, entry): entry.count for entry in dispatch.entries}
        except _Unfit as error:
            unfit[key] = f"its recorded sizes do not fit it: {error}"
    return counts, unfit


class _Unfit(Exception):
    """Sizes are not those of a dispatch; the text says why."""


def _sizes(program: Program, workloads: Workloads, key: _Key, entry: Entry) -> Sizes:
    interface = interface_of(program, *key)
    if interface is None:
        raise _Unfit("no place in the program dispatches it, or not all in the same way")
    for what, found, expected in (
        ("push constants", len(entry.constants), len(interface.constants)),
        ("bindings", len(entry.bindings), len(interface.written)),
    ):
        if found != expected:
            raise _Unfit(f"{found} {what} were recorded, the program passes {expected}")
    for type_ in interface.constants:
        if type_ != "i32":
            raise _Unfit(f"it takes a push constant of type {type_}")
    workload = workloads.of(program.exports[key], entry.constants)
    if workload != entry.workload:
        found_text = workload.reason if isinstance(workload, Unknown) else f"the workload {list(workload)}"
        raise _Unfit(f"the kernel makes {found_text} of its push constants, recorded is {list(entry.workload)}")
    return Sizes(entry.workload, tuple(zip(interface.constants, entry.constants, strict=True)), entry.bindings)
