"""A comparison of two results as data: what `dispatchgen compare --json` writes. All times are in seconds.

BASE is what is compared with, NEW what is compared. All ratios are NEW by BASE: below 1, NEW is faster.
"""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from dispatchgen.results.lean import Key

#: Version of the format that this dispatchgen writes.
COMPARISON_VERSION = 1

Verdict = Literal["slower", "faster", "failed", "failing", "fixed", "gone", "new", "noisy", "same"]

#: Those that call for attention first.
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


class Row(msgspec.Struct, frozen=True, gc=False):
    """A benchmark in both results, or in one of them. The first eight are its `Key`, in NEW where it is there."""

    model: str
    backend: str
    device: str
    call: str
    kind: str  #: `dispatch`, `initializer` or `model`.
    benchmark: str  #: Of a whole model: empty.
    variant: str  #: Id of a substitution or combination; empty: the compiler's own.
    caches: str  #: `warm` or `cold`.
    #: `faster`, `slower`: NEW is. `same`: within the floor. `noisy`: it cannot be told. `new`, `gone`: only in NEW,
    #: only in BASE. `failed`: measured in BASE, fails in NEW. `fixed`: the opposite. `failing`: fails in NEW, and was
    #: not measured in BASE.
    verdict: Verdict
    base: float | None = None  #: Time in BASE. Null: not measured.
    new: float | None = None  #: Time in NEW.
    ratio: float | None = None  #: Null: one of the times is. Of results measured at once: the mean of rounds' ratios.
    low: float | None = None  #: Lower end of the 95 % confidence interval of `ratio`. Null: too few rounds.
    high: float | None = None  #: Its upper end.
    #: Probability of such a difference where there is none, adjusted for the number of benchmarks. Null: not tested.
    p: float | None = None
    #: By how much NEW had to be slower to be called so, relative: the largest of the floors and of what runs of the
    #: same code differ by. Null: not tested.
    threshold: float | None = None
    base_rounds: int = 0  #: Rounds that it was measured in.
    new_rounds: int = 0
    count: int | None = None  #: How often it runs per call, in NEW where it is there. Null: not told.
    operation: str = ""  #: Operation and types; of a whole model empty.
    renamed_from: str | None = None  #: Its name in BASE, where that is another one: it was found by its content.
    same_code: bool | None = None  #: Whether the `.vmfb` is the same, byte for byte. Null: not known.
    reason: str | None = None  #: What there is to say of the verdict, for people.
    limit: float | None = None  #: How much slower it may get, relative, where a limit of its own was given.
    ignored: bool = False  #: Whether nothing that it does makes a check fail.

    @property
    def key(self) -> Key:
        """What it is known by."""
        return Key(
            self.model, self.backend, self.device, self.call, self.kind, self.benchmark, self.variant, self.caches
        )

    @property
    def key_in_base(self) -> Key:
        """The same in BASE, where it may have had another name."""
        return self.key if self.renamed_from is None else self.key._replace(benchmark=self.renamed_from)


class CallEffect(msgspec.Struct, frozen=True, gc=False):
    """What all dispatches together mean for one call of a model: the sum of time x count, of the compiler's own."""

    model: str
    backend: str
    device: str
    call: str
    base: float  #: Sum in BASE.
    new: float  #: Sum in NEW.
    ratio: float
    low: float | None  #: Lower end of the 95 % confidence interval of `ratio`. Null: too few rounds.
    high: float | None  #: Its upper end.
    dispatches: int  #: Dispatches of NEW in the sum.
    #: Dispatches that are in neither sum because they were not measured in both, or because nothing tells how often
    #: they run. 0: the sums are of all that the call runs, whatever its dispatches are called in BASE and NEW.
    left_out: int
    whole_model: float | None  #: Ratio of the whole model's own times. Null: not measured in both.
    whole_model_verdict: Verdict | None


class GeometricMean(msgspec.Struct, frozen=True, gc=False):
    """Geometric mean of the ratios of dispatches (the compiler's own, warm caches, not ignored), of the same weight."""

    ratio: float
    low: float | None  #: Lower end of the 95 % confidence interval, from those of the ratios. Null: too few rounds.
    high: float | None
    dispatches: int  #: How many ratios.


class Run(msgspec.Struct, frozen=True):
    """One of the results."""

    id: str
    started: str
    finished: str | None
    compiler: str
    commit: str | None
    dirty: bool | None


Between = Literal["repeated", "same-code", "all", "at-once", "rounds"]


class Criteria(msgspec.Struct, frozen=True):
    """When a row is called faster or slower: all of these hold."""

    floor: float  #: The difference is at least this, relative to the shorter time.
    absolute_floor: float  #: The difference is at least this, in seconds.
    alpha: float  #: `p` is below this.
    #: The difference is above `beyond` x `between`: by what runs of the same code differ, as standard deviation of the
    #: logarithm. Null: of each row another. Of `all`: around `together`, which comes on top.
    between: float | None
    #: Where that is from: `repeated` (runs of the same code that were compared before), `same-code` (rows of these
    #: results with the same `.vmfb`), `all` (all rows: they are taken to be the same on the whole), `at-once` (BASE and
    #: NEW were measured in turns: there is nothing between them), `rounds` (not known: taken to be what blocks of a
    #: row's rounds differ by, at least 2 %).
    between_from: Between
    beyond: float = 3.0  #: More for many benchmarks: some of them are always far out.
    #: By what all benchmarks moved together, or of `same-code` those: the median ratio. 1: not known, or no matter.
    together: float = 1.0


class Differences(msgspec.Struct, frozen=True):
    """What differs besides the code, in words: BASE first."""

    machine: tuple[str, ...] = ()
    software: tuple[str, ...] = ()
    measuring: tuple[str, ...] = ()  #: Settings of calls, and what buffers held.


class Comparison(msgspec.Struct, frozen=True):
    """The whole file."""

    version: int
    base: Run
    new: Run
    paired: bool  #: Whether BASE and NEW were measured at once: then rounds are compared one by one.
    criteria: Criteria
    differences: Differences
    notes: tuple[str, ...]  #: What to know before reading numbers.
    counts: dict[Verdict, int]  #: Number of rows by verdict; all verdicts are there.
    geometric_mean: GeometricMean | None  #: Null: no dispatch was measured in both.
    calls: tuple[CallEffect, ...]
    rows: tuple[Row, ...]  #: In the order of NEW; then what is gone, in the order of BASE.
