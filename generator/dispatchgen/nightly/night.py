"""The steps of a night. The entry of the package."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dispatchgen.baseline.find import MissingBaselineError
from dispatchgen.baseline.job import FAIL_ON, check
from dispatchgen.comparison.conditions import Condition
from dispatchgen.comparison.schema import Comparison
from dispatchgen.comparison.text import counted
from dispatchgen.errors import DispatchgenError, Place, Problem, ResultsError
from dispatchgen.files import write_if_changed
from dispatchgen.job import Options, run_job
from dispatchgen.manifest.suite import Preset, Suite
from dispatchgen.nightly import complete, locks
from dispatchgen.nightly.outputs import Outputs
from dispatchgen.observer import Observer
from dispatchgen.results.journal import partial_of
from dispatchgen.results.load import load, load_full
from dispatchgen.results.merge import merge
from dispatchgen.results.parts import nothing_in, part_of
from dispatchgen.results.schema import Results
from dispatchgen.results.verdict import verdict
from dispatchgen.results.write import text_of

#: A night without a preset: everything, against nothing.
ALL = Preset("all", "all")


@dataclass(frozen=True)
class Night:
    """What is to be done."""

    whole: Suite  #: All of the manifest.
    selected: Suite  #: What the preset selects.
    preset: Preset
    outputs: Outputs
    conditions: Sequence[Condition] = FAIL_ON  #: What of the comparison with the baseline is a failure.


@dataclass(frozen=True)
class Judged:
    """What became of it."""

    summary: str  #: One line.
    comparison: Comparison | None  #: With the baseline; None: it has none, or none that can be used.
    problems: Sequence[Problem]  #: What makes the night a failure.


def measure(night: Night, options: Options, observer: Observer, renew: str | None = None) -> list[Problem]:
    """Checks the locks, builds unless `options` name a build, and measures. What an earlier night left goes first.

    Args:
      options: How; the result file and what the preset says are filled in here.
      renew: The command that renews the locks, for messages.

    Returns:
      What is wrong with models that could not be locked; the rest is measured.

    Raises:
      CheckFailed: a lock is stale. Nothing was built or measured.
      DispatchgenError: as `run_job`.
    """
    resume = options.measuring.resume and partial_of(night.outputs.results).exists()
    if options.measuring.resume and not resume:
        observer.say("note: no night was interrupted here: it is measured anew")
    night.outputs.prepare(resume=resume)
    locks.check(night.whole, night.selected.models, renew)
    shard = options.measuring.shard
    options = replace(
        options,
        file=night.outputs.results,
        run_settings={**night.preset.run, **(options.run_settings or {})},
        measuring=replace(
            options.measuring,
            resume=resume,
            budget=options.measuring.budget or night.preset.budget,
            shard=None if shard is None or shard.count == 1 else shard,  # the only one is all of it
        ),
    )
    return [*run_job(night.whole, night.selected, options, observer).problems]


def take(night: Night, files: Sequence[Path]) -> list[Problem]:
    """Takes results that were measured elsewhere, as parts of one night.

    Returns:
      A problem for each part that is missing, for what the preset selects and none of them has, and for what is not of
      the manifest and the preset.

    Raises:
      ResultsError: they cannot be read, or are not of one night; or they would be written over one of them.
    """
    own = night.outputs.results
    if len(files) > 1 and any(file.resolve() == own.resolve() for file in files):
        message = "the results are put together, and would be written over this one of them"
        raise ResultsError(Problem(message, Place(str(own)), "--output with another folder"))
    night.outputs.forget()
    try:
        merged = merge([(str(file), load_full(file)) for file in files])
    except ResultsError as error:
        by_hand = "dispatchgen merge-results --force puts them together all the same"
        raise ResultsError(
            *(replace(each, hint=by_hand) if each.hint == "--force" else each for each in error.problems)
        ) from None
    if [file.resolve() for file in files] != [own.resolve()]:
        write_if_changed(own, text_of(merged.results))
    return [*complete.missing(night.selected, merged), *complete.strange(night.selected, merged.results)]


def judge(night: Night, save: str | None = None) -> Judged:
    """Compares the results with the baseline of the preset, and writes comparison and report. Raises DispatchgenError.

    Where shards are missing, nothing is compared: rows of the baseline are in them.

    Args:
      save: The command that saves the baseline, for messages; None: that of the command line.
    """
    results = load(night.outputs.results)
    full = load_full(night.outputs.results)
    problems = [Problem(text) for text in verdict(full, devices_named=False)]
    comparison = None
    if _not_compared(night.preset, full) is None:
        try:
            checked = check(night.whole, str(night.preset.baseline), results, night.conditions)
            comparison = checked.comparison
            problems += checked.failures
        except MissingBaselineError as error:
            problems += [replace(problem, hint=save or _save(night)) for problem in error.problems]
        except DispatchgenError as error:  # the report is worth something all the same
            problems += error.problems
    night.outputs.write(results, comparison, night.conditions)
    return Judged(_summary(night, full, comparison), comparison, problems)


def _not_compared(preset: Preset, results: Results) -> str | None:
    """Why results are compared with nothing; None: they are to be compared."""
    if preset.baseline is None:
        return "there is no baseline to compare with"
    part = part_of(results.measuring)
    return None if part is None else f"{part} {'is' if part.endswith('alone') else 'are'} not compared"


def _summary(night: Night, results: Results, comparison: Comparison | None) -> str:
    """What came out, in a line."""
    parts = [_measured(results)]
    if comparison is not None:
        parts.append(f"against the baseline {night.preset.baseline}: {counted(comparison)}")
    elif why := _not_compared(night.preset, results):
        parts.append(why)
    return "; ".join([*parts, str(night.outputs.report)])


def _measured(results: Results) -> str:
    """How much was measured."""
    measured = sum(call.coverage.measured for call in results.calls)
    dispatches = sum(call.coverage.dispatches for call in results.calls)
    whole = [call.whole_model for call in results.calls if call.function and not call.whole_model.left_out]
    if nothing := nothing_in(results):
        return nothing
    told = f"{measured} of {dispatches} dispatches measured"
    return f"{told}, {sum(each.timing is not None for each in whole)} of {len(whole)} whole models" if whole else told


def _save(night: Night) -> str:
    """The command that makes the results the baseline that is missing."""
    command = ["dispatchgen", "baseline", "save", str(night.preset.baseline), str(night.outputs.results)]
    return shlex.join([*command, "--manifest", str(night.whole.manifest)])
