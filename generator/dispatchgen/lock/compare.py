"""What differs between a lock and today: what it was made from (*stale*), or the dispatches themselves (*drifted*)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from dispatchgen.extract.schema import BackendDispatches, Benchmark, Dispatch, Skipped
from dispatchgen.lock.schema import Lock, MadeFrom


@dataclass(frozen=True)
class Difference:
    """How the dispatches of a model on one backend differ from what its lock lists. False where they do not."""

    backend: str
    added_functions: tuple[str, ...] = ()  #: Entry functions that the lock has no call of.
    added: tuple[
        str, ...
    ] = ()  #: Names of dispatches that the lock does not list, with other content than any it lists.
    removed: tuple[str, ...] = ()  #: Names of dispatches that are no longer there.
    renamed: tuple[tuple[str, str], ...] = ()  #: Old and new name of dispatches of the same content.
    symbols: tuple[tuple[str, str, str], ...] = ()  #: Name, old and new IREE symbol of dispatches of the same content.
    changed: tuple[str, ...] = ()  #: Names of dispatches of other content.
    added_benchmarks: tuple[str, ...] = ()  #: Of dispatches that both have.
    removed_benchmarks: tuple[str, ...] = ()  #: Of dispatches that both have.
    sizes: tuple[str, ...] = ()  #: Benchmarks of another workload, other constants or other binding lengths, in words.
    archives: tuple[
        str, ...
    ] = ()  #: Dispatches whose data lie beside their module and did not, or the other way round.
    counts: tuple[str, ...] = ()  #: Benchmarks that run more or less often, in words.
    skipped: tuple[str, ...] = ()  #: What is skipped now and was not, in words.
    unskipped: tuple[str, ...] = ()  #: What was skipped and is not now, in words.

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in _TITLES)

    @property
    def needs_new_lock(self) -> bool:
        """Whether the lock does not fit a build: it lists a dispatch, benchmark or archive too many, or one too few.

        A function that the lock has no call of counts as well, whatever it dispatches.
        """
        names = (self.added, self.removed, self.renamed, self.added_benchmarks, self.removed_benchmarks, self.archives)
        return any(names) or bool(self.added_functions) or bool(self.skipped) or bool(self.unskipped)

    def lines(self) -> Iterator[str]:
        """The difference for people to read, one line per entry: `added: matmul_Dx64x128_f32`."""
        for title, entries in self.entries():
            for entry in entries:
                yield f"{title}: {entry}"

    def entries(self) -> Iterator[tuple[str, list[str]]]:
        """Each kind of difference, by its title, with its entries in words."""
        for name, title in _TITLES.items():
            yield title, [entry if isinstance(entry, str) else _arrow(entry) for entry in getattr(self, name)]

    def __str__(self) -> str:
        return "\n".join(self.lines())


#: Field of Difference -> what its entries are called.
_TITLES = {
    "added_functions": "added function",
    "added": "added",
    "removed": "removed",
    "renamed": "renamed",
    "symbols": "other symbol",
    "changed": "changed",
    "added_benchmarks": "added benchmark",
    "removed_benchmarks": "removed benchmark",
    "sizes": "other size",
    "archives": "data now in or no longer in a file",
    "counts": "other count",
    "skipped": "now skipped",
    "unskipped": "no longer skipped",
}


def stale_parts(old: MadeFrom, new: MadeFrom) -> list[str]:
    """What a lock was made from and is no longer the same, in words; empty: the lock is current."""
    parts = []
    if old.source != new.source:
        parts.append("the source file changed")
    parts += stale_settings(old.settings, new.settings)
    parts += [f"the profile {path} changed" for path in _changed(old.profiles, new.profiles)]
    parts += [f"the file {path} changed, which flags name" for path in _changed(old.flag_files, new.flag_files)]
    if old.compiler != new.compiler:
        parts.append(f"the compiler was {old.compiler} and is {new.compiler}")
    return parts


def _changed(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    """The paths whose digests differ."""
    return (path for path in sorted({*old, *new}) if old.get(path) != new.get(path))


def stale_settings(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    """What of the manifest, by its digests per backend (`MadeFrom.settings`), is no longer the same, in words."""
    for backend in sorted({*old, *new}):
        if backend not in old:
            yield f"backend {backend} was added"
        elif backend not in new:
            yield f"backend {backend} was removed"
        elif old[backend] != new[backend]:
            yield f"the manifest says something else of the model on backend {backend}"


def added_functions(old: Lock, entries: Iterable[str]) -> tuple[str, ...]:
    """Which of a program's entry functions a lock has no call of, where it is to have calls of all of them."""
    if old.entry is not None:
        return ()
    called = {call.function for call in old.calls if call.is_run}
    if not called:  # all sizes are of profiles, which may be of any function
        return ()
    return tuple(dict.fromkeys(name for name in entries if name not in called))


