"""`dispatchgen doctor`, on this machine and on ones that lack something."""

from __future__ import annotations

import json
from pathlib import Path

import support
from dispatchgen.results.environment import read_machine
from dispatchgen.results.uncontrolled import uncontrolled


def findings(*arguments: str, env: dict[str, str] | None = None) -> tuple[int, dict[str, dict[str, str | None]]]:
    result = support.run_cli("doctor", "--json", *arguments, env=env)
    return result.code, {finding["subject"]: finding for finding in json.loads(result.stdout)}


def fake_compiler(folder: Path, version: str) -> Path:
    path = folder / "iree-compile"
    path.write_text(f'#!/bin/sh\necho "  IREE compiler version {version}"\n')
    path.chmod(0o755)
    return path


def test_a_machine_that_has_all(iree_tools: support.IreeTools) -> None:
    code, found = findings()
    assert code == 0
    assert found["iree-compile"]["path"] == str(iree_tools.compile)
    assert found["iree-benchmark-module"]["path"] == str(iree_tools.benchmark_module)
    for subject in (
        "dispatchgen",
        "iree-compile",
        "Python bindings",
        "iree-run-module",
        "cmake",
        "ninja",
        "ONNX importer",
    ):
        assert found[subject]["verdict"] == "ok", found[subject]
        assert found[subject]["version"]
    assert found["driver local-sync"] == {
        "subject": "driver local-sync",
        "verdict": "ok",
        "text": "local-sync://",
        "hint": None,
        "version": None,
        "path": None,
    }
    drivers = {finding["verdict"] for subject, finding in found.items() if subject.startswith("driver ")}
    assert drivers <= {"ok", "note"}, "an absent GPU is no fault"
    assert found["machine"]["verdict"] == "ok"


def test_the_text_says_the_same_as_the_data() -> None:
    text = support.run_cli("doctor").stdout
    _, found = findings()
    lines = text.splitlines()
    subjects = [line.split(":")[0].split(maxsplit=1)[1] for line in lines if not line.startswith(" ")]
    # What other programs do meanwhile comes and goes.
    subjects, expected = ([each for each in some if "meanwhile" not in each] for some in (subjects, found))
    assert subjects == expected


def test_what_is_not_controlled() -> None:
    _, found = findings()
    expected = [each.partition(": ") for each in uncontrolled(read_machine(None, []), None)]
    assert {topic: found[topic]["text"] for topic, _, _ in expected} == {topic: text for topic, _, text in expected}
    assert all(found[topic]["verdict"] == "note" for topic, _, _ in expected)


def test_a_missing_compiler(tmp_path: Path) -> None:
    code, found = findings("--iree-host-bin-dir", str(tmp_path))
    assert code == 1
    assert found["iree-compile"]["verdict"] == "error"
    assert str(tmp_path) in (found["iree-compile"]["text"] or "")
    assert found["cmake"]["verdict"] == "ok", "it looks at the rest as well"
    result = support.run_cli("doctor", "--iree-host-bin-dir", tmp_path)
    assert result.stderr == "error: dispatchgen cannot work without iree-compile\n"


def test_the_runtime_of_another_environment_has_its_own_version(tmp_path: Path) -> None:
    fake_compiler(tmp_path, "3.99.0 @ abc")
    runtime = tmp_path / "site-packages" / "iree" / "_runtime_libs"
    runtime.mkdir(parents=True)
    for program in ("iree-benchmark-module", "iree-run-module"):
        (runtime / program).write_text("#!/bin/sh\n")
        (runtime / program).chmod(0o755)
        (tmp_path / program).symlink_to(runtime / program)
    (runtime / "version.py").write_text('VERSION = "3.98.0"\n')
    _, found = findings("--iree-host-bin-dir", str(tmp_path))
    assert found["iree-benchmark-module"]["version"] == "3.98.0"
    assert found["iree-run-module"]["text"] == f"3.98.0, {tmp_path / 'iree-run-module'}"


def test_an_old_compiler(tmp_path: Path) -> None:
    fake_compiler(tmp_path, "3.9.0 @ abc")
    code, found = findings(env={"IREE_HOST_BIN_DIR": str(tmp_path)})
    assert code == 1
    assert "too old" in (found["iree-compile"]["text"] or "")


def test_bindings_of_another_version_are_a_warning(tmp_path: Path) -> None:
    fake_compiler(tmp_path, "3.99.0rc20300101 @ abc")
    code, found = findings("--iree-host-bin-dir", str(tmp_path))
    assert code == 0
    assert found["Python bindings"]["verdict"] == "warning"
    assert "but iree-compile is 3.99.0rc20300101" in (found["Python bindings"]["text"] or "")
    assert found["Python bindings"]["hint"] == "pip install iree-base-compiler==3.99.0, or another iree-compile"


def test_a_missing_importer_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda name, package=None: None if name == 'onnx' else find(name, package)\n"
    )
    search = support.cli_environment()["PYTHONPATH"]
    code, found = findings(env={"PYTHONPATH": f"{tmp_path}:{search}"})
    assert code == 0
    assert found["ONNX importer"]["verdict"] == "note"
    assert found["ONNX importer"]["hint"] == "pip install dispatchgen[onnx]"
