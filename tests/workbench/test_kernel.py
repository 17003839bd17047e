"""`dispatchgen kernel-template`."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dispatchgen.cli.kernel_template import command
from dispatchgen.errors import ManifestError, OutputError, SubstitutionError
from dispatchgen.kernel_template.fill import Language
from dispatchgen.manifest import load_suite
from dispatchgen.manifest.select import select
from dispatchgen.workbench.kernel import with_template
from kernels import C_FLAGS, compile_c
from support import RunCli


def kernel_template(*arguments: str | Path) -> None:
    """Runs the command in this process."""
    command.main([str(argument) for argument in arguments], standalone_mode=False)


def test_a_kernel_is_written_once(manifest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = manifest.parent / "kernels" / "product.c"
    arguments = ("product", "--dispatch", "elementwise*", "--manifest", manifest, "--language", "c", "-o", file)
    kernel_template(*arguments)
    assert capsys.readouterr() == ("", f"wrote {file}\n")
    compile_c(tmp_path, file.read_text(), *C_FLAGS)
    kernel_template(*arguments)
    assert capsys.readouterr() == ("", f"{file} is as it was\n")
    file.write_text("edited")
    with pytest.raises(OutputError, match="--force"):
        kernel_template(*arguments)
    assert file.read_text() == "edited"


def test_what_the_comment_says_is_a_manifest(run_cli: RunCli, manifest: Path) -> None:
    file = manifest.parent / "kernels" / "product.comp"
    arguments = ("product", "--dispatch", "elementwise_D_f32", "--manifest", manifest, "--backend", "vulkan")
    printed = run_cli("kernel-template", *arguments).stdout
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


@pytest.mark.parametrize(
    ("dispatch", "error", "message"),
    [
        ("matmul*", ManifestError, r"a kernel is for one dispatch; matmul\* names"),
        ("nothing", SubstitutionError, "nothing"),
    ],
)
def test_one_dispatch_is_named(dispatch: str, error: type[Exception], message: str, manifest: Path) -> None:
    with pytest.raises(error, match=message):
        kernel_template("layers", "--dispatch", dispatch, "--manifest", manifest, "--backend", "cpu")
