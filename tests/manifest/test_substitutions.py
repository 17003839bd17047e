"""Substitutions and combinations in the manifest; `tests/golden/manifest_substitution*` hold what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dispatchgen.errors import ManifestError
from dispatchgen.manifest import load_suite
from dispatchgen.manifest.objects import DEFAULT_COMMANDS
from dispatchgen.manifest.select import select
from dispatchgen.manifest.suite import Combination, Model, Selector, Substitution, Suite

LoadText = Callable[[str], Suite]

_BACKENDS = """
version: 1
backends:
  my cpu: {target_device: local, local_backend: llvm-cpu}
  vmvx: {target_device: local, local_backend: vmvx}
  gpu: {target_device: vulkan}
  nv: {target_device: cuda}
  amd: {target_device: hip}
models:
  m:
    source: m.mlir
"""
_FILES = ("k.c", "k.h", "k.o", "k.obj", "k.comp", "k.glsl", "k.spv", "k.cu", "k.ptx", "k.hsaco", "k.rs", "spec.mlir")


@pytest.fixture
def load_model(load_text: LoadText, tmp_path: Path) -> Callable[[str], Model]:
    """Loads a manifest with five backends and one model, to which the text adds keys."""
    (tmp_path / "kernels").mkdir()
    for name in _FILES:
        (tmp_path / "kernels" / name).touch()

    def load(text: str) -> Model:
        return load_text(_BACKENDS + "".join(f"    {line}\n" for line in text.splitlines())).models[0]

    return load


LoadModel = Callable[[str], Model]


def test_everything(load_model: LoadModel) -> None:
    model = load_model(
        "substitutions:\n"
        "  by hand:\n"
        "    dispatch: [d, {operation: matmul_*}]\n"
        "    object: ./kernels/k.c\n"
        "    command: [clang, '-De={entry}', '{source}', '-o{output}']\n"
        "    inputs: [kernels/../kernels/k.h]\n"
        "    backends: [my_cpu]\n"
        "    entry: my_mm\n"
        "    workgroups: (w0) -> (w0 ceildiv 64, 1, 1)\n"
        "    other_target: allow\n"
        "    check: {tolerance: 1e-3}\n"
        "  edited:\n"
        "    {dispatch: {operation: softmax}, configuration: m.mlir, backends: [my cpu, gpu], check: {tolerance: 0}}\n"
        "combinations:\n"
        "  all of them: [edited, by_hand]\n"
    )
    by_hand = Substitution(
        name="by hand",
        id="by_hand",
        kind="object",
        file="kernels/k.c",
        selectors=(Selector("d"), Selector("matmul_*", "operation")),
        backends=("my_cpu",),
        command=("clang", "-De={entry}", "{source}", "-o{output}"),
        inputs=("kernels/k.h",),
        entry="my_mm",
        workgroups="(w0) -> (w0 ceildiv 64, 1, 1)",
        other_target=True,
        tolerance=0.001,
        line=13,
    )
    edited = Substitution(
        name="edited",
        id="edited",
        kind="configuration",
        file="m.mlir",
        selectors=(Selector("softmax", "operation"),),
        backends=("my_cpu", "gpu"),
        tolerance=0.0,
        line=23,
    )
    assert model.substitutions == (by_hand, edited)
    assert model.combinations == (Combination("all of them", "all_of_them", ("edited", "by_hand"), ("my_cpu",), 26),)


def test_none_is_the_default(load_text: LoadText) -> None:
    model = load_text("version: 1\nmodels: {m: {source: m.mlir}}\n").models[0]
    assert (model.substitutions, model.combinations, model.flag_files) == ((), (), {})


_ALL = ("my_cpu", "vmvx", "gpu", "nv", "amd")


@pytest.mark.parametrize(
    ("file", "backends"),
    [
        ("source: m.mlir", _ALL),
        ("configuration: sub/n.mlirbc", _ALL),
        ("tuning_spec: kernels/spec.mlir", _ALL),
        ("object: kernels/k.o", ("my_cpu",)),
        ("object: kernels/k.obj", ("my_cpu",)),
        ("object: kernels/k.spv", ("gpu",)),
        ("object: kernels/k.ptx", ("nv",)),
        ("object: kernels/k.hsaco", ("amd",)),
    ],
)
def test_backends_that_take_a_file(load_model: LoadModel, file: str, backends: tuple[str, ...]) -> None:
    (substitution,) = load_model(f"substitutions: {{s: {{dispatch: d, {file}}}}}").substitutions
    assert (substitution.backends, substitution.command) == (backends, ())


@pytest.mark.parametrize(("suffix", "backend"), [(".c", "my_cpu"), (".comp", "gpu"), (".glsl", "gpu"), (".cu", "nv")])
def test_sources_with_a_command_of_ours(load_model: LoadModel, suffix: str, backend: str) -> None:
    (substitution,) = load_model(f"substitutions: {{s: {{dispatch: d, object: kernels/k{suffix}}}}}").substitutions
    assert (substitution.backends, substitution.command) == ((backend,), DEFAULT_COMMANDS[suffix][1])


def test_a_command_of_the_users_may_compile_for_another_backend(load_model: LoadModel) -> None:
    command = "command: [clang, '{source}', -o, '{output}']"
    text = f"substitutions:\n  a: {{dispatch: d, object: kernels/k.c, {command}}}\n"
    text += f"  b: {{dispatch: d, object: kernels/k.c, {command}, backends: [nv]}}\n"
    text += f"  c: {{dispatch: d, object: kernels/k.rs, {command}, backends: [amd]}}\n"
    assert [each.backends for each in load_model(text).substitutions] == [("my_cpu",), ("nv",), ("amd",)]


@pytest.mark.parametrize(
    ("command", "inputs"),
    [
        (["./kernels/make.sh"], ["kernels/k.h", "kernels/make.sh"]),
        (["kernels/make.sh"], ["kernels/k.h", "kernels/make.sh"]),
        (["sh", "./kernels/../kernels/make.sh", "kernels/make.sh"], ["kernels/k.h", "kernels/make.sh"]),
        (["cc", "--include=kernels/k.rs", "-Da=b", "-Ikernels"], ["kernels/k.h", "kernels/k.rs"]),
        (["/bin/sh", "../outside.sh", "-c", "true"], ["kernels/k.h"]),
        (["make.sh"], ["kernels/k.h"]),  # looked up on the PATH, although the suite has a file of that name
    ],
)
def test_files_that_a_command_names_are_inputs(
    load_model: LoadModel, tmp_path: Path, command: list[str], inputs: list[str]
) -> None:
    for path in ("kernels/make.sh", "make.sh", "../outside.sh"):
        (tmp_path / path).touch()
    section = {"dispatch": "d", "object": "kernels/k.c", "inputs": ["./kernels/k.h"]}
    section["command"] = [*command, "{source}", "{output}"]
    (substitution,) = load_model(yaml.safe_dump({"substitutions": {"s": section}})).substitutions
    assert list(substitution.inputs) == inputs
    assert substitution.command == (*command, "{source}", "{output}")


def test_a_tuning_spec_is_for_all_dispatches(load_model: LoadModel) -> None:
    (substitution,) = load_model("substitutions: {s: {tuning_spec: kernels/spec.mlir}}").substitutions
    assert substitution.selectors == ()


def test_files_of_a_folder_by_backend(load_model: LoadModel, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "more").mkdir(parents=True)
    for name in ("b.mlir", "a.o", "c.spv", ".hidden", "more/x.o"):
        (folder / name).touch()
    cpu, gpu, rest = ("folder/a.o", "folder/b.mlir"), ("folder/b.mlir", "folder/c.spv"), ("folder/b.mlir",)
    (substitution,) = load_model("substitutions: {s: {directory: ./folder/}}").substitutions
    assert substitution.files == {"my_cpu": cpu, "vmvx": rest, "gpu": gpu, "nv": rest, "amd": rest}
    assert substitution.backends == _ALL
    (substitution,) = load_model("substitutions: {s: {directory: folder, backends: [my cpu, gpu]}}").substitutions
    assert substitution.files == {"my_cpu": cpu, "gpu": gpu}
    (folder / "b.mlir").unlink()
    (substitution,) = load_model("substitutions: {s: {directory: folder}}").substitutions
    assert substitution.files == {"my_cpu": ("folder/a.o",), "gpu": ("folder/c.spv",)}
    assert substitution.backends == ("my_cpu", "gpu")


def test_files_outside_when_allowed(tmp_path: Path) -> None:
    inside = tmp_path / "suite"
    inside.mkdir()
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "k.o", tmp_path / "folder" / "d.o", inside / "m.mlir"):
        path.touch()
    manifest = inside / "benchmarks.yaml"
    manifest.write_text(
        "version: 1\nallow_outside: true\nmodels:\n  m:\n    source: m.mlir\n    substitutions:\n"
        "      a: {dispatch: d, object: ../k.o}\n      b: {directory: ../folder}\n"
    )
    one, several = load_suite(manifest).models[0].substitutions
    assert (one.file, several.files) == ("../k.o", {"cpu": ("../folder/d.o",)})


def test_a_combination_is_for_the_backends_of_all_its_members(load_model: LoadModel) -> None:
    model = load_model(
        "substitutions:\n  a: {dispatch: a, source: m.mlir, backends: [gpu, my cpu]}\n"
        "  b: {dispatch: b, source: m.mlir, backends: [my cpu, nv, gpu]}\n  c: {dispatch: c, object: kernels/k.spv}\n"
        "combinations: {ab: [a, b], abc: [a, b, c]}\n"
    )
    assert [combination.backends for combination in model.combinations] == [("my_cpu", "gpu"), ("gpu",)]


def test_a_broken_backend_is_one_problem(load_text: LoadText, tmp_path: Path) -> None:
    (tmp_path / "k.o").touch()
    with pytest.raises(ManifestError) as raised:
        load_text(
            "version: 1\nbackends:\n  cpu: {target_device: local, local_backends: llvm-cpu}\n"
            "  gpu: {target_device: vulkan}\n"
            "models:\n  m:\n    source: m.mlir\n    substitutions:\n      a: {dispatch: d, object: k.o}\n"
            "      b: {dispatch: d, object: k.o, backends: [cpu]}\n"
        )
    assert [problem.message for problem in raised.value.problems] == ["unknown key `local_backends`"]


def test_files_that_compile_flags_name(load_text: LoadText, tmp_path: Path) -> None:
    for name in ("spec.mlir", "w=x.irpa"):
        (tmp_path / name).touch()
    suite = load_text(
        "version: 1\nbackends:\n"
        "  cpu: {target_device: local, local_backend: vmvx, compile_flags: [--a=./spec.mlir, --b=none.mlir, --c=sub]}\n"
        "  gpu: {target_device: vulkan, compile_flags: [--d=spec.mlir, --e=/etc/passwd, --f=../x, --g=, --q]}\n"
        "  hip: {target_device: hip}\n"
        "models:\n"
        "  m: {source: m.mlir, compile_flags: [--i=scope=w.irpa], backend_flags: {cpu: [--g=sub/../sub/n.mlirbc]}}\n"
        "  n: {source: m.mlir, backends: [gpu, hip], compile_flags: ['--i=w=x.irpa']}\n"
    )
    cpu, gpu = ("spec.mlir", "sub/n.mlirbc", "w.irpa"), ("spec.mlir", "w.irpa")
    assert suite.models[0].flag_files == {"cpu": cpu, "gpu": gpu, "hip": ("w.irpa",)}
    assert suite.models[1].flag_files == {"gpu": ("spec.mlir", "w=x.irpa"), "hip": ("w=x.irpa",)}
    assert select(suite, backends=["gpu"]).models[0].flag_files == {"gpu": gpu}


_KEYS = st.fixed_dictionaries(
    {},
    optional={
        "dispatch": st.sampled_from(["d", ["d"], {"operation": "o"}, [], 3]),
        "source": st.sampled_from(["m.mlir", "none.mlir", "sub"]),
        "object": st.sampled_from(["kernels/k.c", "kernels/k.o", "kernels/k.rs", "k", "", "\0"]),
        "directory": st.sampled_from(["kernels", "sub", ".", "..", "m.mlir"]),
        "tuning_spec": st.sampled_from(["m.mlir"]),
        "command": st.lists(st.sampled_from(["cc", "{source}", "{output}", "{entry}"]), max_size=4),
        "inputs": st.lists(st.sampled_from(["kernels/k.h", "none", "/"]), max_size=2),
        "backends": st.lists(st.sampled_from(["my cpu", "gpu", "nv", "none"]), max_size=2),
        "entry": st.sampled_from(["e", "", "a b"]),
        "workgroups": st.sampled_from(["(a) -> (a, 1, 1)", "a"]),
        "other_target": st.sampled_from(["allow", "no"]),
        "check": st.sampled_from([{"tolerance": "1e-2"}, {"tolerance": "x"}, 1]),
    },
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.dictionaries(st.text(max_size=3), _KEYS, max_size=3),
    st.dictionaries(st.text(max_size=3), st.lists(st.text(max_size=2), max_size=3), max_size=2),
)
def test_any_substitutions_are_a_suite_or_refused(
    load_model: LoadModel, substitutions: dict[str, object], combinations: dict[str, object]
) -> None:
    data = yaml.safe_dump({"substitutions": substitutions, "combinations": combinations}, width=10_000)
    try:
        model = load_model(data)
    except ManifestError as error:
        assert all(problem.place is not None for problem in error.problems)
        assert str(error).replace("\n", "").isprintable()
    else:
        assert [each.name for each in model.substitutions] == list(substitutions)
        assert all(each.backends for each in model.substitutions)
