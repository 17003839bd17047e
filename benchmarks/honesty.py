"""How often a comparison of the same code says faster or slower, and how often it finds a kernel that is 10 % slower.

A suite of 11 dispatches at 11 shapes, `honesty/`, is built twice. All is the same but for a kernel in C in the place of
one dispatch: in the second build it does a tenth more work. Both are measured in turns, again and again, and compared:

- pairs: the two results that were measured at once, as `dispatchgen compare` compares them.
- apart: a result with the next one, which was measured after it, as `dispatchgen compare` compares them.
- Google Benchmark: what its tools/compare.py does of two results with repetitions, on those measured at once: a
  Mann-Whitney U test of all repetitions at 5 %, without more.
- golden time: a result's mean against 1.1 times the mean of the very first.

`dispatchgen compare` never calls the same code faster or slower that the same runtime ran on the same machine. Here it
is to judge by the times alone (`trust_code`).

    python benchmarks/honesty.py [--comparisons N] [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table
from scipy import stats

import dispatchgen
from dispatchgen.comparison.compare import compare
from dispatchgen.comparison.options import Options
from dispatchgen.results.lean import Key, Results
from dispatchgen.results.load import load, load_full
from hand_flow import cpu_name

RESULTS = Path(__file__).resolve().parent / "results" / "honesty.json"
#: At most this share of the comparisons of same code may say faster or slower.
MOST_FALSE = 0.01
#: At least this share of the comparisons of slower code is to say slower.
LEAST_FOUND = 0.95

_SUITE = Path(__file__).resolve().parent / "honesty"
_KERNEL = Path("kernels", "first_layer.c")
_ALPHA = 0.05  #: tools/compare.py's default.
_GOLDEN = 1.1

#: What a way to compare says of rows: `faster`, `slower`, or anything else.
Verdicts = Mapping[Key, str]


@dataclass(frozen=True)
class Taken:
    """What was measured of a build."""

    results: Results
    repetitions: Mapping[Key, Sequence[float]]  #: All of them, in seconds, of dispatches and substitutes.


@dataclass
class Score:
    """How often a way to compare was right."""

    same: int = 0  #: Comparisons of rows of the same code.
    false: int = 0  #: Those of them that were called faster or slower.
    runs: int = 0  #: Comparisons of whole results.
    false_runs: int = 0  #: Those with any such row.
    slower: int = 0  #: Comparisons of rows of slower code.
    found: int = 0  #: Those of them that were called slower.
    unsure: dict[str, int] = field(default_factory=dict)  #: What else was said of same code.

    def add(self, verdicts: Verdicts) -> None:
        """Adds the verdicts on two results."""
        same = [verdict for key, verdict in verdicts.items() if not key.variant]
        slower = [verdict for key, verdict in verdicts.items() if key.variant]
        false = sum(verdict in ("faster", "slower") for verdict in same)
        self.same += len(same)
        self.false += false
        self.runs += 1
        self.false_runs += bool(false)
        self.slower += len(slower)
        self.found += slower.count("slower")
        for verdict in same:
            self.unsure[verdict] = self.unsure.get(verdict, 0) + 1


def build(folder: Path) -> tuple[Path, Path]:
    """Builds the suite with the kernel as it is, and with the slower one. Returns both build folders."""
    suite = folder / "suite"
    shutil.copytree(_SUITE, suite, ignore=shutil.ignore_patterns(".dispatchgen", "locks"))
    builds = folder / "base", folder / "slower"
    for build_dir in builds:
        if build_dir != builds[0]:
            kernel = suite / _KERNEL
            kernel.write_text("#define SLOWER\n" + kernel.read_text(encoding="utf-8"), encoding="utf-8")
        _run([str(suite), "--build-dir", str(build_dir), "--min-time", "1x", "--rounds", "1", "--batch-size", "1"])
    return builds


def take(folder: Path, builds: tuple[Path, Path], arguments: argparse.Namespace) -> tuple[Taken, Taken]:
    """Measures both builds in turns."""
    files = folder / "base.json", folder / "slower.json"
    for file in files:
        file.unlink(missing_ok=True)
    command = [str(folder / "suite"), "--built", str(builds[1]), "--json", str(files[1])]
    command += ["--beside", str(builds[0]), "--beside-json", str(files[0])]
    command += ["--rounds", str(arguments.rounds), "--precision", arguments.precision, "--no-whole-models"]
    command += ["--repetitions", str(arguments.repetitions), "--min-time", arguments.min_time, "--batch-size", "16"]
    _run(command)
    return _taken(files[0]), _taken(files[1])


def takes(folder: Path, builds: tuple[Path, Path], arguments: argparse.Namespace) -> Iterator[tuple[Taken, Taken]]:
    """What is measured, as often as asked for; after Ctrl-C, what was measured until then."""
    for number in range(arguments.comparisons):
        print(f"measuring: {number + 1} of {arguments.comparisons}", file=sys.stderr)
        try:
            yield take(folder, builds, arguments)
        except KeyboardInterrupt:
            return


def _taken(file: Path) -> Taken:
    found: dict[Key, list[float]] = {}
    for call in load_full(file).calls:
        where = (call.model, call.backend, call.device.id, call.call, "dispatch")
        own = [("", each.benchmark, each.timing) for each in call.dispatches]
        own += [(other.id, each.benchmark, each.timing) for other in call.substitutions for each in other.dispatches]
        for variant, benchmark, timing in own:
            if timing is not None:
                key = Key(*where, benchmark, variant, "warm")
                found[key] = [each for round in timing.real for each in round]
    return Taken(load(file), found)


def _run(arguments: Sequence[str]) -> None:
    command = [sys.executable, "-m", "dispatchgen", "run", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def ours(base: Results, new: Results) -> Verdicts:
    """What `dispatchgen compare` says."""
    comparison = compare(base, new, Options(trust_code=False))
    return {row.key: row.verdict for row in comparison.rows if row.key.kind == "dispatch"}


def google(base: Taken, new: Taken) -> Verdicts:
    """What the U test of Google Benchmark's tools/compare.py says, with medians for the direction."""
    found = {}
    for key, times in base.repetitions.items():
        after = new.repetitions[key]
        p = stats.mannwhitneyu(times, after, alternative="two-sided").pvalue
        slower = statistics.median(after) > statistics.median(times)
        found[key] = "same" if p >= _ALPHA else "slower" if slower else "faster"
    return found


