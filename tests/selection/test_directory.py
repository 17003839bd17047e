"""Folders of substitutes: which dispatches files are named after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import support
from dispatchgen.errors import SubstitutionError
from dispatchgen.extract.schema import Dispatch
from dispatchgen.manifest.suite import Substitution
from dispatchgen.selection.directory import named_files


def _dispatch(name: str, executable: str, export: str = "x", variant: str = "embedded_elf_x86_64") -> Dispatch:
    return Dispatch(
        name=name,
        operation="o",
        executable=executable,
        variant=variant,
        export=export,
        content="",
        written=(),
        benchmarks=(),
    )


MATMUL = _dispatch("matmul_4x4", "main_dispatch_1")
OTHER = _dispatch("matmul_4x4_2", "main_dispatch_11")
LONG = _dispatch("softmax", "my_main_dispatch_1")
ALL = {"cpu": (MATMUL, OTHER, LONG)}


def _named(*files: str, dispatches: Mapping[str, Sequence[Dispatch]] = ALL) -> list[tuple[str, str, str]]:
    """Files with their kinds and the dispatches that they are named after."""
    paths = tuple(f"folder/{file}" for file in files)
    substitution = Substitution("s", "s", "directory", "folder", dict.fromkeys(dispatches, paths))
    found = named_files(substitution, "cpu", dispatches)
    return [(named.file.removeprefix("folder/"), named.kind, named.dispatch.name) for named in found]


@pytest.mark.parametrize(
    ("file", "kind", "name"),
    [
        ("main_dispatch_1.mlir", "source", "matmul_4x4"),
        ("module_main_dispatch_1.mlirbc", "source", "matmul_4x4"),
        ("configured_module_main_dispatch_1.mlir", "configuration", "matmul_4x4"),
        ("configured_matmul_4x4.mlir", "configuration", "matmul_4x4"),
        ("net_main_dispatch_11_embedded_elf_x86_64.o", "object", "matmul_4x4_2"),
        ("main_dispatch_11.obj", "object", "matmul_4x4_2"),
        ("matmul_4x4_2.spv", "object", "matmul_4x4_2"),
        ("matmul_4x4_embedded_elf_x86_64.ptx", "object", "matmul_4x4"),
        # The longest symbol is meant.
        ("my_main_dispatch_1.mlir", "source", "softmax"),
        ("module_my_main_dispatch_1.mlir", "source", "softmax"),
    ],
)
def test_names(file: str, kind: str, name: str) -> None:
    assert _named(file) == [(file, kind, name)]


def test_an_executable_of_several_exports() -> None:
    dispatches = {"cpu": (_dispatch("a", "main_dispatch_1", "e0"), _dispatch("b", "main_dispatch_1", "e1"))}
    assert _named("m_main_dispatch_1.o", dispatches=dispatches) == [
        ("m_main_dispatch_1.o", "object", "a"),
        ("m_main_dispatch_1.o", "object", "b"),
    ]


def _problems(*files: str, dispatches: Mapping[str, Sequence[Dispatch]] = ALL) -> list[str]:
    with pytest.raises(SubstitutionError) as raised:
        _named(*files, dispatches=dispatches)
    return [str(problem) for problem in raised.value.problems]


def test_files_that_are_named_after_no_dispatch() -> None:
    # A stable name has no module before it: `batch_matmul_4x4` is another dispatch, which is gone.
    assert _problems("main_dispatch_2.mlir", "batch_matmul_4x4.o", "conv.o", "softmax.o") == [
        "error: `folder/main_dispatch_2.mlir` is named after no dispatch\n  try: `folder/main_dispatch_1.mlir`",
        "error: `folder/batch_matmul_4x4.o` is named after no dispatch\n  try: `folder/matmul_4x4.o`",
        "error: `folder/conv.o` is named after no dispatch\n"
        "  try: the name of one of `main_dispatch_1`, `main_dispatch_11`, `my_main_dispatch_1`, or move it away",
    ]


def test_two_files_for_one_dispatch() -> None:
    assert _problems("main_dispatch_1.mlir", "matmul_4x4.o", "configured_softmax.mlir") == [
        "error: `folder/main_dispatch_1.mlir` and `folder/matmul_4x4.o` both replace `matmul_4x4`\n"
        "  try: move one of them away"
    ]


def test_two_files_for_one_executable() -> None:
    dispatches = {"cpu": (_dispatch("a", "main_dispatch_1", "e0"), _dispatch("b", "main_dispatch_1", "e1"))}
    assert _problems("a.mlir", "b.mlir", dispatches=dispatches) == [
        "error: `folder/a.mlir` and `folder/b.mlir` replace `a` and `b`, which are one executable\n"
        "  try: one file, named after the executable: `main_dispatch_1`"
    ]


def test_files_of_two_modules() -> None:
    assert _problems("a_main_dispatch_1.o", "b_c_main_dispatch_11.o", "softmax.o") == [
        "error: the files are of two modules: `folder/a_main_dispatch_1.o` of `a` and "
        "`folder/b_c_main_dispatch_11.o` of `b_c`\n  try: move those of other programs away"
    ]


def test_a_file_for_another_backend() -> None:
    gpu = _dispatch("matmul_4x4", "main_dispatch_1", variant="vulkan_spirv_fb")
    both = {"cpu": (MATMUL,), "gpu": (gpu,)}
    files = ("main_dispatch_1_embedded_elf_x86_64.mlir", "main_dispatch_1_vulkan_spirv_fb.mlir")
    assert _named(*files, dispatches=both) == [(files[0], "source", "matmul_4x4")]
    assert _problems(files[1], dispatches=both) == [
        "error: no file in `folder` is named after a dispatch of this backend\n"
        "  try: list the backends that it is for under `backends`"
    ]


@pytest.mark.main_path
def test_the_names_of_dumped_executables(iree_tools: support.IreeTools, tmp_path: Path) -> None:
    program = tmp_path / "m.mlir"
    program.write_text(
        "module @net { func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = arith.addf %a, %a : tensor<4xf32>\n  return %0 : tensor<4xf32> } }\n"
    )
    flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
    stages = ("sources", "configurations", "intermediates")
    dump = [f"--iree-hal-dump-executable-{stage}-to={tmp_path / stage}" for stage in stages]
    support.run_program([iree_tools.compile, program, "-o", tmp_path / "m.vmfb", *flags, *dump])
    files = [path.name for stage in stages for path in sorted((tmp_path / stage).iterdir())]
    dispatches = {"cpu": (_dispatch("add", "main_dispatch_0"),)}
    kinds = [
        kind for file in files if file.endswith((".mlir", ".o")) for _, kind, _ in _named(file, dispatches=dispatches)
    ]
    assert kinds == ["source", "configuration", "object"]


@given(st.lists(st.text(alphabet="main_dispatch1configured.", min_size=1, max_size=30), min_size=1, max_size=3))
def test_any_files_are_named_after_dispatches_or_refused(stems: list[str]) -> None:
    files = tuple(dict.fromkeys(f"{stem}.mlir" for stem in stems))
    try:
        found = _named(*files)
    except SubstitutionError as error:
        assert error.problems
    else:
        assert {file for file, _, _ in found} == set(files)
