"""What a profile holds, in a few lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from dispatchgen.profile.schema import Profile


def summary(profile: Profile) -> Iterator[str]:
    """`mlp on cpu: 3 runs, 2 dispatches`; then a line per dispatch."""
    runs, count = len(profile.runs), len(profile.dispatches)
    yield f"{profile.model} on {profile.backend}: {runs} {_plural('run', runs)}, {count} {_plural('dispatch', count)}"
    for dispatch in profile.dispatches:
        times, sizes = sum(entry.count for entry in dispatch.entries), len(dispatch.entries)
        yield f"  {dispatch.operation}: {times} {_plural('time', times)}, {sizes} {_plural('size', sizes)}"


def _plural(word: str, number: int) -> str:
    return word if number == 1 else f"{word}es" if word.endswith("ch") else f"{word}s"
