"""Commands to run by hand: they run as printed, and make what a build makes."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from support import ONCE, RunCli

_KERNEL = """\
#include <stddef.h>
#include <stdint.h>
#include "kernels/sizes.h"

void product(const float *a, const float *b, float *out, uint32_t k0, uint32_t k1, uint32_t size, uint32_t k3,
             size_t x, size_t y, size_t z, size_t count_x, size_t count_y, size_t count_z) {
  for (uint32_t i = 0; i < SIZE; ++i) out[i] = a[i] * b[i];
}
"""

needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="no cc: install gcc")


def sh(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a script as a user does, in a folder that is not the suite's."""
    folder.mkdir(exist_ok=True)
    (folder / "repro.sh").write_text(script)
    return subprocess.run(["sh", "repro.sh"], cwd=folder, capture_output=True, text=True, check=True)


def add_substitutions(manifest: Path, **substitutions: Mapping[str, object]) -> None:
    data = yaml.safe_load(manifest.read_text())
    data["models"]["product"]["substitutions"] = substitutions
    manifest.write_text(yaml.safe_dump(data, sort_keys=False))


def write_kernel(root: Path) -> dict[str, object]:
    """Writes a kernel that finds its header from the suite's folder; returns what the manifest says of it."""
    (root / "kernels").mkdir()
    (root / "kernels" / "product.c").write_text(_KERNEL)
    (root / "kernels" / "sizes.h").write_text("#define SIZE size\n")
    command = ["cc", "-O3", "-ffreestanding", "-fPIC", "-fno-stack-protector", "-fvisibility=hidden", "-I."]
    return {
        "dispatch": {"operation": "elementwise_D_f32"},
        "object": "kernels/product.c",
        "command": [*command, "-c", "{source}", "-o", "{output}"],
        "workgroups": "(w0, w1) -> (1, 1, 1)",
    }


def test_the_printed_commands_run_one_benchmark(manifest: Path, run_cli: RunCli, tmp_path: Path) -> None:
    benchmark = "elementwise_D_f32__N5000"
    arguments = ["repro", "product", "--dispatch", "main_dispatch_0", "--benchmark", benchmark, "--backend", "cpu"]
    printed = run_cli(*arguments, "-o", "it's here", cwd=manifest.parent)
    assert printed.code == 0, printed.stderr
    assert printed.stderr == ""
    assert printed.stdout.startswith("set -e\ncd '")
    done = sh(printed.stdout, tmp_path / "elsewhere")
    rows = [line.split("/")[0] for line in done.stdout.splitlines() if line.startswith("BM_")]
    assert rows == [f"BM_{benchmark}"]
    written = sorted(path.relative_to(manifest.parent).as_posix() for path in manifest.parent.glob("it's here/**/*.*"))
    assert written == ["it's here/dispatches/elementwise_D_f32.mlir", "it's here/elementwise_D_f32.vmfb"]


@needs_cc
@pytest.mark.slow
def test_the_commands_make_what_the_build_makes(manifest: Path, run_cli: RunCli, tmp_path: Path) -> None:
    root = manifest.parent
    add_substitutions(manifest, by_hand=write_kernel(root))
    ran = run_cli("run", "--model", "product", "--backend", "cpu", *ONCE, cwd=root)
    assert ran.code == 0, ran.stderr
    arguments = ["repro", "product", "--dispatch", "elementwise_D_f32", "--device", "local-sync"]
    for options in ([], ["--substitution", "by_hand"]):
        printed = run_cli(*arguments, *options, cwd=root)
        assert printed.code == 0, printed.stderr
        done = sh(printed.stdout, tmp_path / "elsewhere")
        assert done.stdout.count("BM_elementwise_D_f32__N") == 2
    for module in ("elementwise_D_f32.vmfb", "substitutions/by_hand/elementwise_D_f32.vmfb"):
        built = root / ".dispatchgen" / "build" / "product" / "cpu" / module
        assert (root / "repro" / module).read_bytes() == built.read_bytes(), module

    (root / "kernels" / "product.c").write_text("no kernel")
    with pytest.raises(subprocess.CalledProcessError) as error:
        sh(printed.stdout, tmp_path / "elsewhere")
    assert "product.c" in error.value.stderr
    assert "BM_" not in error.value.stdout


