"""Which files the compiler reads."""

from __future__ import annotations

from pathlib import Path

from dispatchgen.sweep.read_files import files_read

_PROGRAM = r"""
objects({#target = [#hal.executable.object<{path = "a \22b\22\C3\A4.o"}>,
                    #hal.executable.object<{path = "in/k.spv", data = dense<1> : vector<1xi8>}>]})
"""


def test_flags_name_files(tmp_path: Path) -> None:
    for name in ("ld.sh", "weights.irpa", "spec=1.mlir"):
        (tmp_path / name).write_text("x")
    flags = ["--linker=ld.sh", f"--parameters=scope={tmp_path}/weights.irpa", "--spec=spec=1.mlir", "--tile=4", "-O3"]
    flags += ["--none=absent.mlir", "--folder=.", f"--long={'x' * 5000}", "--nul=\0"]
    assert files_read("", flags, tmp_path) == [
        tmp_path / "ld.sh", tmp_path / "weights.irpa", tmp_path / "spec=1.mlir"
    ]  # fmt: skip


def test_objects_are_looked_for(tmp_path: Path) -> None:
    for name in ('objects/a "b"ä.o', "objects/in/k.spv", "in/k.spv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    found = files_read(_PROGRAM, ["--iree-hal-executable-object-search-path=objects"], tmp_path)
    objects = tmp_path / "objects"
    assert found == [objects / 'a "b"ä.o', tmp_path / "in" / "k.spv", objects / "in" / "k.spv"]
