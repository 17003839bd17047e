"""Builds whose dispatches are no longer those of the lock, where drift is allowed and where it is not."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from cmake_project import Project
from dispatchgen.manifest.suite import Model, Selector, Substitution
from substituted_suite import TUNING_SPEC, write_files
from suite_folder import HOST, layers_model, layers_program

pytestmark = pytest.mark.slow

_TESTS = "iree-dispatch-benchmarks/m/host"

#: What follows the layers of a program: a dispatch of its own, of another operation in each version.
_ENDS = {
    "locked": """  %e = tensor.empty() : tensor<4x16xf32>
  %r = linalg.softmax dimension(1) ins(%x1 : tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
""",
    "today": """  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.reduce { arith.addf } ins(%x1 : tensor<4x16xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  %b = tensor.empty() : tensor<4x16xf32>
  %r = linalg.broadcast ins(%sum : tensor<4xf32>) outs(%b : tensor<4x16xf32>) dimensions = [1]
""",
}


def _write_program(project: Project, name: str, version: str) -> None:
    """A layer, and what this version of the program does after it."""
    text = layers_program((8, 16))
    end = text.index("  return %x1")
    (project.folder / "models").mkdir(exist_ok=True)
    path = project.folder / "models" / f"{name}.mlir"
    path.write_text(text[:end] + _ENDS[version] + text[end:].replace("%x1", "%r"))


def _drifted(folder: Path, checkout: Path, *models: Model, **settings: object) -> Project:
    """Models whose locks are of another version of the program than there is today; configured."""
    project = Project(
        folder,
        models=list(models),
        environment={"PYTHONPATH": str(checkout)},
        **settings,  # type: ignore[arg-type]
    )
    for model in models:
        _write_program(project, model.id, "locked")
    project.lock()
    project.generate()
    for model in models:
        _write_program(project, model.id, "today")
    return project


@pytest.fixture(scope="module")
def drifting(tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Project:
    """A model that drifted, beside one whose lock is current; the manifest allows it."""
    models = [layers_model("m", drift="allow"), layers_model("n", drift="allow")]
    project = _drifted(tmp_path_factory.mktemp("suite"), checkout, *models)
    _write_program(project, "n", "locked")
    project.configure()
    return project


def _gone(project: Project) -> str:
    """The dispatch that the lock of m lists, and that its program has no more."""
    (name,) = [name for name in project.dispatches("m") if "softmax" in name]
    return name


def test_the_call_says_so(drifting: Project) -> None:
    assert drifting.generate().count('  DRIFT\n    "allow"\n') == 2


def test_all_is_built_and_the_drift_is_said(drifting: Project) -> None:
    (drifting.build_dir / "m" / "host" / "dispatches.stamp").unlink(missing_ok=True)
    output = drifting.build().stdout
    notes = [line for line in output.splitlines() if line.startswith("note: ")]
    assert notes[0] == "note: the dispatches of m on host are not those that its lock lists: 1 added, 1 removed"
    assert f"note: removed: {_gone(drifting)}" in notes
    assert "note: 1 of the locked dispatches cannot be measured: their tests are skipped" in notes
    assert f"to renew it: dispatchgen lock {drifting.folder} --model m" in notes[-1]
    assert (drifting.build_dir / "n" / "host" / "dispatches" / "drift.txt").read_text() == ""
    assert drifting.steps() == []


def test_what_is_missing_is_skipped_with_the_reason_and_the_rest_is_measured(drifting: Project) -> None:
    drifting.build()
    stale = drifting.build_dir / "results" / "m" / "host" / "local-sync" / f"{_gone(drifting)}.json"
    stale.parent.mkdir(parents=True, exist_ok=True)
    stale.write_text("{}")
    outcome = drifting.test("-V", "-L", "model=m", "-LE", "test-type=drift")
    assert outcome.returncode == 0, outcome.stdout
    assert outcome.stdout.count("***Skipped") == 2  # smoke and timed
    assert outcome.stdout.count("Passed") == 4  # of the other dispatch and of the whole model
    reason = "dispatchgen: skipped: it is no longer among the dispatches of m on host"
    assert outcome.stdout.count(reason) == 2
    assert f"{_TESTS}/local-sync/{_gone(drifting)}/smoke (Skipped)" in outcome.stdout
    assert not stale.exists()


def test_the_drift_test_tells_the_differences(drifting: Project) -> None:
    drifting.build()
    outcome = drifting.test("-V", "-L", "test-type=drift")
    assert outcome.returncode == 0
    assert f"{_TESTS}/drift (Skipped)" in outcome.stdout
    assert f"removed: {_gone(drifting)}" in outcome.stdout
    assert re.search(r"iree-dispatch-benchmarks/n/host/drift \.+ +Passed", outcome.stdout)
    report = drifting.build_dir / "n" / "host" / "dispatches" / "drift.txt"
    saved = report.read_text()
    report.unlink()
    try:
        outcome = drifting.test("-R", "n/host/drift")
    finally:
        report.write_text(saved)
    assert outcome.returncode != 0, "a drift that is not known is no absence of drift"


@pytest.mark.parametrize("how", ["option", "manifest"])
def test_error_is_the_default_and_names_the_command(tmp_path: Path, checkout: Path, how: str) -> None:
    model = layers_model("m", drift="allow" if how == "option" else "error")
    definitions = {"DISPATCHGEN_DRIFT": "error"} if how == "option" else {}
    project = _drifted(tmp_path, checkout, model, definitions=definitions)
    project.configure()
    failed = project.build(check=False)
    assert failed.returncode != 0
    assert "error: the dispatches of m on host are not those that its lock lists\n" in failed.stdout
    assert f"  removed: {_gone(project)}\n" in failed.stdout
    assert f"  try: dispatchgen lock {project.folder} --model m, then dispatchgen generate" in failed.stdout
    assert "drift" not in project.test("-N").stdout

    if how == "manifest":
        project.definitions = {"DISPATCHGEN_DRIFT": "allow"}
        project.configure()
        assert "1 added, 1 removed" in project.build().stdout
        assert f"{_TESTS}/drift" in project.test("-N").stdout


def test_drift_is_allow_or_error(tmp_path: Path, checkout: Path) -> None:
    project = Project(
        tmp_path,
        models=[layers_model("m")],
        definitions={"DISPATCHGEN_DRIFT": "yes"},
        environment={"PYTHONPATH": str(checkout)},
    )
    project.write_layers("m", (8, 16))
    project.lock()
    project.generate()
    failed = project.configure(check=False)
    assert failed.returncode != 0
    assert "DRIFT is 'allow' or 'error', not 'yes'" in failed.stdout


def test_suites_without_devices_and_builds_on_demand_tell_their_drift(tmp_path: Path, checkout: Path) -> None:
    backends = (dataclasses.replace(HOST, devices=()),)
    definitions = {"DISPATCHGEN_BUILD_ON_TEST": "ON"}
    model = layers_model("m", drift="allow")
    project = _drifted(tmp_path, checkout, model, backends=backends, definitions=definitions)
    project.configure()
    outcome = project.test("-V")
    assert outcome.returncode == 0, outcome.stdout
    assert f"{_TESTS}/drift (Skipped)" in outcome.stdout
    assert f"removed: {_gone(project)}" in outcome.stdout


def test_substitutes_of_what_is_gone_are_skipped_and_the_others_measured(tmp_path: Path, checkout: Path) -> None:
    project = _drifted(tmp_path, checkout, layers_model("m", drift="allow"))
    gone = _gone(project)
    (kept,) = project.dispatches("m").keys() - {gone}
    substitutions = [
        Substitution(id, id, "tuning_spec", "spec.mlir", selectors=selectors, backends=("host",), tolerance=tolerance)
        for id, selectors, tolerance in (("all", (), 0.0), ("gone", (Selector(gone),), None))
    ]
    project.models = [dataclasses.replace(project.models[0], substitutions=tuple(substitutions))]
    write_files(project.folder, {"spec.mlir": TUNING_SPEC.format(tile=8)})
    project.generate()
    project.configure()
    assert f"note: gone: {gone} is not substituted: it is no longer among the dispatches" in project.build().stdout
    outcome = project.test("-V", "-L", "substitution=")
    assert outcome.returncode == 0, outcome.stdout
    ended = dict(re.findall(r"local-sync/substitutions/(\S+) [. ]*(Passed|\*\*\*Skipped)", outcome.stdout))
    assert {name for name, end in ended.items() if end == "Passed"} == {f"all/{kept}{end}" for end in _ENDINGS}
    models = {f"{id}/model/static{end}" for id in ("all", "gone") for end in ("", "/smoke")}
    skipped = {f"all/{gone}{end}" for end in _ENDINGS} | {f"gone/{gone}{end}" for end in ("", "/smoke")} | models
    assert {name for name, end in ended.items() if end != "Passed"} == skipped
    assert f"dispatchgen: skipped: {gone} is not substituted: it is no longer among the dispatches" in outcome.stdout


_ENDINGS = ("", "/smoke", "/check")


def test_what_is_new_has_no_module_and_is_counted(tmp_path: Path, checkout: Path) -> None:
    project = Project(tmp_path, models=[layers_model("m", drift="allow")], environment={"PYTHONPATH": str(checkout)})
    project.write_layers("m", (8, 16))
    project.lock()
    project.generate()
    _write_program(project, "m", "locked")
    project.configure()
    output = project.build().stdout
    assert "note: the dispatches of m on host are not those that its lock lists: 1 added" in output
    assert "note: added: softmax" in output
    assert {path.stem for path in (project.build_dir / "m" / "host").glob("*.vmfb")} == {
        "model",
        *project.dispatches("m"),
    }
    assert project.test("-L", "driver=local-sync").stdout.count("Passed") == 4
