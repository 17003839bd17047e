"""Comparing two results: the entry of the package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dispatchgen.comparison.differences import environment_of, measuring_differences, run_of
from dispatchgen.comparison.effects import call_effects, geometric_mean
from dispatchgen.comparison.judge import Judged, judge
from dispatchgen.comparison.match import match
from dispatchgen.comparison.options import Options
from dispatchgen.comparison.presence import Missing
from dispatchgen.comparison.schema import COMPARISON_VERSION, VERDICTS, Comparison, Differences
from dispatchgen.comparison.text import format_change
from dispatchgen.errors import ComparisonError, Problem
from dispatchgen.results import environment
from dispatchgen.results.lean import Results

_DEFAULT = Options()


def compare(base: Results, new: Results, options: Options = _DEFAULT) -> Comparison:
    """Compares NEW with BASE. Raises ComparisonError where they are of different machines, unless it is forced."""
    old_environment, new_environment = environment_of(base), environment_of(new)
    machine = tuple(environment.differences(old_environment.machine, new_environment.machine))
    if machine and not options.force:
        problems = [Problem(f"the results are of different machines: {each}") for each in machine]
        problems[-1] = Problem(problems[-1].message, hint="--force compares them all the same")
        raise ComparisonError(*problems)
    pairs = match(base, new)
    paired = base.session == new.session
    same_runtime = old_environment.software.runtime == new_environment.software.runtime is not None
    judged = judge(pairs, Missing(new), options, paired=paired, same_environment=same_runtime and not machine)
    counts = Counter(row.verdict for row in judged.rows)
    return Comparison(
        version=COMPARISON_VERSION,
        base=run_of(base, old_environment),
        new=run_of(new, new_environment),
        paired=paired,
        criteria=judged.criteria,
        differences=Differences(
            machine,
            tuple(environment.software_differences(old_environment.software, new_environment.software)),
            measuring_differences(pairs),
        ),
        notes=tuple(_notes(base, new, judged, forced=bool(machine))),
        counts={verdict: counts[verdict] for verdict in VERDICTS},
        geometric_mean=geometric_mean(judged.rows, judged.between),
        calls=call_effects(judged.rows, pairs, judged.between),
        rows=judged.rows,
    )


def _notes(base: Results, new: Results, judged: Judged, *, forced: bool) -> Iterator[str]:
    """What to know before reading numbers."""
    if forced:
        yield "BASE and NEW were measured on different machines: differences may be the machines'"
    for name, results in (("BASE", base), ("NEW", new)):
        if results.finished is None:
            yield f"the run of {name} was interrupted: not all of it was measured"
    source, together = judged.criteria.between_from, judged.criteria.together
    moved = format_change(together)
    if abs(together - 1) > judged.criteria.floor and source == "all":
        yield (
            f"all benchmarks moved together, by {moved} at the median: machine and compiler cannot be told apart; "
            "measure both at once: dispatchgen run --beside"
        )
    if abs(together - 1) > judged.criteria.floor and source == "same-code":
        yield f"benchmarks whose code is the same moved by {moved} at the median: the machine or the runtime differs"
    if source == "rounds" and any(row.p is not None for row in judged.rows):
        yield (
            "what the same code differs by between the runs is not known, of so few benchmarks: it is taken to be what "
            "rounds differ by, at least 2 %; measure both at once: dispatchgen run --beside"
        )
