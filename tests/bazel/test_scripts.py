"""run_in.sh and make_object.sh: programs start where they should, with their arguments as they are."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from support import REPOSITORY, TIMEOUT

_PRIVATE = REPOSITORY / "genrules" / "bazel" / "private"
_ODD = ["$HOME `id` 'a' \"b\"\\", "", "*", "a\nb ", "é"]


@pytest.fixture(params=[shell for shell in ("dash", "bash") if shutil.which(shell)])
def shell(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that is linked to `linked`, with a program that prints where it runs and its arguments."""
    program = tmp_path / "real" / "a program"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\n/bin/pwd -P\necho "$PWD"\nprintf \'%s\\0\' "$@"\n')
    program.chmod(0o755)
    (tmp_path / "linked").symlink_to("real")
    return tmp_path


def _run(folder: Path, *command: str | Path) -> tuple[str, str, list[str]]:
    """Runs a command. Returns the folder that the program ran in, its name for it, and its arguments."""
    environment = {"PATH": "/usr/bin:/bin"}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=TIMEOUT, check=True)
    place, name, arguments = result.stdout.decode().split("\n", 2)
    return place, name, arguments.split("\0")[:-1]


def test_a_program_is_started_in_a_folder(shell: str, folder: Path) -> None:
    place, _, arguments = _run(folder, shell, _PRIVATE / "run_in.sh", "real", "./a program", *_ODD)
    assert (place, arguments) == (str(folder / "real"), _ODD)


def test_a_command_gets_the_output_also_where_its_folder_is_a_link(shell: str, folder: Path) -> None:
    output = f"{folder}/b in/x.o"
    words = ["{output}", "-o{output}:{{source}{output}}", "{sourc} {outpu}{", *_ODD]
    source = "k{output}/{source}.c"  # what a path holds is not replaced again
    script = _PRIVATE / "make_object.sh"
    (folder / "b in").mkdir()
    (folder / "b in" / "x.o").touch()  # what a command would write
    place, name, arguments = _run(folder, shell, script, "linked/", source, "b in/x.o", "./a program", *words)
    assert place == str(folder / "real")
    assert arguments == [output, f"-o{output}:{{{source}{output}}}", "{sourc} {outpu}{", *_ODD]
    assert name == "/proc/self/cwd"


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [("exit 3", 3, ""), ("exit 0", 1, "error: the command did not write {output}"), ('mkdir "$0"', 1, "a file: ")],
)
def test_a_command_that_writes_no_file_fails(shell: str, folder: Path, command: str, code: int, message: str) -> None:
    words = [shell, f"{_PRIVATE}/make_object.sh", "linked/", "a.c", "x.o", "sh", "-c", command, "{output}"]
    result = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert result.returncode == code
    assert message in result.stderr


def test_the_name_of_the_folder_is_not_in_what_a_compiler_makes(folder: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler `cc`")
    objects = []
    for name in ("one", "the_other"):
        (folder / name / "package").mkdir(parents=True)
        (folder / name / "package" / "a.c").write_text("int f(void) { return 1; }\n")
        script = f"{_PRIVATE}/make_object.sh"
        command = ["/bin/sh", script, "package", "a.c", "a.o", "cc", "-g", "-c", "{source}", "-o", "{output}"]
        subprocess.run(command, cwd=folder / name, timeout=TIMEOUT, check=True)
        objects.append((folder / name / "a.o").read_bytes())
    assert objects[0] == objects[1]


@pytest.mark.parametrize("script", ["run_in.sh", "make_object.sh"])
def test_a_folder_that_is_not_there_is_an_error(folder: Path, script: str) -> None:
    command = ["/bin/sh", f"{_PRIVATE}/{script}", "none", "./a program", "./a program"]
    result = subprocess.run(command, cwd=folder, capture_output=True, timeout=TIMEOUT, check=False)
    assert (result.returncode != 0, result.stdout) == (True, b"")
