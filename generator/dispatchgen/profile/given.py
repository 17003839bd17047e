"""Files whose counts are added up: one that is given twice would count twice."""

from __future__ import annotations

import filecmp
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

from dispatchgen.errors import Place, Problem, ProfileError


def check_given_once(files: Sequence[Path]) -> None:
    """Raises ProfileError where a file is given more than once, under whatever names."""
    problems = [
        Problem(f"the file is given twice, and would count twice: it is {first}", Place(str(second)), "give it once")
        for first, second in combinations(files, 2)
        if first.exists() and second.exists() and first.samefile(second)
    ]
    if problems:
        raise ProfileError(*dict.fromkeys(problems))


def notes_of_equal(files: Sequence[Path]) -> Iterator[str]:
    """What there is to say of files with the same content: runs that were the same, or a file and its copy."""
    for index, second in enumerate(files):
        first = next((each for each in files[:index] if filecmp.cmp(each, second, shallow=False)), None)
        if first is not None:
            yield f"{second} has the same content as {first}: both count"
