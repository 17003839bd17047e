"""Lock files: one text for one content, and what is said of files that are none."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import support
from dispatchgen.errors import LockError, OutputError
from dispatchgen.extract.schema import BackendDispatches, Benchmark, Call, Dispatch, Skipped
from dispatchgen.lock.schema import Lock, MadeFrom
from dispatchgen.lock.store import lock_text, read_lock, write_lock

BENCHMARK = Benchmark(
    name="matmul_Dx64x128_f32__B8",
    workload=(8, 64),
    constants=(("i32", 8), ("i32", 4294967295)),
    bindings=(4096, 32768, 2048),
    counts={"B8": 2, "B1": 1},
)
DISPATCH = Dispatch(
    name="matmul_Dx64x128_f32",
    operation="matmul_Dx64x128_f32",
    executable="main$async_dispatch_0",
    variant="embedded_elf_x86_64",
    export="main$async_dispatch_0_matmul_Dx64x128_f32",
    content="0" * 64,
    written=(False, False, True),
    benchmarks=(BENCHMARK,),
)
LOCK = Lock(
    model="m",
    made_from=MadeFrom(source="1" * 64, settings={"vulkan": "3" * 64, "cpu": "2" * 64}, compiler="3.13.0 @ abc"),
    entry=None,
    calls=(Call(name="B8", function="main", shape="B8", symbols={"B": 8}, inputs=("8x128xf32",)),),
    backends={
        "vulkan": BackendDispatches(backend="vulkan", dispatches=()),
        "cpu": BackendDispatches(
            backend="cpu",
            dispatches=(DISPATCH,),
            skipped=(
                Skipped(
                    executable="main_dispatch_3",
                    export="e\N{SNOWMAN}",
                    operation="o",
                    calls=("B8",),
                    reason='a "reason"\n\\',
                ),
            ),
        ),
    },
)


def write(path: Path, lock: Lock = LOCK) -> str:
    write_lock(path, lock)
    return path.read_text(encoding="utf-8")


def same(a: Lock, b: Lock) -> bool:
    return a.model_copy(update={"digest": ""}) == b.model_copy(update={"digest": ""})


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write(tmp_path / "m.json")
    lock = read_lock(tmp_path / "m.json")
    assert same(lock, LOCK)
    assert re.fullmatch("[0-9a-f]{64}", lock.digest)


def test_a_lock_is_written_once(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "m.json"
    assert write_lock(path, LOCK)
    assert not write_lock(path, LOCK)
    assert not write_lock(path, read_lock(path)), "the digest that was read is not part of the content"
    assert [file.name for file in path.parent.iterdir()] == ["m.json"]


def test_the_text_is_canonical(tmp_path: Path) -> None:
    text = write(tmp_path / "m.json")
    assert text.endswith("}\n")
    assert json.loads(text)["model"] == "m"
    backends = dict(reversed(LOCK.backends.items()))
    assert lock_text(LOCK.model_copy(update={"backends": backends})) == text, "sorted where the order means nothing"
    assert '\n              "counts": {"B1": 1, "B8": 2}\n' in text
    assert '\n              "constants": [["i32", 8], ["i32", 4294967295]],\n' in text, "leaves are on a line"
    assert max(map(len, text.splitlines())) <= 120


def test_one_change_is_a_change_of_few_lines(tmp_path: Path) -> None:
    old = write(tmp_path / "m.json").splitlines()
    benchmark = BENCHMARK.model_copy(update={"bindings": (8192, 32768, 2048)})
    cpu = LOCK.backends["cpu"].model_copy(
        update={"dispatches": (DISPATCH.model_copy(update={"benchmarks": (benchmark,)}),)}
    )
    new = write(tmp_path / "m.json", LOCK.model_copy(update={"backends": {**LOCK.backends, "cpu": cpu}})).splitlines()
    changed = [b for a, b in zip(old, new, strict=True) if a != b]
    assert len(changed) == 2
    assert "digest" in changed[0]
    assert changed[1].strip() == '"bindings": [8192, 32768, 2048],'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"workload": [8, 64]', '"workload": [8, 65]'),
        ('"B8": 2', '"B8": 3'),
        ('"name": "matmul', '"name": "Matmul'),
        ('"dispatches": []', '"dispatches": [ ]'),
    ],
)
def test_an_edit_by_hand_is_found(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "m.json"
    text = write(path)
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(LockError) as caught:
        read_lock(path)
    (problem,) = caught.value.problems
    assert problem.message.startswith("the lock file was edited by hand")
    assert problem.hint == f"dispatchgen lock {path.parent.parent} --model m"


def test_a_removed_digest_is_found(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(re.sub(r'  "digest".*\n', "", write(path)))
    with pytest.raises(LockError, match="edited by hand"):
        read_lock(path)


def test_other_line_ends_are_no_edit(tmp_path: Path) -> None:
    """Version control may change them on Windows."""
    path = tmp_path / "m.json"
    path.write_bytes(write(path).replace("\n", "\r\n").encode())
    assert same(read_lock(path), LOCK)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_what_does_not_fit_the_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(lock_text(LOCK.model_construct(**{**dict(LOCK), "calls": [{"name": 3}], "model": "m"})))
    with pytest.raises(LockError) as caught:
        read_lock(path)
    keys = [str(problem.place).rpartition("(")[2] for problem in caught.value.problems]
    assert keys == ["calls.0.name)", "calls.0.function)", "calls.0.shape)", "calls.0.symbols)", "calls.0.inputs)"]


def test_a_lock_that_does_not_say_its_entry_is_refused(tmp_path: Path) -> None:
    """Whether a new function belongs to the suite is not to be guessed."""
    path = tmp_path / "m.json"
    text = lock_text(LOCK)
    assert '\n  "entry": null,\n' in text
    text = text.replace('  "entry": null,\n', "")
    digest = json.loads(text)["digest"]
    mine = hashlib.sha256(text.replace(digest, "").encode()).hexdigest()
    path.write_text(text.replace(digest, mine), encoding="utf-8")
    with pytest.raises(LockError) as caught:
        read_lock(path)
    (problem,) = caught.value.problems
    assert (problem.message, str(problem.place)) == ("the lock file is not valid: Field required", f"{path} (entry)")
    assert problem.hint == f"dispatchgen lock {path.parent.parent} --model m"


@pytest.mark.parametrize(
    ("text", "words", "place"),
    [
        ("", "is not JSON: Expecting value", ":1:1"),
        ('{\n  "version": 1,\n  "model": }', "is not JSON: Expecting value", ":3:12"),
        ("[]", "states no version", " (version)"),
        ('{"model": "m"}', "states no version", " (version)"),
        ('{"version": true}', "states no version", " (version)"),
        ('{"version": 2}', "by a newer dispatchgen: its format has version 2", " (version)"),
        ('{"version": 0}', "format has version 0", " (version)"),
        ('{"later": 1, "version": 99}', "by a newer dispatchgen: its format has version 99", " (version)"),
        ("[" * 100_000, "nested too deep", ""),
    ],
)
def test_files_that_are_no_locks(tmp_path: Path, text: str, words: str, place: str) -> None:
    path = tmp_path / "m.json"
    path.write_text(text)
    with pytest.raises(LockError) as caught:
        read_lock(path)
    (problem,) = caught.value.problems
    assert words in problem.message
    assert str(problem.place) == f"{path}{place}"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(LockError, match="there is no lock file"):
        read_lock(tmp_path / "none.json")
    with pytest.raises(LockError, match="cannot read the lock file: Is a directory"):
        read_lock(tmp_path)
    (tmp_path / "m.json").write_bytes(b'{"version": 1, "model": "\xff"}')
    with pytest.raises(LockError, match="not UTF-8"):
        read_lock(tmp_path / "m.json")


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "locks").write_text("a file where the folder should be")
    with pytest.raises(OutputError, match="cannot write the file"):
        write_lock(tmp_path / "locks" / "m.json", LOCK)


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    """A limit on the size of files stands in for the disk: a write beyond it fails."""
    path = tmp_path / "m.json"
    path.write_text("what was there before")
    code = f"""
import resource
from pathlib import Path
from dispatchgen.errors import OutputError
from dispatchgen.files import write_if_changed
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    write_if_changed(Path({str(path)!r}), "x" * 1000)
except OutputError as error:
    print(error)
"""
    result = subprocess.run(
        [sys.executable, "-B", "-c", code], env=support.cli_environment(), capture_output=True, text=True, check=False
    )
    assert (result.stdout, result.stderr) == (f"error: cannot write the file: File too large\n  at {path}\n", "")
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"m.json": "what was there before"}
