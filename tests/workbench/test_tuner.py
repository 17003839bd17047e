"""What is exported for IREE's tuner has the properties that it needs; the tuner itself is not called."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml
from iree.compiler import ir

from dispatchgen.manifest import load_suite
from support import IreeTools, RunCli

#: A matrix product that the tuner can tune, and an elementwise operation that it cannot.
_PROGRAM = """\
func.func @main(%a: tensor<256x128xf16>, %b: tensor<64x128xf16>, %x: tensor<256xf32>)
    -> (tensor<256x64xf32>, tensor<256xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x64xf32>) -> tensor<256x64xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                      affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<256x128xf16>, tensor<64x128xf16>) outs(%f : tensor<256x64xf32>) -> tensor<256x64xf32>
  %y = math.exp %x : tensor<256xf32>
  return %r, %y : tensor<256x64xf32>, tensor<256xf32>
}
"""
_MATMUL = "matmul_like_256x64x128_f16xf16xf32"


_MANIFEST = """\
version: 1
backends:
  gfx942: {target_device: hip, compile_flags: [--iree-rocm-target=gfx942]}
models:
  tunable:
    source: tunable.mlir
    backends: [gfx942]
    parameters: [w=weights.irpa]
    compile_flags: [--iree-opt-level=O2]
    data: {default: random}
"""


@pytest.fixture(scope="module")
def exported(run_cli: RunCli, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The exported folder of a model with parameters and flags of its own."""
    root = tmp_path_factory.mktemp("tunable")
    (root / "benchmarks.yaml").write_text(_MANIFEST)
    (root / "tunable.mlir").write_text(_PROGRAM)
    (root / "weights.irpa").touch()
    done = run_cli("export-tuner", "tunable", "-o", "tuner", cwd=root)
    assert done.code == 0, done.stderr
    assert done.stdout.splitlines() == [
        "tunable/gfx942: 1 of 2 dispatches",
        "  elementwise_256_f32: linalg.generic here is no contraction, convolution or attention; the tuner tunes those",
        "next: see tuner/tunable/gfx942/README.md",
    ]
    return root / "tuner" / "tunable" / "gfx942"


def test_everything_that_the_tuner_reads_is_there(exported: Path) -> None:
    assert sorted(path.name for path in exported.iterdir()) == [
        "README.md",
        "compile_flags.txt",
        f"{_MATMUL}_benchmark.mlir",
        "model.mlir",
        "static.flags",
    ]
    assert (exported / "model.mlir").read_text() == _PROGRAM
    # The tuner takes each line for a flag; it adds the phase and the candidate's tuning spec itself.
    assert (exported / "compile_flags.txt").read_text().splitlines() == [
        "--iree-hal-target-device=hip",
        "--iree-scheduling-optimize-bindings=false",
        "--iree-vm-bytecode-module-strip-source-map=true",
        "--iree-rocm-target=gfx942",
        "--iree-opt-level=O2",
    ]
    assert (exported / "static.flags").read_text().splitlines() == [
        "--function=main",
        *("--input=256x128xf16", "--input=64x128xf16", "--input=256xf32"),
        "--parameters=w=../../../weights.irpa",
    ]


def test_the_tuners_way_of_compiling_works(exported: Path, iree_tools: IreeTools, tmp_path: Path) -> None:
    benchmark = exported / f"{_MATMUL}_benchmark.mlir"
    assert benchmark.read_text().count("#iree_codegen.root_op<") == 1
    assert "io_parameters" not in benchmark.read_text(), "the tuner has no files of data"
    # As amdsharktuner's `strip_compilation_info` and `strip_root_op_attr`.
    strip: list[str | Path] = [iree_tools.opt, benchmark, "--iree-codegen-strip-compilation-info"]
    stripped = subprocess.run(strip, capture_output=True, text=True, check=True).stdout
    assert "lowering_config" not in stripped
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(stripped)
        roots: list[ir.Operation] = []

        def visit(op: ir.Operation) -> ir.WalkResult:
            if "root_op" in op.attributes:
                roots.append(op)
            return ir.WalkResult.ADVANCE

        module.operation.walk(visit)
        (root,) = roots
        assert root.parent.name == "func.func"  # whose name the tuner gives to the matcher in its specs
        del root.attributes["root_op"]
        (tmp_path / "template.mlir").write_text(str(module))
    flags = (exported / "compile_flags.txt").read_text().splitlines()
    compile_: list[str | Path] = [iree_tools.compile, tmp_path / "template.mlir", "-o", tmp_path / "out.vmfb", *flags]
    subprocess.run([*compile_, "--compile-from=executable-sources"], cwd=exported, check=True)


