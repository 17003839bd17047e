"""The command line: parsing of arguments and printing, nothing else.

Each command is a module of this package, imported when it is called, so that `dispatchgen --help` stays fast.
"""

from __future__ import annotations

import importlib
import sys
from typing import NoReturn

import click

from dispatchgen import __version__
from dispatchgen.errors import DispatchgenError

#: Command name -> one line of help. `dispatchgen.cli.<name>` defines it as `command`.
_COMMANDS = {
    "init": "Write a first manifest for models, from their own signatures.",
    "lock": "Write or check the lock files: which dispatches each model has.",
    "generate": "Write the build files.",
    "extract": "Write the benchmark modules of a configured module (called by the build).",
    "run": "Lock, build and run the benchmarks and print a table of the results.",
    "doctor": "Say which tools were found, where, and which devices answer.",
    "schema": "Print the JSON schema of the manifest.",
    "cmake-dir": "Print the folder of the CMake rules.",
}


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
    """Runs the command line; exits 0 when done, 1 when a check failed, 2 when the input is wrong, 130 on Ctrl-C."""
    try:
        dispatchgen.main(standalone_mode=False)
    except DispatchgenError as error:
        click.echo(str(error), err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    sys.exit(0)
