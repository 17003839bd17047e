"""The sum of dispatch time x count against the whole model's own time, on the CPU, as `dispatchgen run` measures both.

A sum far from the model's time means that dispatches are missing or counted wrongly, or that what is measured is not
what the model runs.

    python benchmarks/sum_against_model.py [SUITE...] [--rounds N] [--min-time T]
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

#: The sum lies between these parts of the whole model's time.
TARGET_RATIOS = (0.85, 1.15)
REPOSITORY = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).resolve().parent / "results" / "sum_against_model.json"


def run(suite: Path, min_time: str) -> Mapping[str, Any]:
    """One run of a suite, as data."""
    command = [sys.executable, "-m", "dispatchgen", "run", str(suite), "--min-time", min_time]
    command += ["--rounds", "1", "--repetitions", "1", "--json", "-"]
    result = subprocess.run([*command, "--device", "local-sync"], stdout=subprocess.PIPE, check=True)
    data: Mapping[str, Any] = json.loads(result.stdout)
    return data


def ratios(runs: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], list[float]]:
    """The ratio in each run, by model and call."""
    found: dict[tuple[str, str], list[float]] = {}
    for data in runs:
        for call in data["calls"]:
            found.setdefault((call["model"], call["call"]), []).append(call["sum_by_model"])
    return found


def print_table(found: Mapping[tuple[str, str], Sequence[float]]) -> None:
    """Prints the ratios of each call, and whether their median is near enough to 1."""
    table = Table(title=f"sum of dispatches by whole model; the median is to lie in {TARGET_RATIOS}")
    for column in ("model", "call", "median", "least", "most", ""):
        table.add_column(column)
    for (model, call), values in found.items():
        median = statistics.median(values)
        near = TARGET_RATIOS[0] <= median <= TARGET_RATIOS[1]
        figures = (f"{value:.3f}" for value in (median, min(values), max(values)))
        table.add_row(model, call, *figures, "ok" if near else "too far")
    Console().print(table)


def main() -> None:
    """Runs the suites, prints the table and keeps the raw figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", type=Path, default=[REPOSITORY / "samples" / "magika"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--min-time", default="0.5s")
    arguments = parser.parse_args()
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for index, suite in enumerate(arguments.suites):
            copy = Path(folder, str(index))
            shutil.copytree(suite, copy, ignore=shutil.ignore_patterns(".dispatchgen"))
            runs += [run(copy, arguments.min_time) for _ in range(arguments.rounds)]
    found = ratios(runs)
    print_table(found)
    raw = [
        {"model": model, "call": call, "sum_by_model": values, "median": statistics.median(values)}
        for (model, call), values in found.items()
    ]
    figures = {"environment": runs[0]["environment"], "min_time": arguments.min_time, "calls": raw}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(f"raw figures: {RESULTS}")


if __name__ == "__main__":
    main()