def test_an_object_that_is_there_is_copied(manifest: Path, run_cli: RunCli) -> None:
    root = manifest.parent
    name = "$(a product).o"
    (root / name).touch()
    add_substitutions(manifest, ready={"object": name, "dispatch": "elementwise*", "entry": "mul"})
    arguments = ["repro", "product", "--dispatch", "elementwise_D_f32", "--backend", "cpu", "--substitution", "ready"]
    printed = run_cli(*arguments, cwd=root)
    assert printed.code == 0, printed.stderr
    copy = root / "repro" / "substitutions" / "ready" / "elementwise_D_f32.o"
    lines = printed.stdout.splitlines()
    assert lines[3] == f"cp '{root / name}' {copy}"
    assert f"--substitute {copy} --given '{name}'" in lines[4]
    assert "--entry=mul" in lines[4]


def test_one_object_for_several_dispatches_is_named_after_the_first(manifest: Path, run_cli: RunCli) -> None:
    (manifest.parent / "mm.o").touch()
    data = yaml.safe_load(manifest.read_text())
    data["models"]["layers"]["substitutions"] = {"ready": {"object": "mm.o", "dispatch": "matmul*"}}
    manifest.write_text(yaml.safe_dump(data, sort_keys=False))
    arguments = ["repro", "layers", "--dispatch", "matmul_4x32x64_f32", "--substitution", "ready"]
    printed = run_cli(*arguments, cwd=manifest.parent)
    assert printed.code == 0, printed.stderr
    copy = manifest.parent / "repro" / "substitutions" / "ready" / "matmul_4x128x32_f32.o"
    assert f"--substitute {copy} --given mm.o --dispatches " in printed.stdout
    assert " --dispatch matmul_4x32x64_f32 " in printed.stdout


def test_a_path_may_hold_what_a_command_has_for_another(manifest: Path, run_cli: RunCli) -> None:
    kernel = manifest.parent / "k{output}{entry}.c"
    kernel.touch()
    command = ["cc", "-DE={entry}", "{source}", "-o", "{output}"]
    kind = {"dispatch": "elementwise*", "object": kernel.name, "command": command, "entry": "mul"}
    add_substitutions(manifest, mine=kind)
    arguments = ["repro", "product", "--dispatch", "elementwise_D_f32", "--backend", "cpu", "--substitution", "mine"]
    printed = run_cli(*arguments, "-o", "{source}", cwd=manifest.parent)
    assert printed.code == 0, printed.stderr
    output = manifest.parent / "{source}" / "substitutions" / "mine" / "mine.o"
    (line,) = (line for line in printed.stdout.splitlines() if line.startswith("cc "))
    assert shlex.split(line) == ["cc", "-DE=mul", str(kernel), "-o", str(output)]


def test_a_tuned_dispatch(manifest: Path, run_cli: RunCli, tmp_path: Path) -> None:
    spec = manifest.parent / "spec.mlir"
    spec.write_text(
        "module attributes {transform.with_named_sequence} {\n"
        "  transform.named_sequence @__kernel_config(%variant: !transform.any_op {transform.consumed})\n"
        "      -> !transform.any_op attributes {iree_codegen.tuning_spec_entrypoint} {\n"
        "    transform.yield %variant : !transform.any_op\n  }\n}\n"
    )
    add_substitutions(manifest, tuned={"tuning_spec": "spec.mlir", "backends": ["cpu"]})
    arguments = ["repro", "product", "--dispatch", "elementwise_D_f32", "--backend", "cpu"]
    tuned = run_cli(*arguments, "--substitution", "tuned", cwd=manifest.parent)
    if sys.version_info >= (3, 11):  # which knows PYTHONSAFEPATH
        (manifest.parent / "click.py").write_text("raise AssertionError('a module of the suite')\n")
    assert tuned.code == 0, tuned.stderr
    done = sh(tuned.stdout, tmp_path / "elsewhere")
    assert "elementwise_D_f32 is the same as the compiler's own" in done.stdout
    assert done.stdout.count("BM_elementwise_D_f32__N") == 2


