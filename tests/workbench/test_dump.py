"""Dispatches in files: what IREE and the manifest take back unedited, and edits that are not lost."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from dispatchgen.extract.origin import Origin, read_origin
from dispatchgen.iree.tools import find_tools
from dispatchgen.lock.modules import Step, write_modules
from dispatchgen.lock.store import read_lock
from dispatchgen.manifest import load_suite
from dispatchgen.manifest.select import select
from dispatchgen.manifest.suite import Backend, Source
from dispatchgen.manifest.suite import Model as SuiteModel
from dispatchgen.workbench.dump import Dumped, Stage, dump, manifest_part, place
from dispatchgen.workbench.session import sessions
from support import IreeTools, RunCli

_CPU = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
_CPU += ["--iree-llvmcpu-target-cpu=generic", "--iree-scheduling-optimize-bindings=false"]
_CPU += ["--iree-llvmcpu-debug-symbols=false", "--iree-vm-bytecode-module-strip-source-map=true"]


def dumped(manifest: Path, model: str, backend: str, stage: Stage) -> list[Dumped]:
    suite = select(load_suite(manifest), [model], [backend])
    (found,) = (
        list(dump(session, session.dispatches, stage))
        for session in sessions(find_tools(), suite, with_sources=stage == "source")
    )
    return found


@pytest.mark.parametrize("stage", ["source", "configuration"])
def test_flags_of_iree_take_an_unedited_file(
    manifest: Path, iree_tools: IreeTools, tmp_path: Path, stage: Stage
) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    flags = []
    for i, file in enumerate(dumped(manifest, "layers", "cpu", stage)):
        (folder / file.name).write_text(file.text)
        flags.append(f"--iree-hal-substitute-executable-{stage}=main_dispatch_{i}={folder / file.name}")
    assert len(flags) == 2

    def compiled(*flags: str) -> tuple[bytes, str]:
        command: list[str | Path] = [
            iree_tools.compile,
            manifest.parent / "layers.mlir",
            *_CPU,
            *flags,
            "-o",
            tmp_path / "out.vmfb",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return (tmp_path / "out.vmfb").read_bytes(), done.stderr

    original, _ = compiled()
    substituted, stderr = compiled(*flags)
    assert stderr.count("substituted with") == 2
    assert substituted == original


@pytest.mark.parametrize("stage", ["source", "configuration", "benchmark", "assembly"])
def test_what_can_be_edited_says_what_it_was_dumped_from(manifest: Path, stage: Stage) -> None:
    lock = read_lock(manifest.parent / "locks" / "layers.json").backends["cpu"]
    locked = [Origin(each.name, each.content) for each in lock.dispatches]
    nothing = [None] * len(locked)
    found = [read_origin(file.text) for file in dumped(manifest, "layers", "cpu", stage)]
    assert found == (locked if stage in ("source", "configuration") else nothing)


@pytest.mark.parametrize("stage", ["source", "configuration"])
def test_a_file_has_the_data_of_its_constants(models_dir: Path, tmp_path: Path, stage: Stage) -> None:
    """iree-compile's own dumps refer to data that they do not have."""
    shutil.copy(models_dir / "resources.mlir", tmp_path)
    manifest = tmp_path / "benchmarks.yaml"
    manifest.write_text(
        "version: 1\nmodels: {resources: {source: resources.mlir}}\n"
        "backends: {cpu: {target_device: local, local_backend: llvm-cpu}}\n"
    )
    texts = {file.dispatch: file.text for file in dumped(manifest, "resources", "cpu", stage)}
    assert [name for name, text in texts.items() if "0x040000000000803F00000040" in text] == ["elementwise_8_f32"]


