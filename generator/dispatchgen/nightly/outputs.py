"""The folder that a night leaves: what is in it, and how it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dispatchgen.files import remove, write_if_changed
from dispatchgen.ownership import IGNORE_ALL, check_build_folder

if TYPE_CHECKING:
    from dispatchgen.comparison.conditions import Condition
    from dispatchgen.comparison.schema import Comparison
    from dispatchgen.results.lean import Results


@dataclass(frozen=True)
class Outputs:
    """The files of a folder."""

    folder: Path
    owner: Path | None = None  #: The build folder that it lies in; None: it is a folder of the user's.

    @property
    def work(self) -> Path:
        """A build folder for what is measured as it is: it holds what programs write while they are measured."""
        return self.folder / "work"

    @property
    def results(self) -> Path:
        """What was measured, as `dispatchgen run` writes it."""
        return self.folder / "results.json"

    @property
    def report(self) -> Path:
        """The page."""
        return self.folder / "report.html"

    @property
    def summary(self) -> Path:
        """The most important of the page, with the comparison, for the summary of a CI job."""
        return self.folder / "report.md"

    @property
    def comparison(self) -> Path:
        """The comparison with the baseline, as data. This and the next two are there only where there is one."""
        return self.folder / "comparison.json"

    @property
    def markdown(self) -> Path:
        """The comparison alone, for a pull request."""
        return self.folder / "comparison.md"

    @property
    def junit(self) -> Path:
        """The comparison, for CI systems that show tests."""
        return self.folder / "junit.xml"

    def prepare(self, *, resume: bool) -> None:
        """Removes what an earlier night left, so that nobody takes it for what this one did, unless that one goes on.

        Raises OutputError.
        """
        for folder in (*([] if self.owner is None else [self.owner]), self.work):
            check_build_folder(folder)
            write_if_changed(folder / ".gitignore", IGNORE_ALL)
        if not resume:
            remove(self.results)
            self.forget()

    def forget(self) -> None:
        """Removes all but results. Raises OutputError."""
        for path in (self.report, self.summary, self.comparison, self.markdown, self.junit):
            remove(path)

    def write(self, results: Results, comparison: Comparison | None, conditions: Sequence[Condition]) -> None:
        """Writes all but results. Raises OutputError."""
        from dispatchgen.report.markdown import markdown as summary
        from dispatchgen.report.report import report

        if comparison is not None:
            from dispatchgen.comparison import encode, junit, markdown

            write_if_changed(self.comparison, encode.encode(comparison))
            write_if_changed(self.markdown, markdown.render(comparison))
            write_if_changed(self.junit, junit.render(comparison, conditions))
        write_if_changed(self.summary, summary([results], comparison=comparison))
        write_if_changed(self.report, report([results], comparison=comparison))
