"""`dispatchgen check-outputs`, as tests of builds call it."""

from __future__ import annotations

from pathlib import Path

import pytest

import support
from dispatchgen.agreement.spec import CheckSpec
from substituted import Built, build


@pytest.fixture(scope="module")
def narrow(iree_tools: support.IreeTools, models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A kernel of i4, bf16 and f8, replaced by itself and by a wrong one."""
    inputs = ("8xi4", "8xbf16", "8xf8E4M3FN")
    folder = tmp_path_factory.mktemp("narrow")
    built = build(iree_tools, folder, models_dir / "elements.mlir", "llvm-cpu", inputs, function="narrow")
    wrong = built.edited(built.only, "configuration", "arith.uitofp", "arith.sitofp")
    for name, file in (("same", built.dump(built.only, "configuration")), ("wrong", wrong)):
        built.substitute(name, "configuration", file, built.only, tolerance=1e-3)
        built.compile(f"dispatches/{built.only}.check.mlir", name)
    return built


def check(built: Built, name: str, *arguments: str | Path, device: str = "local-sync") -> support.CliResult:
    module = built.variant(name) / f"{built.only}.check.vmfb"
    spec = built.variant(name) / "dispatches" / f"{built.only}.check.json"
    options: list[str | Path] = ["--spec", spec, "--device", device, "--iree-run-module", built.tools.run_module]
    return support.run_cli("check-outputs", module, *options, *arguments)


def test_outputs_that_agree(narrow: Built) -> None:
    result = check(narrow, "same", "--", "--print_statistics=false", "--benchmark_min_warmup_time=1")
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout == f"{narrow.only}: agrees, largest difference 0\n"


def test_outputs_that_differ(narrow: Built) -> None:
    """The wrong kernel takes signed numbers of four bits for unsigned ones."""
    result = check(narrow, "wrong")
    assert (result.code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"error: {narrow.only}: binding 3, element ")
    assert "of 8 elements differ" in result.stderr
    assert check(narrow, "wrong", "--tolerance", "16").code == 0


def test_an_absent_device_is_told_in_the_tools_words(narrow: Built) -> None:
    result = check(narrow, "same", device="nosuchdriver")
    assert result.code == 1
    assert "no driver 'nosuchdriver' registered" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("tolerance", ["inf", "nan", "-1"])
def test_a_tolerance_is_a_finite_number(narrow: Built, tolerance: str) -> None:
    """With another one the wrong kernel would agree."""
    result = check(narrow, "wrong", "--tolerance", tolerance)
    assert (result.code, result.stdout) == (2, "")
    assert f"expected a finite number that is not below 0, found {tolerance}" in result.stderr


def test_nothing_to_compare_is_no_agreement(narrow: Built, tmp_path: Path) -> None:
    """As of a dispatch that is gone: its check module is a placeholder."""
    spec = CheckSpec(dispatch="gone", guard=0, tolerance=0, benchmarks=())
    (tmp_path / "gone.check.json").write_text(spec.model_dump_json())
    spec_option: list[str | Path] = ["--spec", tmp_path / "gone.check.json"]
    options = [*spec_option, "--device", "local-sync", "--iree-run-module", narrow.tools.run_module]
    result = support.run_cli("check-outputs", tmp_path / "none.vmfb", *options)
    assert (result.code, result.stdout) == (2, "")
    assert "there is nothing to compare: the program of this build does not have gone" in result.stderr


def test_wrong_input_is_said(narrow: Built, tmp_path: Path) -> None:
    module = narrow.variant("same") / f"{narrow.only}.check.vmfb"
    options: list[str | Path] = ["--device", "local-sync", "--iree-run-module", narrow.tools.run_module]
    result = support.run_cli("check-outputs", module, "--spec", tmp_path / "none.json", *options)
    assert result.code == 2
    assert "cannot read what is to be checked: No such file or directory" in result.stderr
    spec = narrow.variant("same") / "dispatches" / f"{narrow.only}.check.json"
    result = support.run_cli("check-outputs", tmp_path / "none.vmfb", "--spec", spec, *options)
    assert result.code == 1
    assert "failed to open file" in result.stderr
