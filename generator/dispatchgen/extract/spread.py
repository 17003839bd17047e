"""Sizes that are worth a benchmark, of all that a program takes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

#: Members of a progression that are looked at for one with some property.
_TRIES = 256


def candidates(choices: Sequence[range], tiles: Sequence[int]) -> list[int]:
    """Sizes from arithmetic progressions, none of them empty, the ones that tell most first.

    Both ends; one that tiles do not divide, so that the last tile is cut off; a multiple of the largest tile; powers of
    two, those in the middle first. A tile that is larger than all sizes does not count.

    Args:
      choices: The sizes that are legal.
      tiles: Tile and vector sizes of the kernels.
    """
    ends = sorted({end for choice in choices for end in (choice[0], choice[-1])})
    found = [ends[0], ends[-1]]
    for tile in sorted((tile for tile in set(tiles) if 1 < tile <= ends[-1]), reverse=True)[:1]:
        found += [size for size in (_uneven(choices, tile, tiles), _even(choices, tile)) if size is not None]
    found += ends[1:-1]
    found += _bisected(sorted(set(_powers(choices)) - set(found)))
    return list(dict.fromkeys(found))


def combinations(sizes: Mapping[str, Sequence[int]]) -> Iterator[dict[str, int]]:
    """Sizes for all keys, each combination once: first those in which each size of each key is there at least once,
    then the others, sizes that tell most first."""
    names, lists = list(sizes), list(sizes.values())
    longest = max(map(len, lists), default=1)
    side_by_side = [tuple(each[index % len(each)] for each in lists) for index in range(longest)]
    done = set(side_by_side)
    yield from (dict(zip(names, each, strict=True)) for each in dict.fromkeys(side_by_side))
    for total in range(sum(len(each) - 1 for each in lists) + 1):
        for ranks in _ranks([len(each) for each in lists], total):
            combination = tuple(each[rank] for each, rank in zip(lists, ranks, strict=True))
            if combination not in done:
                yield dict(zip(names, combination, strict=True))


def _ranks(lengths: Sequence[int], total: int) -> Iterator[tuple[int, ...]]:
    """Every choice of indices into lists of these lengths that add up to `total`."""
    if not lengths:
        if total == 0:
            yield ()
        return
    for first in range(min(total, lengths[0] - 1) + 1):
        yield from ((first, *rest) for rest in _ranks(lengths[1:], total - first))


def _even(choices: Sequence[range], tile: int) -> int | None:
    """The smallest size that is a multiple of a tile."""
    return next((size for size in _from(choices, tile) if size % tile == 0), None)


def _uneven(choices: Sequence[range], tile: int, tiles: Sequence[int]) -> int | None:
    """The smallest size above a tile that is a multiple of none of the tiles, else not of this one; else below it."""
    nearby = [*_from(choices, tile + 1), *_below(choices, tile)]
    others = [size for size in tiles if size > 1]
    none_divides = (size for size in nearby if size > 1 and all(size % other for other in others))
    return next(itertools.chain(none_divides, (size for size in nearby if size > 1 and size % tile)), None)


def _from(choices: Sequence[range], start: int) -> list[int]:
    """The smallest sizes from `start` on."""
    found: list[int] = []
    for choice in choices:
        index = max(0, -(-(start - choice.start) // choice.step))
        found += choice[index : index + _TRIES]
    return sorted(set(found))[:_TRIES]


def _below(choices: Sequence[range], stop: int) -> list[int]:
    """The largest sizes below `stop`, from there down."""
    found: list[int] = []
    for choice in choices:
        index = max(0, -(-(stop - choice.start) // choice.step))
        found += choice[max(0, index - _TRIES) : index]
    return sorted(set(found), reverse=True)[:_TRIES]


def _powers(choices: Sequence[range]) -> Iterator[int]:
    """Powers of two, and the step of a progression times powers of two."""
    for choice in choices:
        for base in {1, choice.step}:
            size = base
            while size < choice.stop:
                if size in choice:
                    yield size
                size *= 2


def _bisected(sizes: Sequence[int]) -> list[int]:
    """Sorted sizes in an order of which each start is spread evenly: the middle one, those of the halves..."""
    found, todo = [], [sizes]
    for part in todo:
        if part:
            middle = len(part) // 2
            found.append(part[middle])
            todo += [part[:middle], part[middle + 1 :]]
    return found
