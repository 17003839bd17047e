"""The commands `dispatchgen substitute` and `dispatchgen substitute-model`, as builds call them."""

from __future__ import annotations

from pathlib import Path

import pytest

from substituted import Built, build
from support import IreeTools, RunCli


@pytest.fixture(scope="module")
def product(iree_tools: IreeTools, models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(
        iree_tools, tmp_path_factory.mktemp("product"), models_dir / "mul.mlir", "llvm-cpu", ("5xf32", "5xf32")
    )


def arguments(built: Built, kind: str, file: Path, *options: str) -> list[str | Path]:
    paths = ["--dispatches=dispatches", "--output=substitutions/s/dispatches", f"--iree-compile={built.tools.compile}"]
    return ["substitute", "--name=s", f"--kind={kind}", f"--substitute={file}", *paths, *options, "--", *built.flags]


def test_a_round_trip(product: Built, run_cli: RunCli) -> None:
    file = product.dump(product.only, "source")
    options = f"--dispatch={product.only}", "--given=kernels/mul.mlir"
    done = run_cli(*arguments(product, "source", file, *options), cwd=product.folder)
    assert (done.code, done.stderr) == (0, "")
    assert product.record("s", product.only).file == "kernels/mul.mlir"
    assert done.stdout == f"note: s: {product.only} is the same as the compiler's own\n"

    executable = f"substitutions/s/dispatches/{product.only}.executable.mlir"
    command = ["substitute-model", "configured.mlir", "--index=dispatches/index.json", "--output=out.mlir"]
    done = run_cli(*command, executable, cwd=product.folder)
    assert (done.code, done.stdout, done.stderr) == (0, "", "")
    assert (product.folder / "out.mlir").read_bytes() == product.configured.read_bytes()
    assert run_cli(*command, cwd=product.folder).code == 2, "no executable is named"


@pytest.mark.parametrize("tolerance", ["inf", "nan", "-0.5"])
def test_a_tolerance_is_a_finite_number(product: Built, run_cli: RunCli, tolerance: str) -> None:
    options = [f"--dispatch={product.only}", f"--tolerance={tolerance}"]
    file = product.dump(product.only, "source")
    done = run_cli(*arguments(product, "source", file, *options), cwd=product.folder)
    assert done.code == 2
    assert f"expected a finite number that is not below 0, found {tolerance}" in done.stderr


def test_several_dispatches_are_for_tuning_specs(product: Built, run_cli: RunCli) -> None:
    file = product.dump(product.only, "source")
    done = run_cli(*arguments(product, "source", file, "--dispatch=a", "--dispatch=b"), cwd=product.folder)
    assert done.code == 2
    assert "--kind source is of one dispatch; found a, b" in done.stderr