def test_a_backend_without_devices_is_compiled(manifest: Path, run_cli: RunCli, tmp_path: Path) -> None:
    arguments = ["repro", "product", "--dispatch", "elementwise_D_f32", "--backend", "gfx942"]
    printed = run_cli(*arguments, cwd=manifest.parent)
    assert printed.stderr == "note: backend gfx942 has no devices in the manifest: it is only compiled\n"
    sh(printed.stdout, tmp_path / "elsewhere")
    assert (manifest.parent / "repro" / "elementwise_D_f32.vmfb").stat().st_size > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["layers", "--dispatch", "m*"], "one backend is needed, and these are meant: `cpu`, `gfx942`"),
        (
            ["layers", "--dispatch", "m*", "--device", "local-sync"],
            "one dispatch is needed, and these are meant: `matmul_4x32x64_f32`, `matmul_4x128x32_f32`",
        ),
        (["product", "--dispatch", "e*", "--backend", "vmvx", "--benchmark", "N5000"], "has no benchmark `N5000`"),
        (["product", "--dispatch", "e*", "--backend", "vmvx", "--substitution", "x"], "has no substitution `x`"),
        (
            ["product", "--dispatch", "e*", "--backend", "vmvx", "--substitution", "only cpu"],
            "substitution `only cpu` does not replace dispatch `elementwise_D_f32` on backend `vmvx`: "
            "it is for other backends",
        ),
    ],
)
def test_what_there_is_not_is_an_error(manifest: Path, run_cli: RunCli, arguments: list[str], message: str) -> None:
    (manifest.parent / "kernel.o").touch()
    add_substitutions(manifest, **{"only cpu": {"dispatch": "e*", "object": "kernel.o"}})
    done = run_cli("repro", *arguments, cwd=manifest.parent)
    assert done.code == 2
    assert message in done.stderr
    assert done.stdout == ""
    assert not (manifest.parent / "repro").exists()


def test_a_substitution_of_one_backend_tells_the_backend(manifest: Path, run_cli: RunCli) -> None:
    (manifest.parent / "kernel.o").touch()
    add_substitutions(
        manifest, mine={"dispatch": "e*", "object": "kernel.o"}, any={"dispatch": "e*", "source": "product.mlir"}
    )
    arguments = ["repro", "product", "--dispatch", "e*", "--substitution"]
    one = run_cli(*arguments, "mine", cwd=manifest.parent)
    assert one.code == 0, one.stderr
    assert "--iree-hal-local-target-device-backends=llvm-cpu" in one.stdout
    several = run_cli(*arguments, "any", cwd=manifest.parent)
    assert several.code == 2
    assert "one backend is needed, and these are meant: `cpu`, `vmvx`, " in several.stderr
    none = run_cli(*arguments, "mien", cwd=manifest.parent)
    assert none.code == 2
    assert "there is no substitution or combination `mien` among those selected" in none.stderr


def test_substitutions_need_a_lock(manifest: Path, run_cli: RunCli) -> None:
    (manifest.parent / "kernel.o").touch()
    add_substitutions(manifest, mine={"dispatch": "e*", "object": "kernel.o"})
    (manifest.parent / "locks" / "product.json").unlink()
    arguments = ["repro", "product", "--dispatch", "e*", "--backend", "cpu", "--substitution", "mine"]
    done = run_cli(*arguments, cwd=manifest.parent)
    assert done.code == 2
    assert "error: model `product` has no lock file" in done.stderr
    assert "try: dispatchgen lock" in done.stderr