def test_the_page_has_commands_of_files_that_are_there(exported: Path) -> None:
    page = (exported / "README.md").read_text()
    commands = [shlex.split(line) for line in page.splitlines() if line.startswith("python -m ")]
    assert [command[2] for command in commands] == ["dispatch_tuner", "model_tuner"]
    for command in commands:
        files = [word.partition("=")[2] if word.startswith("--") else word for word in command[3:]]
        files = [file for file in files if re.search(r"\.(mlir|txt|flags)$", file) and "tuning_spec" not in file]
        assert files
        assert all((exported / file).is_file() for file in files)
        assert "--devices=hip://0" in command
    assert "- `elementwise_256_f32`: " in page


def test_the_page_says_how_the_result_is_measured(exported: Path, tmp_path: Path) -> None:
    part = re.search(r"```yaml\n(.*?)```", (exported / "README.md").read_text(), re.DOTALL)
    assert part is not None
    substitutions = yaml.safe_load(part[1])["models"]["tunable"]["substitutions"]
    data = yaml.safe_load(_MANIFEST)
    data["models"]["tunable"]["substitutions"] = substitutions
    for name in ("tunable.mlir", "weights.irpa", substitutions["tuned"]["tuning_spec"]):
        (tmp_path / name).touch()
    (tmp_path / "benchmarks.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    (substitution,) = load_suite(tmp_path / "benchmarks.yaml").models[0].substitutions
    assert (substitution.kind, substitution.backends) == ("tuning_spec", ("gfx942",))


def test_a_tuning_spec_of_the_suite_is_left_to_the_tuner(manifest: Path, run_cli: RunCli) -> None:
    root = manifest.parent
    (root / "spec.mlir").write_text(
        "module attributes {transform.with_named_sequence} {\n"
        "  transform.named_sequence @__kernel_config(%variant: !transform.any_op {transform.consumed})\n"
        "      -> !transform.any_op attributes {iree_codegen.tuning_spec_entrypoint} {\n"
        "    transform.yield %variant : !transform.any_op\n  }\n}\n"
    )
    flag = "--iree-codegen-tuning-spec-path=spec.mlir"
    manifest.write_text(
        manifest.read_text().replace("--iree-rocm-target=gfx942]", f"--iree-rocm-target=gfx942, {flag}]")
    )
    done = run_cli("export-tuner", "layers", "-o", "tuner", cwd=root)
    assert done.code == 0, done.stderr
    exported = root / "tuner" / "layers" / "gfx942"
    assert "tuning-spec-path" not in (exported / "compile_flags.txt").read_text()
    assert "--starter-td-spec=" in (exported / "README.md").read_text()


def test_dynamic_sizes_are_not_for_the_tuner(manifest: Path, run_cli: RunCli, models_dir: Path) -> None:
    (manifest.parent / "product.mlir").write_text((models_dir / "mlp.mlir").read_text())
    text = manifest.read_text().replace("[Nxf32, Nxf32]", "[Nx64xf32, 64x128xf32, 128x32xf32]")
    manifest.write_text(text)
    done = run_cli("export-tuner", "product", "-o", "tuner", cwd=manifest.parent)
    assert done.code == 1
    reason = "its sizes are dynamic; the tuner needs those of a program compiled for one shape"
    assert done.stdout.splitlines() == [
        "product/gfx942: 0 of 2 dispatches",
        *(f"  {name}: {reason}" for name in ("matmul_Dx128x64_f32", "matmul_Dx32x128_f32")),
    ]
    assert done.stderr == "error: the tuner can tune none of these dispatches\n"
    assert not (manifest.parent / "tuner").exists()


def test_the_tuner_is_for_amd_gpus(manifest: Path, run_cli: RunCli) -> None:
    done = run_cli("export-tuner", "layers", "--backend", "cpu", "-o", "tuner", cwd=manifest.parent)
    assert done.code == 2
    assert "error: the tuner is for AMD GPUs, and none of the backends is: `cpu` (local)\n" in done.stderr