def compare(old: BackendDispatches, new: BackendDispatches, functions: tuple[str, ...] = ()) -> Difference:
    """How `new` differs from what the lock lists, `old`; `functions` are the `added_functions`.

    Dispatches are the same where their names are, since a renewed lock keeps the names of unchanged content. Those that
    only one side has are paired by content: a pair is a renamed dispatch.
    """
    before = {dispatch.name: dispatch for dispatch in old.dispatches}
    after = {dispatch.name: dispatch for dispatch in new.dispatches}
    both = [(before[name], after[name]) for name in before if name in after]
    renamed, removed, added = _pair_by_content(
        [d for name, d in before.items() if name not in after], [d for name, d in after.items() if name not in before]
    )
    same_content = [(a, b) for a, b in both if a.content == b.content]
    benchmarks = [({x.name: x for x in a.benchmarks}, {x.name: x for x in b.benchmarks}) for a, b in both]
    return Difference(
        backend=new.backend,
        added_functions=functions,
        added=tuple(dispatch.name for dispatch in added),
        removed=tuple(dispatch.name for dispatch in removed),
        renamed=tuple((a.name, b.name) for a, b in renamed),
        symbols=tuple((a.name, _symbol(a), _symbol(b)) for a, b in same_content if _symbol(a) != _symbol(b)),
        changed=tuple(a.name for a, b in both if a.content != b.content),
        added_benchmarks=tuple(name for a, b in benchmarks for name in b if name not in a),
        removed_benchmarks=tuple(name for a, b in benchmarks for name in a if name not in b),
        sizes=tuple(text for a, b in benchmarks for text in _sizes(a, b)),
        archives=tuple(a.name for a, b in both if a.archive != b.archive),
        counts=tuple(text for a, b in benchmarks for text in _counts(a, b)),
        skipped=_skips_missing_from(old.skipped, new.skipped),
        unskipped=_skips_missing_from(new.skipped, old.skipped),
    )


def _pair_by_content(
    gone: Iterable[Dispatch], come: Iterable[Dispatch]
) -> tuple[list[tuple[Dispatch, Dispatch]], list[Dispatch], list[Dispatch]]:
    """Pairs of equal content, then what is left of `gone` and of `come`."""
    rest = list(come)
    pairs: list[tuple[Dispatch, Dispatch]] = []
    unpaired: list[Dispatch] = []
    for dispatch in gone:
        twin = next((other for other in rest if other.content == dispatch.content), None)
        if twin is None:
            unpaired.append(dispatch)
        else:
            pairs.append((dispatch, twin))
            rest.remove(twin)
    return pairs, unpaired, rest


def _symbol(dispatch: Dispatch) -> str:
    return f"{dispatch.executable}::{dispatch.export}"


def _sizes(old: Mapping[str, Benchmark], new: Mapping[str, Benchmark]) -> Iterator[str]:
    for name, a in old.items():
        b = new.get(name)
        if b is None:
            continue
        parts = []
        if a.workload != b.workload:
            parts.append(f"workload {_numbers(a.workload)} -> {_numbers(b.workload)}")
        if a.constants != b.constants:
            parts.append(f"constants {_constants(a)} -> {_constants(b)}")
        if a.bindings != b.bindings:
            parts.append(f"bindings {_numbers(a.bindings)} -> {_numbers(b.bindings)} bytes")
        if parts:
            yield f"{name}: {', '.join(parts)}"


def _counts(old: Mapping[str, Benchmark], new: Mapping[str, Benchmark]) -> Iterator[str]:
    for name, a in old.items():
        b = new.get(name)
        if b is None:
            continue
        calls = [call for call in sorted({*a.counts, *b.counts}) if a.counts.get(call, 0) != b.counts.get(call, 0)]
        if calls:
            texts = (f"{_count(a, call)} -> {_count(b, call)} at {call}" for call in calls)
            yield f"{name}: {', '.join(texts)}"


def _count(benchmark: Benchmark, call: str) -> str:
    count = benchmark.counts.get(call, 0)
    return "unknown" if count is None else str(count)


def _skips_missing_from(known: Iterable[Skipped], skips: Iterable[Skipped]) -> tuple[str, ...]:
    # IREE numbers its symbols; an operation that is skipped for the same reason is the same skip under another number.
    before = {(skip.operation, skip.calls, skip.reason) for skip in known}
    return tuple(
        f"{skip.export} at {', '.join(skip.calls)}: {skip.reason}"
        for skip in skips
        if (skip.operation, skip.calls, skip.reason) not in before
    )


def _numbers(values: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, values))}]"


def _constants(benchmark: Benchmark) -> str:
    return f"[{', '.join(f'{value} : {kind}' for kind, value in benchmark.constants)}]"


def _arrow(entry: tuple[str, ...]) -> str:
    """`old -> new`, or `name: old -> new`."""
    *name, old, new = entry
    return "".join(f"{part}: " for part in name) + f"{old} -> {new}"
