"""What is done with baselines: saving, checking, updating. The entry of the package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dispatchgen.baseline.as_results import as_results, noise_of
from dispatchgen.baseline.find import find_baseline, path_for
from dispatchgen.baseline.given import lacking, unlike
from dispatchgen.baseline.make import Given, make
from dispatchgen.baseline.schema import Baseline
from dispatchgen.baseline.store import write_baseline
from dispatchgen.baseline.thresholds import check_patterns, check_thresholds, limits
from dispatchgen.baseline.update import Change, Policy, updated
from dispatchgen.comparison.compare import compare
from dispatchgen.comparison.conditions import Condition, failures, floor_of
from dispatchgen.comparison.options import Options
from dispatchgen.comparison.schema import Comparison
from dispatchgen.errors import BaselineError, ComparisonError, Place, Problem
from dispatchgen.manifest.names import show
from dispatchgen.manifest.suite import Suite
from dispatchgen.results import lean
from dispatchgen.results.lean import Key

#: What makes a check fail where nothing else is asked for.
FAIL_ON = (Condition("slower"), Condition("failed"), Condition("gone"))
_DEFAULT = Policy()


@dataclass(frozen=True)
class Saved:
    """A baseline that was written."""

    path: Path
    baseline: Baseline
    left_out: Mapping[Key, str]  #: Why rows of the results are not in it.
    notes: tuple[str, ...] = ()  #: What is odd about the results.


@dataclass(frozen=True)
class Checked:
    """How results compare with a baseline."""

    path: Path
    comparison: Comparison
    failures: tuple[Problem, ...]  #: What makes the check fail; empty: it holds.


@dataclass(frozen=True)
class Update:
    """What a baseline becomes; it is not written yet."""

    path: Path
    baseline: Baseline
    comparison: Comparison  #: With what the baseline was.
    changes: tuple[Change, ...]

    def write(self) -> bool:
        """Writes the baseline; returns whether it changed. Raises OutputError when it cannot be written."""
        return write_baseline(self.path, self.baseline)


def save(suite: Suite, name: str, given: Sequence[Given], *, force: bool = False) -> Saved:
    """Writes the baseline of that name for the machine of the results, one or more of the same code.

    Args:
      force: Whether one that is there is replaced, and results that differ in more than noise are taken.

    Raises BaselineError: there is one already, or the results differ (unless `force`), or they cannot be one.
    """
    made = make(given)
    differing = tuple(unlike(given))
    if differing and not force:
        raise BaselineError(*differing)
    path = path_for(suite.root, name, given[0][1])
    if path.exists() and not force:
        message = f"there is a baseline {show(name)} for this machine already"
        hint = f"`dispatchgen baseline update {name} RESULT` shows what changes, --force replaces it"
        raise BaselineError(Problem(message, Place(str(path)), hint))
    write_baseline(path, made.baseline)
    notes = [f"{each.place.file}: {each.message}" for each in differing if each.place]
    notes += [f"{file}: {why}" for file, result in given if (why := lacking(result))]
    return Saved(path, made.baseline, made.left_out, tuple(notes))


def check(suite: Suite, name: str, results: lean.Results, fail_on: Sequence[Condition] = FAIL_ON) -> Checked:
    """Compares results with the baseline of that name for their machine, by the thresholds of the manifest.

    Args:
      fail_on: What makes the check fail besides that nothing can be compared.

    Raises:
      MissingBaselineError: there is none for this machine.
      BaselineError: it cannot be read.
      ManifestError: a threshold fits no benchmark.
    """
    found = find_baseline(suite.root, name, results)
    comparison = compare_with(suite, found.baseline, results, fail_on)
    return Checked(found.path, comparison, tuple(failures(comparison, fail_on)))


def propose_update(suite: Suite, name: str, results: lean.Results, policy: Policy = _DEFAULT) -> Update:
    """What the baseline of that name for the machine of the results becomes of them. Writes nothing.

    Raises as `check` does, and BaselineError for patterns of `policy` that fit no benchmark, and where it removes what
    is gone and the results do not tell that.
    """
    if policy.remove_gone and (why := lacking(results)):
        hint = "without --remove-gone, or the results of all of the suite"
        raise BaselineError(Problem(f"what is gone cannot be told: {why}", hint=hint))
    found = find_baseline(suite.root, name, results)
    comparison = compare_with(suite, found.baseline, results)
    check_patterns("--accept-slower", policy.accept_slower, [row.key for row in comparison.rows])
    baseline, changes = updated(found.baseline, results, comparison, policy)
    return Update(found.path, baseline, comparison, changes)


def update(suite: Suite, name: str, results: lean.Results, policy: Policy = _DEFAULT) -> Update:
    """Writes what `propose_update` proposes, raises what it raises, and returns it."""
    proposed = propose_update(suite, name, results, policy)
    proposed.write()
    return proposed


def compare_with(
    suite: Suite, baseline: Baseline, results: lean.Results, fail_on: Sequence[Condition] = ()
) -> Comparison:
    """Compares results with a baseline. Raises ManifestError where a threshold fits no benchmark.

    Raises BaselineError where the machine is not as it was.

    Args:
      fail_on: What will be checked: a limit below the floor lowers it.
    """
    check_thresholds(suite, [*(row.key for row in baseline.rows), *(row.key for row in lean.rows(results))])
    floor = floor_of(Options.floor, fail_on)
    options = Options(floor=floor, noise=noise_of(baseline), limits=limits(suite.thresholds))
    try:
        return compare(as_results(baseline), results, options)
    except ComparisonError as error:
        hint = "`dispatchgen baseline save --force` replaces it by one of the machine as it is"
        raise BaselineError(*(replace(each, hint=each.hint and hint) for each in error.problems)) from None
