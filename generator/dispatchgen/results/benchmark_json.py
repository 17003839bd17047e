"""Reading the JSON that iree-benchmark-module writes with `--benchmark_out=`: Google Benchmark's, schema version 1."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dispatchgen.iree.messages import status_message
from dispatchgen.results.environment_schema import Host
from dispatchgen.results.task import Sample

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


class UnreadableResult(Exception):
    """The file is absent, empty or cut: the program did not end well."""


@dataclass(frozen=True)
class BenchmarkFile:
    """What a file holds, by the benchmark's function."""

    samples: Mapping[str, Sample] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    host: Host | None = None


def read(path: Path, *, is_cut: bool = False) -> BenchmarkFile:
    """Reads a file.

    Args:
      path: The file.
      is_cut: Whether the program was killed: the file ends behind the last benchmark that ended.

    Raises UnreadableResult, with the reason for people.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UnreadableResult(f"iree-benchmark-module wrote no result ({error.strerror})") from None
    if not text.strip():
        raise UnreadableResult("iree-benchmark-module wrote an empty result")
    try:
        data = json.loads(f"{text}]}}" if is_cut else text)
        functions: dict[str, list[dict[str, Any]]] = {}
        for entry in data["benchmarks"]:
            functions.setdefault(function_of(entry["run_name"]), []).append(entry)
        failures = {name: reason for name, entries in functions.items() if (reason := _failure(entries))}
        samples = {name: _sample(entries) for name, entries in functions.items() if name not in failures}
        return BenchmarkFile(samples, failures, _host(data["context"]))
    except (LookupError, ValueError, TypeError) as error:
        raise UnreadableResult(f"iree-benchmark-module wrote a result that cannot be read: {error!r}") from None


def function_of(run_name: str) -> str:
    """The function that a benchmark's name stands for: `BM_<function>/process_time/real_time`."""
    name = run_name.removeprefix("BM_")
    for suffix in ("/real_time", "/process_time"):
        name = name.removesuffix(suffix)
    return name


def _failure(entries: list[dict[str, Any]]) -> str | None:
    for entry in entries:
        if entry.get("error_occurred") or entry.get("skipped"):
            message = str(entry.get("error_message") or entry.get("skip_message") or "it failed without a message")
            return status_message(message) or message
    return None


def _sample(entries: list[dict[str, Any]]) -> Sample:
    """The repetitions; the library's aggregates of them are left alone."""
    repetitions = [entry for entry in entries if entry["run_type"] == "iteration"]
    return Sample(
        tuple(_seconds(entry, "real_time") for entry in repetitions),
        tuple(_seconds(entry, "cpu_time") for entry in repetitions),
        repetitions[-1]["iterations"],
    )


def _seconds(entry: dict[str, Any], key: str) -> float:
    """A time as results have it: with seven digits, since no clock is better, and files of many rows are large."""
    return float(f"{float(entry[key]) * _SECONDS[entry['time_unit']]:.6e}")


def _host(context: dict[str, Any]) -> Host:
    return Host(
        cpus=context["num_cpus"],
        mhz_per_cpu=context["mhz_per_cpu"],
        cpu_scaling_enabled=context.get("cpu_scaling_enabled"),
        aslr_enabled=context.get("aslr_enabled"),
        load_avg=tuple(context.get("load_avg", ())),
    )
