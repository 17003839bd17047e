"""How the main job is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dispatchgen.iree.tools import Tools
from dispatchgen.lock.schema import Lock
from dispatchgen.manifest.suite import Suite
from dispatchgen.results.caches import check_caches
from dispatchgen.results.pin import Pin
from dispatchgen.results.plan import Plan
from dispatchgen.results.run import RunOptions
from dispatchgen.selection.variants import all_variants, only

#: Where results are kept in a build folder.
RESULTS = "results.json"


@dataclass(frozen=True)
class Options:
    """How the job is done."""

    build_dir: Path | None = None  #: None: `.dispatchgen` in the suite's folder.
    jobs: int | None = None  #: Processes at a time. None: one per processor.
    timeout: float = 600.0  #: Seconds for each process, and for the build without progress.
    iree_host_bin_dir: Path | None = None
    tools: Tools | None = None  #: IREE's programs. None: they are looked for.
    keep_locks: bool = False  #: Whether the locks are taken as they are, instead of being made current.
    run_settings: Mapping[str, Any] | None = None  #: Fields of RunSettings that replace the manifest's.
    #: The only substitutions and combinations to build and run, beside their originals; none: everything.
    substitutions: Sequence[str] = ()
    measuring: RunOptions = field(default_factory=RunOptions)
    file: Path | None = None  #: The result file. None: `RESULTS` in the build folder.
    pin: Pin = "auto"  #: Which processors benchmarks are kept on.
    with_host_name: bool = False  #: Whether results have the host's name.
    built: Path | None = None  #: A build to measure as it is. None: the suite is locked and built.
    beside: Path | None = None  #: The build folder of another build of the suite, to measure in turns with this one.
    beside_file: Path | None = None  #: The result file of that. None: `RESULTS` in its folder.

    def folder(self, suite: Suite) -> Path:
        """The build folder."""
        return (self.build_dir or suite.root / ".dispatchgen").absolute()

    def plan(self, suite: Suite, locks: Mapping[str, Lock]) -> Plan:
        """What of a locked suite is run, and how it is timed.

        Raises ManifestError where cold benchmarks are to be run and there are none, and SubstitutionError.
        """
        settings = dict(self.run_settings or {})
        models = tuple(replace(model, run=replace(model.run, **settings)) for model in suite.models)
        timed = replace(suite, models=models)
        check_caches(timed, locks)
        variants = only(all_variants(suite, locks), self.substitutions)
        return Plan(timed, locks, variants, variants_only=bool(self.substitutions))
