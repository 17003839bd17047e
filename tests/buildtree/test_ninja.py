"""Reading Ninja's output; the texts are those of Ninja 1.11 and 1.13."""

from __future__ import annotations

import pytest

from dispatchgen.buildtree.ninja import FailedEdge, Message, Progress, read_events

NINJA_1_11 = """\
ninja: Entering directory `build'
[dispatchgen 1/4] Configuring mlp/cpu
[dispatchgen 2/4] Compiling mlp/cpu/a.vmfb
FAILED: mlp/cpu/a.vmfb /tmp/build/mlp/cpu/a.vmfb
cd /tmp/build && iree-compile a.mlir -o a.vmfb
a.mlir:1:2: error: no
  note
[dispatchgen 3/4] Compiling mlp/cpu/b.vmfb
a warning of a command that succeeded
[dispatchgen 4/4] Compiling mlp/cpu/c.vmfb
FAILED: mlp/cpu/c.vmfb
iree-compile c.mlir
ninja: build stopped: cannot make progress due to previous errors.
"""


@pytest.mark.parametrize("code", ["", "[code=1] ", "[code=-9] "])
def test_progress_and_failures_are_read(code: str) -> None:
    lines = NINJA_1_11.replace("FAILED: ", f"FAILED: {code}").splitlines(keepends=True)
    assert list(read_events(lines)) == [
        Progress(1, 4, "Configuring mlp/cpu"),
        Progress(2, 4, "Compiling mlp/cpu/a.vmfb"),
        FailedEdge(("mlp/cpu/a.vmfb", "/tmp/build/mlp/cpu/a.vmfb"), "a.mlir:1:2: error: no\n  note"),
        Progress(3, 4, "Compiling mlp/cpu/b.vmfb"),
        Progress(4, 4, "Compiling mlp/cpu/c.vmfb"),
        FailedEdge(("mlp/cpu/c.vmfb",), ""),
    ]


def test_line_ends_around_the_status_are_none_of_the_commands() -> None:
    """The form that we ask Ninja for: the output in front of a status line may have no line end of its own."""
    text = "\n[dispatchgen 1/2] Building a\nFAILED: a\ncommand\none\n\ntwo\n[dispatchgen 2/2] Building b\n"
    assert list(read_events(text.splitlines(keepends=True))) == [
        Progress(1, 2, "Building a"),
        FailedEdge(("a",), "one\n\ntwo"),
        Progress(2, 2, "Building b"),
    ]


def test_ninjas_own_errors_are_messages() -> None:
    assert list(read_events(["ninja: error: loading 'build.ninja': No such file or directory\n"])) == [
        Message("loading 'build.ninja': No such file or directory")
    ]


def test_output_that_is_cut_still_names_the_failure() -> None:
    assert list(read_events(["FAILED: x\n", "command\n", "reason\n"])) == [FailedEdge(("x",), "reason")]


def test_nothing_to_do_is_no_event() -> None:
    assert list(read_events(["ninja: no work to do.\n"])) == []
