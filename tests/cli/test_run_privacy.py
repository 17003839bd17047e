"""A result file of a real run tells nothing of the machine: no host, no user, no place of a file."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support import REPOSITORY, CliResult, run_cli, started, wait_until

pytestmark = pytest.mark.slow

_USER, _HOST = "madeupuser", "madeuphost.example.com"
#: Fails, and says all that is not to be told.
_FAILS = """\
echo "$1 of $LOGNAME in $HOME on madeuphost: cannot be compiled by /opt/madeup/bin/cc" >&2
exit 1
"""
_MANIFEST = """\
version: 1
backends:
  cpu:
    target_device: local
    local_backend: llvm-cpu
    compile_flags: [--iree-llvmcpu-target-cpu=generic]
    devices:
      plain: {{uri: local-sync}}
      broken: {{uri: local-sync, run_flags: ["--executable_plugin={plugin}"]}}
      absent: {{uri: no-such-driver}}
run: {{rounds: 1, repetitions: 1, batch_size: 1, min_time: 1x}}
models:
  mlp:
    source: mlp.mlir
    inputs: [Bx64xf32, 64x128xf32, 128x32xf32]
    shapes: {{B: [2]}}
    substitutions:
      fails:
        dispatch: matmul_Dx128x64_f32
        object: k.c
        command: [sh, fails.sh, "{{source}}", "{{output}}"]
  wrong: {{source: wrong.mlir}}
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Path:
    """A suite, in a folder below the user's home, of which much fails."""
    suite = tmp_path_factory.mktemp("home") / "homes" / _USER / "the suite's $x"
    suite.mkdir(parents=True)
    shutil.copy(models_dir / "mlp.mlir", suite)
    (suite / "wrong.mlir").write_text("func.func @main() { return %unknown : i32 }\n")
    (suite / "k.c").write_text("")
    (suite / "fails.sh").write_text(_FAILS)
    (suite / "benchmarks.yaml").write_text(_MANIFEST.format(plugin=suite / "none" / "p.so"))
    return suite


def _environment(suite: Path) -> dict[str, str]:
    """That of a user and on a host whose names no text has by chance."""
    customized = suite.parent / "customized"
    customized.mkdir(exist_ok=True)
    (customized / "sitecustomize.py").write_text(f"import platform\nplatform.node = lambda: {_HOST!r}\n")
    path = f"{REPOSITORY / 'generator'}{os.pathsep}{customized}"
    return {"HOME": str(suite.parent), "LOGNAME": _USER, "USER": _USER, "PYTHONPATH": path}


def _run(suite: Path, *arguments: str) -> CliResult:
    return run_cli("run", *arguments, cwd=suite, env=_environment(suite))


def _assert_nothing_is_told(suite: Path, text: str) -> None:
    for told in (str(suite), str(suite.parent), str(suite.parent.parent), _USER, "madeuphost", "/opt/madeup"):
        assert told not in text
    assert not [word for word in re.split(r"""[\s"'=@,()]+|\\n""", text) if re.match(r"/\w", word)]


@pytest.fixture(scope="module")
def data(suite: Path, result: CliResult) -> Any:
    """The results, as the run wrote them."""
    del result
    return json.loads((suite / ".dispatchgen" / "results.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def result(suite: Path) -> CliResult:
    result = _run(suite)
    assert result.code == 2, result.stderr  # one of the programs is wrong
    return result


@pytest.mark.usefixtures("result")
def test_the_file_holds_neither_names_nor_places(suite: Path) -> None:
    _assert_nothing_is_told(suite, (suite / ".dispatchgen" / "results.json").read_text(encoding="utf-8"))


@pytest.mark.usefixtures("result")
def test_nor_does_the_journal_of_a_run_that_was_killed(suite: Path) -> None:
    journal = suite / "killed.json.partial"
    command = [sys.executable, "-m", "dispatchgen", "run", "--model", "mlp", "--rounds", "200", "--json", "killed.json"]
    environment = {**os.environ, **_environment(suite)}
    with started(command, cwd=suite, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        # Behind the first line are the processes that ended: one of them has failed.
        wait_until(lambda: journal.exists() and "p.so" in journal.read_text("utf-8").partition("\n")[2], process)
    _assert_nothing_is_told(suite, journal.read_text(encoding="utf-8"))


def test_people_see_the_places_all_the_same(suite: Path, result: CliResult) -> None:
    assert str(suite) in result.stdout + result.stderr


def test_what_fails_is_told_with_what_stands_for_the_places(data: Any) -> None:
    reasons = {failure["step"]: failure["reason"] for failure in data["build_failures"]}
    assert "cannot be compiled by .../cc" in reasons["object"]
    assert "k.c of <user> in ~ on <host>" in reasons["object"]
    assert "use of undeclared SSA value" in reasons["lock"]
    broken = [call for call in data["calls"] if call["device"]["id"] == "broken"]
    assert {call["device"]["run_flags"][0] for call in broken} == {"--executable_plugin=<suite>/none/p.so"}
    assert all("p.so" in each["failure"] for call in broken for each in call["dispatches"])
    assert [each["device"]["id"] for each in data["not_run"] if each["cause"] == "absent-device"] == ["absent"]
    assert data["environment"]["host_name"] is None
    assert [device["id"] for device in data["environment"]["machine"]["devices"]] == ["plain", "broken", "absent"]


def test_what_was_built_is_told(data: Any) -> None:
    steps = {(step["step"], step["dispatch"]) for step in data["build"]}
    first, second = "matmul_Dx128x64_f32", "matmul_Dx32x128_f32"
    assert steps >= {("configure", None), ("extract", None), ("compile", None), ("compile", first), ("compile", second)}
    assert all(step["seconds"] > 0 and step["peak_bytes"] > 1 << 23 for step in data["build"])
    for call in data["calls"]:
        for each in (*call["dispatches"], call["whole_model"]):
            assert each["compiled"]["seconds"] > 0
            assert re.fullmatch("[0-9a-f]{64}", each["compiled"]["sha256"])


@pytest.mark.usefixtures("result")
def test_the_host_is_named_where_that_is_asked_for(suite: Path) -> None:
    arguments = ("--model", "mlp", "--device", "plain", "--with-host-name", "--json", "named.json")
    _run(suite, *arguments)
    text = (suite / "named.json").read_text(encoding="utf-8")
    assert json.loads(text)["environment"]["host_name"] == _HOST
    assert _USER not in text