def test_all_files_of_a_folder_are_taken_by_iree(manifest: Path, iree_tools: IreeTools, tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    (file,) = dumped(manifest, "product", "cpu", "source")
    (folder / "main_dispatch_0.mlir").write_text(file.text)
    flag = f"--iree-hal-substitute-executable-sources-from={folder}"
    files: list[str | Path] = [iree_tools.compile, manifest.parent / "product.mlir", "-o", tmp_path / "out.vmfb"]
    done = subprocess.run([*files, *_CPU, flag], capture_output=True, text=True, check=True)
    assert "`main_dispatch_0` substituted with" in done.stderr


def test_a_benchmark_module_is_the_one_that_is_measured(manifest: Path, tmp_path: Path) -> None:
    (file,) = dumped(manifest, "product", "cpu", "benchmark")
    (configured,) = (
        shutil.copy(session.folder / "configured.mlir", tmp_path)
        for session in sessions(find_tools(), select(load_suite(manifest), ["product"], ["cpu"]))
    )
    write_modules(Step(Path(configured), manifest.parent / "locks" / "product.json", "cpu", tmp_path / "dispatches"))
    assert file.name == "elementwise_D_f32.benchmark.mlir"
    assert file.text == (tmp_path / "dispatches" / "elementwise_D_f32.mlir").read_text()


@pytest.mark.parametrize(
    ("backend", "suffix", "sign"),
    [
        ("cpu", ".s", "main_dispatch_0_elementwise_D_f32:"),
        ("sm_80", ".ptx", ".visible .entry main_dispatch_0_elementwise_D_f32("),
        ("gfx942", ".rocmasm", ".amdhsa_kernel main_dispatch_0_elementwise_D_f32"),
        ("vulkan", ".spirv.mlir", 'spirv.EntryPoint "GLCompute" @main_dispatch_0_elementwise_D_f32'),
        ("metal", ".metal", "kernel void main_dispatch_0_elementwise_D_f32("),
    ],
)
def test_assembly_is_what_the_backend_has(manifest: Path, tmp_path: Path, backend: str, suffix: str, sign: str) -> None:
    (file,) = dumped(manifest, "product", backend, "assembly")
    assert file.name == f"elementwise_D_f32{suffix}"
    assert sign in file.text
    assert "/tmp" not in file.text
    assert str(tmp_path) not in file.text
    assert file.kind == ("object" if suffix == ".ptx" else None)


def test_a_backend_without_assembly_is_an_error(manifest: Path, run_cli: RunCli) -> None:
    done = run_cli("dump", "product", "--backend", "vmvx", "--stage", "assembly", "-o", "k", cwd=manifest.parent)
    assert done.code == 2
    assert done.stderr == (
        "error: model product: the compiler leaves no assembly on backend vmvx, only .vmfb\n  try: another --stage\n"
    )


def test_what_is_printed_is_what_the_manifest_needs(manifest: Path, run_cli: RunCli) -> None:
    root = manifest.parent
    arguments = ["dump", "product", "--dispatch", "elementwise*", "--backend", "cpu", "-o", "kernels"]
    for stage in ("source", "configuration"):
        done = run_cli(*arguments, "--stage", stage, cwd=root)
        assert done.code == 0, done.stderr
        part = yaml.safe_load(done.stdout)
        data = yaml.safe_load(manifest.read_text())
        data["models"]["product"].setdefault("substitutions", {}).update(part["models"]["product"]["substitutions"])
        manifest.write_text(yaml.safe_dump(data, sort_keys=False))
    source, configuration = load_suite(manifest).models[0].substitutions
    assert (source.kind, source.file) == ("source", "kernels/elementwise_D_f32.mlir")
    assert (configuration.kind, configuration.file) == (
        "configuration",
        "kernels/configured_elementwise_D_f32.mlir",
    )
    assert source.backends == configuration.backends == ("cpu",)
    assert run_cli("generate", "--cmake", cwd=root).code == 0


def test_an_edited_file_is_kept(manifest: Path, run_cli: RunCli) -> None:
    root = manifest.parent
    arguments = ["dump", "layers", "--backend", "cpu", "--stage", "configuration", "-o", "kernels"]
    first = run_cli(*arguments, cwd=root)
    names = ["configured_matmul_4x32x64_f32.mlir", "configured_matmul_4x128x32_f32.mlir"]
    assert first.stderr.splitlines() == [f"wrote kernels/{name}" for name in names]
    edited = root / "kernels" / names[0]
    original = edited.read_text()
    edited.write_text(original + "// mine\n")
    (root / "kernels" / names[1]).unlink()

    refused = run_cli(*arguments, cwd=root)
    assert refused.code == 2
    assert f"at kernels/{names[0]}\n  try: another folder, or --force to replace it" in refused.stderr
    assert edited.read_text().endswith("// mine\n")
    assert not (root / "kernels" / names[1]).exists()

    forced = run_cli(*arguments, "--force", cwd=root)
    assert forced.code == 0
    assert edited.read_text() == original
    again = run_cli(*arguments, cwd=root)
    assert again.stderr.splitlines() == [f"kernels/{name} is as it was" for name in names]


def test_a_folder_that_the_manifest_cannot_name_is_said(manifest: Path, run_cli: RunCli, tmp_path: Path) -> None:
    arguments = ["dump", "layers", "--backend", "cpu", "--stage", "source", "--dispatch", "main_dispatch_1"]
    done = run_cli(*arguments, "--manifest", manifest, "-o", tmp_path / "elsewhere")
    file = tmp_path / "elsewhere" / "matmul_4x128x32_f32.mlir"
    note = f"note: the manifest names files below {manifest.parent} only: copy {file} there"
    assert note in done.stderr.splitlines()
    substitutions = yaml.safe_load(done.stdout)["models"]["layers"]["substitutions"]
    assert substitutions["matmul_4x128x32_f32"]["source"] == "matmul_4x128x32_f32.mlir"


def test_a_dispatch_that_there_is_not(manifest: Path, run_cli: RunCli) -> None:
    arguments = ["dump", "layers", "--backend", "cpu", "--stage", "source", "-o", "k"]
    done = run_cli(*arguments, "--dispatch", "matmul_4x32x64_f23", cwd=manifest.parent)
    assert done.code == 2
    assert done.stderr == (
        "error: model layers on backend cpu: there is no dispatch `matmul_4x32x64_f23`\n  try: `matmul_4x32x64_f32`\n"
    )
    assert not (manifest.parent / "k").exists()


def _file(model: str, backend: str) -> Dumped:
    suite_model = SuiteModel(model, model, Source("m.mlir", "mlir"), backends=(backend,))
    return Dumped(suite_model, Backend(backend, backend, "local"), "d", "d.mlir", "", "source")


def test_several_models_and_backends_have_folders_of_their_own() -> None:
    folder = Path("k")
    one, other_backend, other_model = _file("a", "x"), _file("a", "y"), _file("b", "x")
    assert list(place([one], folder)) == [folder / "d.mlir"]
    assert list(place([one, other_backend], folder)) == [folder / "x" / "d.mlir", folder / "y" / "d.mlir"]
    assert list(place([one, other_model], folder)) == [folder / "a" / "d.mlir", folder / "b" / "d.mlir"]
    assert list(place([one, other_backend, other_model], folder))[1:] == [
        folder / "a" / "y" / "d.mlir",
        folder / "b" / "x" / "d.mlir",
    ]


def test_files_of_several_backends_have_names_of_their_own(manifest: Path) -> None:
    suite = load_suite(manifest)
    files = [file for backend in ("cpu", "gfx942") for file in dumped(manifest, "product", backend, "configuration")]
    part = manifest_part(place(files, manifest.parent / "k"), suite)
    assert part is not None
    assert yaml.safe_load(part)["models"]["product"]["substitutions"] == {
        f"configured_elementwise_D_f32_{backend}": {
            "dispatch": "elementwise_D_f32",
            "configuration": f"k/{backend}/configured_elementwise_D_f32.mlir",
            "backends": [backend],
        }
        for backend in ("cpu", "gfx942")
    }