def golden(first: Taken, new: Taken) -> Verdicts:
    """What a limit of 1.1 times a golden time says."""
    return {
        key: "slower" if statistics.fmean(new.repetitions[key]) > _GOLDEN * statistics.fmean(times) else "same"
        for key, times in first.repetitions.items()
    }


def judged(taken: Iterator[tuple[Taken, Taken]]) -> tuple[dict[str, Score], float]:
    """The scores of all ways to compare, and by how much the slower kernel is slower: a geometric mean."""
    scores = {name: Score() for name in ("pairs", "apart", "Google Benchmark", "golden time")}
    ratios: list[float] = []
    earlier: list[Taken] = []
    for base, new in taken:
        scores["pairs"].add(ours(base.results, new.results))
        scores["Google Benchmark"].add(google(base, new))
        if earlier:
            scores["apart"].add(ours(earlier[-1].results, new.results))
            scores["golden time"].add(golden(earlier[0], new))
        earlier = [*earlier[:1], base]
        ratios += [min(new.repetitions[key]) / min(times) for key, times in base.repetitions.items() if key.variant]
    return scores, statistics.geometric_mean(ratios)


def print_table(scores: Mapping[str, Score], ratio: float) -> None:
    """Prints how often each way was right."""
    table = Table(title=f"the slower kernel takes {ratio:.3f} times as long")
    for column in ("compared", "same code called faster or slower", "results with such a row", "slower code found"):
        table.add_column(column)
    for name, score in scores.items():
        table.add_row(
            name,
            f"{score.false} of {score.same}: {score.false / score.same:.2%}",
            f"{score.false_runs} of {score.runs}",
            f"{score.found} of {score.slower}: {score.found / score.slower:.1%}",
        )
    Console(width=120).print(table)


def write_results(scores: Mapping[str, Score], ratio: float, arguments: argparse.Namespace, seconds: float) -> None:
    """The figures, with what they were measured on."""
    result = {
        "targets": {"most_false": MOST_FALSE, "least_found": LEAST_FOUND},
        "machine": {"cpu": cpu_name(), "cores": os.cpu_count(), "system": f"{platform.system()} {platform.machine()}"},
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("iree-base-compiler", "iree-base-runtime", "scipy")},
            "dispatchgen": dispatchgen.__version__,
        },
        "settings": {
            name: getattr(arguments, name) for name in ("comparisons", "rounds", "precision", "repetitions", "min_time")
        },
        "seconds": round(seconds, 1),
        "ratio_of_slower_kernel": round(ratio, 4),
        "scores": {name: asdict(score) for name, score in scores.items()},
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Measures, judges, prints the table and keeps the figures. Exits 1 where `pairs` misses its targets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comparisons", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--precision", default="1%", help="measure on what is not known so well")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--min-time", default="0.0002s", help="of each repetition")
    arguments = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        builds = build(folder)
        scores, ratio = judged(takes(folder, builds, arguments))
    print_table(scores, ratio)
    write_results(scores, ratio, arguments, time.monotonic() - started)
    print(f"figures: {RESULTS}")
    pairs = scores["pairs"]
    if pairs.false >= MOST_FALSE * pairs.same or pairs.found < LEAST_FOUND * pairs.slower:
        raise SystemExit(f"error: fewer than {MOST_FALSE:.0%} are to be wrong, and {LEAST_FOUND:.0%} to be found")


if __name__ == "__main__":
    main()
