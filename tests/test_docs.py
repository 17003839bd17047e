"""The documentation: its commands work, its links lead somewhere, what is generated is current.

A page is followed like a reader would, from its top, in a copy of what the repository ships:

- a block that begins with three backticks and `yaml title="FILE"` is written to that file,
- the commands of a `shell` block are run, one after the other, and must succeed: at the top of the copy, in the folder
  of the page where it is a sample's, or in FOLDER where the line before the block is `<!-- folder: FOLDER -->`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import support
from bazel_project import BazelProject

_PAGES = sorted(
    [
        *support.REPOSITORY.glob("*.md"),
        *support.REPOSITORY.glob("docs/*.md"),
        *support.REPOSITORY.glob("samples/**/*.md"),
    ]
)
_IDS = [page.relative_to(support.REPOSITORY).as_posix() for page in _PAGES]

_SETS_UP = "sets up an environment of its own; CI calls it"
#: Commands that are shown but not run here, by how they begin, with the reason.
_NOT_RUN = {
    "make ": _SETS_UP,
    "pip install": "changes the environment of the tests; tests/test_packaging.py installs the wheel",
}

#: Pages whose commands need a C compiler.
_NEEDS_CC = ("docs/substitution.md", "samples/substitution/README.md")

_FENCE = re.compile(
    r"^(?:<!-- folder: (?P<folder>\S+) -->\n)?"
    r"```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_LINK = re.compile(r"\]\((?P<target>[^)\s#]+)?(?:#(?P<anchor>[^)\s]+))?\)")
_HEADING = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    line: int
    language: str
    title: str | None
    folder: str | None
    text: str


def _blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        yield Block(line=text.count("\n", 0, match.start()) + 1, **match.groupdict())


def _commands(block: Block) -> list[str]:
    """The commands of a block; a line that ends with a backslash goes on."""
    lines = block.text.replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def _reason_not_to_run(command: str) -> str | None:
    return next((reason for start, reason in _NOT_RUN.items() if f"{command} ".startswith(start)), None)


def _has_something_to_do(page: Path) -> bool:
    return any(
        block.language == "shell" and any(_reason_not_to_run(command) is None for command in _commands(block))
        for block in _blocks(page)
    )


_RUNNABLE = [page for page in _PAGES if _has_something_to_do(page)]


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """A copy of what the repository ships, without what builds have left in it."""
    ignore = shutil.ignore_patterns(".dispatchgen", "bazel-*", "build", "__pycache__")
    for folder in ("samples", "tests/models", "genrules"):
        shutil.copytree(support.REPOSITORY / folder, tmp_path / "copy" / folder, ignore=ignore)
    return tmp_path / "copy"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The tests' environment with `dispatchgen`, `python` and the programs of the wheels at the front of PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    launcher = programs / "dispatchgen"
    # Each benchmark is run once, unless the page says otherwise: of two equal options the last one counts.
    once = f'if [ "$1" = run ]; then shift; set -- run {shlex.join(support.ONCE)} "$@"; fi'
    launcher.write_text(f'#!/bin/sh\n{once}\nexec "{sys.executable}" -m dispatchgen "$@"\n')
    launcher.chmod(0o755)
    # Google Benchmark's default where no flag says otherwise: each benchmark runs once.
    environment = {**support.cli_environment(), "BENCHMARK_MIN_TIME": "1x"}
    search = [str(programs), str(Path(sys.executable).parent), environment["PATH"]]
    return {**environment, "PATH": os.pathsep.join(search)}


@pytest.fixture
def bazel(tmp_path: Path, scratch: Path, environment: dict[str, str]) -> Iterator[None]:
    """`bazel` on the environment's PATH, which needs no network in the workspace of the samples; ended at the end."""
    program = support.find_bazel()
    if program is None:
        yield
        return
    # Bazel gives tests no variable of their user.
    options = [f"--test_env=BENCHMARK_MIN_TIME={environment['BENCHMARK_MIN_TIME']}"]
    with BazelProject(scratch / "samples", state=tmp_path / "bazel", options=options) as project:
        launcher = tmp_path / "bin" / "bazel"
        launcher.write_text(f'#!/bin/sh\nexec {shlex.join([program, *project.startup_options()])} "$@"\n')
        launcher.chmod(0o755)
        environment["VIRTUAL_ENV"] = sys.prefix
        yield


def _needs_bazel(page: Path) -> bool:
    return any(f"{command} ".startswith("bazel ") for block in _blocks(page) for command in _commands(block))


@pytest.mark.slow
@pytest.mark.usefixtures("bazel")
@pytest.mark.parametrize("page", _RUNNABLE, ids=[page.relative_to(support.REPOSITORY).as_posix() for page in _RUNNABLE])
def test_the_commands_of_a_page_work(page: Path, scratch: Path, environment: dict[str, str]) -> None:
    if _needs_bazel(page) and support.find_bazel() is None:
        pytest.skip("no Bazel: install Debian's bazel-bootstrap, or set BAZEL")
    if page.relative_to(support.REPOSITORY).as_posix() in _NEEDS_CC and shutil.which("cc") is None:
        pytest.skip("no cc: install gcc")
    # A sample's README speaks of the folder it is in, all other pages of the repository's top.
    inside_samples = "samples" in page.relative_to(support.REPOSITORY).parts
    folder = scratch / page.parent.relative_to(support.REPOSITORY) if inside_samples else scratch
    for block in _blocks(page):
        if block.title is not None:
            (folder / block.title).write_text(block.text, encoding="utf-8")
        if block.language != "shell":
            continue
        script = "\n".join(command for command in _commands(block) if _reason_not_to_run(command) is None)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=folder if block.folder is None else scratch / block.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=support.TIMEOUT,
            check=False,
        )
        assert done.returncode == 0, f"{page.name}:{block.line}\n{script}\n{done.stdout}\n{done.stderr}"


def test_no_reason_outlives_its_command() -> None:
    shown = [
        command
        for page in _PAGES
        for block in _blocks(page)
        if block.language == "shell"
        for command in _commands(block)
    ]
    unused = [start for start in _NOT_RUN if not any(f"{command} ".startswith(start) for command in shown)]
    assert not unused


@pytest.mark.parametrize("page", _PAGES, ids=_IDS)
def test_links_lead_somewhere(page: Path) -> None:
    for match in _LINK.finditer(page.read_text(encoding="utf-8")):
        target, anchor = match["target"], match["anchor"]
        if target is not None and "://" in target:
            continue
        file = page if target is None else page.parent / target
        assert file.exists(), f"{page.name} links to {target}, which does not exist"
        if anchor is not None:
            headings = {_anchor(heading["text"]) for heading in _HEADING.finditer(file.read_text(encoding="utf-8"))}
            assert anchor in headings, f"{page.name} links to the heading #{anchor}, which {file.name} does not have"


def _anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def test_the_generated_pages_are_current() -> None:
    command = [sys.executable, str(support.REPOSITORY / "docs" / "generate.py"), "--check"]
    done = subprocess.run(command, env=support.cli_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
