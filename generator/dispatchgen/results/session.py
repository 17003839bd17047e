"""What a run has collected so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dispatchgen.buildtree.layout import SUBSTITUTE_MODEL
from dispatchgen.manifest.suite import Device
from dispatchgen.results.proof import Built, examine_model, notes
from dispatchgen.results.schema import BuildFailure, CallResult, Cause, DeviceUsed, Host, NotRun
from dispatchgen.selection.variants import Variant

#: Called before each process with the number of processes that have ended, of how many, and what starts now.
OnStart = Callable[[int, int, str], None]


@dataclass
class Session:
    """What a run has collected so far, and how far it is."""

    total: int
    on_start: OnStart
    done: int = 0
    calls: list[CallResult] = field(default_factory=list)
    not_run: list[NotRun] = field(default_factory=list)
    host: Host | None = None
    #: By model, backend and variant: what is not what it should be, though it was built; of what is not run.
    unproved: dict[tuple[str, str, str], BuildFailure] = field(default_factory=dict)
    absent: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)  #: (URI, run flags) -> why.

    def start(self, what: str) -> None:
        """Tells what starts now."""
        self.on_start(self.done, self.total, what)
        self.done += 1

    def leave(
        self, built: Built, variants: Sequence[Variant], cause: Cause, reason: str, device: Device | None = None
    ) -> None:
        """Notes why what was built is not run, and what its modules show all the same."""
        seen = [note for variant in variants for note in notes(built, variant)]
        self.not_run.append(not_run(built, cause, reason, device, seen))
        for variant in variants:
            failure = examine_model(built, variant).failure
            if failure is not None and built.why_not(built.whole_model(variant.id)) is None:
                self.unproved[built.model, built.backend, variant.id] = BuildFailure(
                    step=SUBSTITUTE_MODEL,
                    model=built.model,
                    backend=built.backend,
                    dispatch=None,
                    substitution=variant.id,
                    reason=failure,
                )


def not_run(built: Built, cause: Cause, reason: str, device: Device | None = None, seen: Sequence[str] = ()) -> NotRun:
    """Why something is not run.

    Args:
      built: What is not run.
      cause: The kind of reason.
      reason: For people.
      device: Where it is not run; None: nowhere.
      seen: What its modules show all the same.
    """
    used = None if device is None else device_used(device)
    return NotRun(model=built.model, backend=built.backend, device=used, cause=cause, reason=reason, notes=tuple(seen))


def device_used(device: Device) -> DeviceUsed:
    """A device as the results name it."""
    return DeviceUsed(id=device.id, uri=device.uri, run_flags=device.run_flags)
