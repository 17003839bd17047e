"""Commands of users that build the objects of kernels: what they are given, and what becomes of what they leave."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from cmake_project import Generator, Project
from dispatchgen.manifest.suite import Selector, Substitution
from dispatchgen.render.cmake import render_cmake
from rendered import lock_of
from substituted_suite import write_files
from suite_folder import layers_model

#: A program of the user's, under names that compilers have.
_NAMES = ("kernels/my-cc", "kernels/clang")
_PROGRAM = """\
#!/bin/sh
printf '%s\\n' "$@" > "$0.arguments"
. kernels/fate.sh
"""
_SOURCE = "kernels/a{output}.kernel"


def _kernel(name: str, source: str, *command: str, inputs: tuple[str, ...] = ()) -> Substitution:
    replaced = (Selector("a_1"),)
    return Substitution(name, name, "object", source, {}, replaced, ("host",), command=command, inputs=inputs)


@pytest.fixture(scope="module")
def project(generator: Generator, tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Project:
    """A suite with kernels, configured; its lock is of no program."""
    folder = tmp_path_factory.mktemp("kernels")
    files = {"kernels/c.c": '#include "value.h"\nint f(void) { return VALUE; }\n', _SOURCE: "1", "kernels/fate.sh": ""}
    write_files(folder, files | {"kernels/in clude/value.h": "#define VALUE 1\n"} | dict.fromkeys(_NAMES, _PROGRAM))
    for name in _NAMES:
        (folder / name).chmod(0o755)
    compiled = _kernel("compiled", "kernels/c.c", "cc", "-Ikernels/in clude", "-c", "{source}", "-o", "{output}")
    others = [
        _kernel(f"by_{i}", _SOURCE, name, "{source}", "{output}", inputs=("kernels/fate.sh",))
        for i, name in enumerate(_NAMES)
    ]
    model = layers_model("m", substitutions=(compiled, *others))
    project = Project(folder, generator, models=[model], environment={"PYTHONPATH": str(checkout)})
    project.write_layers("m", [4, 4])
    (folder / "CMakeLists.txt").write_text(render_cmake(project.suite, {"m": lock_of("m", "host")}))
    project.configure()
    return project


def _wait(project: Project) -> None:
    time.sleep(0 if project.generator == "Ninja" else 1.1)  # GNU make compares whole seconds


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler `cc`")
def test_a_header_in_a_relative_folder_is_seen_and_builds_nothing_by_itself(project: Project) -> None:
    target, built = "iree-dispatch-prepare-m-host-compiled", ["Building m/host/substitutions/compiled/compiled.o"]
    assert project.steps(target) == built
    assert project.steps(target) == []
    _wait(project)
    (project.folder / "kernels" / "in clude" / "value.h").write_text("#define VALUE 2\n")
    assert project.steps(target) == built
    assert project.steps(target) == []


@pytest.mark.parametrize("number", range(len(_NAMES)))
def test_a_program_of_the_suite_gets_its_own_arguments_alone(project: Project, number: int) -> None:
    (project.folder / "kernels" / "fate.sh").write_text('cp "$1" "$2"\n')
    target = f"iree-dispatch-prepare-m-host-by_{number}"
    made = project.build_dir / "m" / "host" / "substitutions" / f"by_{number}" / f"by_{number}.o"
    project.build(target)
    assert made.read_text() == "1"
    source, output = Path(project.folder, f"{_NAMES[number]}.arguments").read_text().splitlines()
    assert source == str(project.folder / _SOURCE)
    assert output == str(made.parent / "new" / made.name)


def test_a_file_among_inputs_builds_the_object(project: Project) -> None:
    fate, target = project.folder / "kernels" / "fate.sh", "iree-dispatch-prepare-m-host-by_0"
    fate.write_text('cp "$1" "$2"\n')
    project.build(target)
    _wait(project)
    fate.write_text('echo 2 > "$2"\n')
    assert project.steps(target) == ["Building m/host/substitutions/by_0/by_0.o"]
    assert project.steps(target) == []


def test_what_a_command_that_failed_left_is_no_object(project: Project) -> None:
    fate, stamps = project.folder / "kernels" / "fate.sh", project.build_dir / "m" / "host" / "substitutions" / "by_0"
    (stamps / "by_0.o.stamp").unlink(missing_ok=True)
    for text, message in (
        ('echo half > "$2"; exit 1\n', ""),
        ("exit 0\n", "the command did not write {output}"),
        ('mkdir -p "$2/x"\n', "the command made a folder of {output}"),
    ):
        fate.write_text(text)
        outcome = project.build("iree-dispatch-prepare-m-host-by_0", check=False)
        assert outcome.returncode != 0
        assert message in outcome.stdout
    assert not list(stamps.rglob("*.stamp"))
    fate.write_text('cp "$1" "$2"\n')
    project.build("iree-dispatch-prepare-m-host-by_0")
