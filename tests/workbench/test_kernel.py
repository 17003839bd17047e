"""`dispatchgen kernel-template`."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dispatchgen.errors import SubstitutionError
from dispatchgen.manifest import load_suite
from dispatchgen.manifest.select import select
from dispatchgen.substitute.kernel_fill import Language
from dispatchgen.workbench.kernel import with_template
from kernels import C_FLAGS, compile_c
from support import RunCli


def test_a_kernel_is_written_once(run_cli: RunCli, manifest: Path, tmp_path: Path) -> None:
    file = manifest.parent / "kernels" / "product.c"
    command = ("kernel-template", "product", "--dispatch", "elementwise*", "--manifest", manifest, "--language", "c")
    first = run_cli(*command, "-o", file)
    assert (first.code, first.stdout, first.stderr) == (0, "", f"wrote {file}\n")
    compile_c(tmp_path, file.read_text(), *C_FLAGS)
    assert run_cli(*command, "-o", file).stderr == f"{file} is as it was\n"
    file.write_text("edited")
    refused = run_cli(*command, "-o", file)
    assert (refused.code, file.read_text()) == (2, "edited")
    assert "--force" in refused.stderr


def test_what_the_comment_says_is_a_manifest(run_cli: RunCli, manifest: Path) -> None:
    file = manifest.parent / "kernels" / "product.comp"
    command = ("kernel-template", "product", "--dispatch", "elementwise_D_f32", "--manifest", manifest)
    printed = run_cli(*command, "--backend", "vulkan").stdout
    file.parent.mkdir()
    file.write_text(printed)
    lines = [line.removeprefix("// ") for line in printed.splitlines() if line.startswith("//   ")]
    part = yaml.safe_load("\n".join(lines[: lines.index("          # workgroups: (w0, w1) -> (w1 ceildiv 64, 1, 1)")]))
    part["models"]["product"]["substitutions"]["my_elementwise_D_f32"]["object"] = "kernels/product.comp"
    whole = yaml.safe_load(manifest.read_text())
    whole["models"]["product"] |= part["models"]["product"]
    manifest.write_text(yaml.safe_dump(whole))
    (model,) = select(load_suite(manifest), ["product"]).models
    (substitution,) = model.substitutions
    assert (substitution.kind, substitution.backends) == ("object", ("vulkan",))


@pytest.mark.parametrize(
    ("backends", "language", "found"),
    [
        ([], "c", "cpu"),
        ([], "glsl", "vulkan"),
        (["cpu"], None, "cpu"),
        (["vulkan", "sm_80"], None, "vulkan"),
    ],
)
def test_the_backend_that_has_a_template(
    manifest: Path, backends: list[str], language: Language | None, found: str
) -> None:
    suite = with_template(select(load_suite(manifest), ["product"], backends), language)
    assert [backend.id for backend in suite.backends] == [found]
    assert [model.backends for model in suite.models] == [(found,)]


@pytest.mark.parametrize(
    ("backends", "language", "message"),
    [
        ([], None, "several backends have a template: `cpu`, `vulkan`"),
        (["sm_80", "gfx942"], None, "their languages are `sm_80` (none), `gfx942` (none)"),
        (["vmvx"], None, "`vmvx` (none)"),
        (["cpu"], "glsl", "there is no template of kernels in glsl for these backends; their languages are `cpu` (c)"),
    ],
)
def test_no_backend_or_several(manifest: Path, backends: list[str], language: Language | None, message: str) -> None:
    with pytest.raises(SubstitutionError) as caught:
        with_template(select(load_suite(manifest), ["product"], backends), language)
    assert message in str(caught.value)


def test_errors_of_the_command(run_cli: RunCli, manifest: Path) -> None:
    command = ("kernel-template", "--manifest", manifest, "--dispatch")
    gpu = run_cli(*command, "matmul*", "layers", "--backend", "gfx942")
    assert gpu.code == 2
    assert "there is no template of kernels for these backends" in gpu.stderr
    several = run_cli(*command, "matmul*", "layers", "--backend", "cpu")
    assert several.code == 2
    assert "a kernel is for one dispatch; matmul* names" in several.stderr
    unknown = run_cli(*command, "matmull", "layers", "--backend", "cpu")
    assert unknown.code == 2
    assert "matmull" in unknown.stderr
