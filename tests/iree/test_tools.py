"""Finding IREE's programs, with the real wheels and with fake programs in folders of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import support
from dispatchgen.errors import ToolError
from dispatchgen.iree import tools
from dispatchgen.iree.tools import UNKNOWN_VERSION, Tools, find_tools, program_version, versions_differ


def fake_program(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def fake_compiler(folder: Path, version_line: str) -> Path:
    return fake_program(folder / "iree-compile", f"echo 'IREE (https://iree.dev):'\necho '  {version_line}'")


@pytest.fixture
def no_wheels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine on which neither wheels, PATH nor environment variable lead to IREE."""
    monkeypatch.setattr(tools, "_package_folder", lambda package: None)  # noqa: ARG005
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.delenv(tools.HOST_BIN_DIR, raising=False)


def test_the_native_programs_of_the_wheels_are_found(
    iree_tools: support.IreeTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(tools.HOST_BIN_DIR, raising=False)
    found = find_tools()
    assert found.iree_compile == iree_tools.compile
    assert found.iree_benchmark_module == iree_tools.benchmark_module
    assert found.iree_run_module == iree_tools.run_module
    assert found.python == Path(sys.executable)
    assert tools.release_of(found.compiler_version) == iree_tools.version
    assert found.compiler_version.startswith(f"{found.bindings_version} @ ")


def test_finding_imports_nothing_of_iree() -> None:
    code = (
        "import sys; from dispatchgen.iree.tools import find_tools; find_tools(); print('iree.compiler' in sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], env=support.cli_environment(), capture_output=True, text=True, check=True
    )
    assert result.stdout == "False\n"


def test_a_folder_of_console_scripts_leads_to_the_native_programs(
    iree_tools: support.IreeTools, tmp_path: Path
) -> None:
    for program, module in (("iree-compile", "compiler.tools.scripts.iree_compile"), ("iree-run-module", "x.y")):
        script = tmp_path / program
        script.write_text(f"#!{sys.executable}\nimport sys\nfrom iree.{module}.__main__ import main\nmain()\n")
        script.chmod(0o755)
    found = find_tools(tmp_path)
    assert found.iree_compile == iree_tools.compile
    assert found.iree_run_module == iree_tools.run_module
    wrapper = fake_program(tmp_path / "iree-compile", "echo 'IREE compiler version 3.13.0'")
    assert find_tools(tmp_path).iree_compile == wrapper, "somebody's own script is called as it is"


def test_the_version_of_a_program_is_that_of_the_wheel_it_lies_in(
    iree_tools: support.IreeTools, tmp_path: Path
) -> None:
    for program in (iree_tools.compile, iree_tools.benchmark_module, iree_tools.run_module):
        version = program_version(program)
        assert version is not None
        assert tools.release_of(version) == iree_tools.version
    packages = tmp_path / "site-packages" / "iree"
    compiler = fake_program(packages / "compiler" / "_mlir_libs" / "iree-compile", "")
    runner = fake_program(packages / "_runtime_libs" / "iree-run-module", "")
    assert (program_version(compiler), program_version(runner)) == (None, None)
    (packages / "compiler" / "version.py").write_text('VERSION = "3.99.0rc20300101"\n')
    (packages / "_runtime_libs" / "version.py").write_text('# Generated.\nVERSION = "3.98.0"\n')
    assert (program_version(compiler), program_version(runner)) == ("3.99.0rc20300101", "3.98.0")
    elsewhere = fake_program(tmp_path / "iree-run-module", "")
    (tmp_path / "version.py").write_text('VERSION = "1.0"\n')
    assert program_version(elsewhere) is None, "somebody else's file"


def test_a_named_folder_goes_first(
    tmp_path: Path, iree_tools: support.IreeTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = fake_compiler(tmp_path / "option", "IREE compiler version 3.13.0 @ abc")
    fake_compiler(tmp_path / "variable", "IREE compiler version 3.14.0 @ def")
    monkeypatch.setenv(tools.HOST_BIN_DIR, str(tmp_path / "variable"))
    assert find_tools().compiler_version == "3.14.0 @ def"
    found = find_tools(tmp_path / "option")
    assert (found.iree_compile, found.compiler_version) == (compiler, "3.13.0 @ abc")
    assert found.iree_benchmark_module == iree_tools.benchmark_module, (
        "a folder for compiling may lack the runtime's programs"
    )


def test_a_named_folder_without_compiler_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        find_tools(tmp_path)
    text = str(caught.value)
    assert "iree-compile was not found" in text
    assert str(tmp_path) in text
    assert "name the folder that holds iree-compile" in text


@pytest.mark.usefixtures("no_wheels")
def test_all_that_is_missing_is_named_with_the_places() -> None:
    with pytest.raises(ToolError) as caught:
        find_tools()
    messages = [problem.message for problem in caught.value.problems]
    assert [message.split(" ")[0] for message in messages] == [
        "iree-compile",
        "iree-benchmark-module",
        "iree-run-module",
    ]
    assert all("PATH" in message and "not installed for" in message for message in messages)
    hints = [problem.hint for problem in caught.value.problems]
    assert hints == ["pip install iree-base-compiler", "pip install iree-base-runtime", "pip install iree-base-runtime"]


@pytest.mark.usefixtures("no_wheels")
def test_programs_on_path_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = fake_compiler(tmp_path / "bin", "IREE compiler version 3.12.0 @ abc")
    for program in ("iree-benchmark-module", "iree-run-module"):
        fake_program(tmp_path / "bin" / program, "exit 0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    found = find_tools()
    assert isinstance(found, Tools)
    assert found.iree_compile == compiler
    assert found.bindings_version is None


@pytest.mark.parametrize("version", ["3.11.0", "3.9.0rc20250901", "2.99.1"])
def test_an_old_compiler_is_refused(tmp_path: Path, version: str) -> None:
    compiler = fake_compiler(tmp_path, f"IREE compiler version {version} @ abc")
    with pytest.raises(ToolError) as caught:
        find_tools(tmp_path)
    (problem,) = caught.value.problems
    assert f"iree-compile is too old: found version {version} @ abc, at least 3.12 is needed" in problem.message
    assert str(compiler) in problem.message
    assert problem.hint == "pip install --upgrade iree-base-compiler iree-base-runtime"


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("IREE compiler version 3.12.0 @ abc", "3.12.0 @ abc"),
        ("IREE compiler version 4.0.0", "4.0.0"),
        ("IREE compiler version (unknown)", "(unknown)"),
        ("LLVM version 24.0.0git", UNKNOWN_VERSION),
    ],
)
def test_a_new_or_unknown_version_is_accepted(tmp_path: Path, line: str, version: str) -> None:
    fake_compiler(tmp_path, line)
    assert find_tools(tmp_path).compiler_version == version


def test_a_compiler_that_does_not_run_says_how_it_ended(tmp_path: Path) -> None:
    fake_program(tmp_path / "iree-compile", "kill -SEGV $$")
    with pytest.raises(ToolError, match=r"crashed \(SIGSEGV\)"):
        find_tools(tmp_path)


def test_a_file_that_is_no_program_says_so(tmp_path: Path) -> None:
    compiler = tmp_path / "iree-compile"
    compiler.write_bytes(b"\x7fELF of another machine")
    compiler.chmod(0o755)
    with pytest.raises(ToolError, match=r"cannot start .*iree-compile"):
        find_tools(tmp_path)


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("3.13.0rc20261016 @ 89ece87b89852100", "3.13.0rc20261016 @ 89ece87b89852100", False),
        ("3.13.0rc20261016 @ 89ece87b89852100", "3.13.0rc20261016 @ 89ece87b", False),
        ("3.13.0rc20261016 @ 89ece87b89852100", "3.13.0+mine @ 89ece87b", False),
        ("3.13.0rc20261016 @ 89ece87b89852100", "3.13.0rc20261016 @ 0123abcd", True),
        ("3.13.0rc20261016 @ 89ece87b89852100", "3.13.0rc20261016", False),
        ("3.13.0rc20261016 @ 89ece87b89852100", "3.12.0", True),
        ("(unknown)", "3.12.0 @ abc", False),
        (UNKNOWN_VERSION, "3.12.0", False),
        (UNKNOWN_VERSION, "(unknown)", False),
    ],
)
def test_versions_differ_where_that_can_be_told(one: str, other: str, differ: bool) -> None:
    assert versions_differ(one, other) is differ
    assert versions_differ(other, one) is differ
