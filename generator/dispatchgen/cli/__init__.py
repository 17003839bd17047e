"""The command line: parsing of arguments and printing, nothing else.

Each command is a module of this package, imported when it is called, so that `dispatchgen --help` stays fast.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from typing import NoReturn, TextIO

import click

from dispatchgen import __version__
from dispatchgen.errors import DispatchgenError

#: Command name -> one line of help. `dispatchgen.cli.<name>` defines it as `command`.
_COMMANDS = {
    "init": "Write a first manifest for models, from their own signatures.",
    "shapes": "Print what programs state of their sizes, and shapes chosen from it.",
    "lock": "Write or check the lock files: which dispatches each model has.",
    "generate": "Write the build files.",
    "run": "Lock, build and run the benchmarks and print a table of the results.",
    "merge-results": "Put the results of shards together.",
    "compare": "Compare two results: what became faster or slower, as far as that can be told.",
    "baseline": "Keep results in the repository, to compare others with.",
    "history": "Keep results over time, and find where benchmarks changed.",
    "report": "Write results as a page that opens offline, and as Markdown.",
    "nightly": "Check, build, measure, compare with the baseline and report: a preset in one command.",
    "sweep": "Measure dispatches at many sizes without recompiling, and draw curves.",
    "dump": "Write dispatches to files, to start editing kernels from.",
    "kernel-template": "Write a kernel in C or GLSL to start from.",
    "repro": "Print the commands that compile and run one benchmark by hand.",
    "export-tuner": "Write what IREE's tuner for AMD GPUs needs, per dispatch.",
    "capture": "Record runs of a model: with which sizes its dispatches run, and how often.",
    "merge-profiles": "Merge what runs recorded.",
    "doctor": "Say which tools were found, where, and which devices answer.",
    "schema": "Print the JSON schema of the manifest, or of results.",
    "cmake-dir": "Print the folder of the CMake rules.",
    "bazel-dir": "Print the folder of the Bazel rules.",
    "extract": "Write the benchmark modules of a configured module (called by the build).",
    "substitute": "Write the benchmark modules of a substitute (called by the build).",
    "substitute-model": "Write a program with substitutes in it (called by the build).",
    "check-outputs": "Compare a substitute's outputs with those of the compiler's own kernel (called by tests).",
}

#: What writing to standard output or standard error fails with. Errors of files name the file.
_OUTPUT_ERRORS = frozenset((errno.ENOSPC, errno.EPIPE, errno.EIO, errno.EDQUOT, errno.EFBIG))


class _LazyGroup(click.Group):
    """A group that imports a command's module only when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return super().get_command(ctx, cmd_name)
        module = importlib.import_module(f"dispatchgen.cli.{cmd_name.replace('-', '_')}")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dispatchgen")
def dispatchgen() -> None:
    """Benchmarks of every dispatch of a model, as IREE compiles it, at the model's real shapes."""


def main() -> NoReturn:
    """Runs the command line; exits 0 when done, 1 when a check failed, 2 when the input is wrong, 130 on Ctrl-C.

    Where nobody reads the output any more it ends with 1, where the output cannot be written with 2.
    """
    try:
        code = _run()
        _flush(sys.stdout)
    except OSError as error:
        if error.filename is not None or error.errno not in _OUTPUT_ERRORS:
            raise
        code = 1 if error.errno == errno.EPIPE else 2
        _discard(sys.stdout)
        try:
            if code == 2:
                click.echo(f"error: cannot write the output: {error.strerror}", err=True)
            _flush(sys.stderr)
        except OSError:
            _discard(sys.stderr)
    sys.exit(code)


def _run() -> int:
    """Runs the command line and returns the exit code. Raises OSError where the output cannot be written."""
    try:
        dispatchgen.main(standalone_mode=False)
    except DispatchgenError as error:
        click.echo(str(error), err=True)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return 130
    return 0


def _flush(stream: TextIO | None) -> None:
    if stream is not None:  # None: the caller closed it
        stream.flush()


def _discard(stream: TextIO | None) -> None:
    """Lets what is printed to the stream go nowhere: the interpreter flushes it once more when it ends."""
    if stream is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
