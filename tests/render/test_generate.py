"""`dispatchgen generate`."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatchgen.extract.schema import BackendDispatches, Call, Dispatch
from dispatchgen.lock.make import settings_digest
from dispatchgen.lock.schema import Lock, MadeFrom
from dispatchgen.lock.store import write_lock
from dispatchgen.manifest import load_suite
from support import RunCli

_MANIFEST = """\
version: 1
models:
  a:
    source: models/a.mlir
  b:
    source: models/b.mlir
"""


def _write_lock(folder: Path, model_id: str, *dispatches: str) -> None:
    """A lock that was made from the manifest as it is."""
    suite = load_suite(folder)
    model = next(model for model in suite.models if model.id == model_id)
    settings = {backend: settings_digest(model, suite.backend(backend)) for backend in model.backends}
    call = Call(name="static", function="main", shape="static", symbols={}, inputs=())
    listed = tuple(
        Dispatch(name=d, operation=d, executable=d, variant="v", export="x", content="", written=(), benchmarks=())
        for d in dispatches
    )
    made_from = MadeFrom(source="", settings=settings, compiler="")
    backends = {backend: BackendDispatches(backend=backend, dispatches=listed) for backend in model.backends}
    lock = Lock(model=model_id, made_from=made_from, entry=None, calls=(call,), backends=backends)
    write_lock(suite.lock_path(model), lock)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite of two models with locks."""
    folder = tmp_path / "suite"
    (folder / "models").mkdir(parents=True)
    (folder / "benchmarks.yaml").write_text(_MANIFEST)
    for model in ("a", "b"):
        (folder / "models" / f"{model}.mlir").write_text("module {}\n")
    for model in ("a", "b"):
        _write_lock(folder, model, "matmul_4x4x4_f32")
    return folder


def test_writes_beside_the_manifest_once(suite: Path, run_cli: RunCli) -> None:
    first = run_cli("generate", "--cmake", cwd=suite)
    assert (first.code, first.stdout) == (0, "wrote CMakeLists.txt\n"), first.stderr
    path = suite / "CMakeLists.txt"
    text, time = path.read_text(), path.stat().st_mtime_ns
    assert text.count("iree_dispatch_benchmark_suite(\n") == 2
    second = run_cli("generate", "--cmake", cwd=suite)
    assert (second.code, second.stdout) == (0, "CMakeLists.txt is up to date\n")
    assert path.stat().st_mtime_ns == time
    third = run_cli("generate", suite / "benchmarks.yaml", "--cmake", cwd=suite.parent)
    assert third.code == 0
    assert path.read_text() == text


def test_check_shows_the_difference_and_the_command(suite: Path, run_cli: RunCli) -> None:
    missing = run_cli("generate", "--cmake", "--check", cwd=suite)
    assert missing.code == 1
    assert missing.stderr == (
        "error: the build file does not exist\n"
        "  at CMakeLists.txt\n"
        "  try: dispatchgen generate benchmarks.yaml --cmake\n"
    )
    run_cli("generate", "--cmake", cwd=suite)
    assert run_cli("generate", "--cmake", "--check", cwd=suite).code == 0
    before = (suite / "CMakeLists.txt").read_bytes()
    _write_lock(suite, "b", "matmul_4x4x4_f32", "softmax_8_f32")
    stale = run_cli("generate", "--cmake", "--check", cwd=suite)
    assert stale.code == 1
    assert '+    "softmax_8_f32"' in stale.stderr
    assert stale.stderr.endswith("  try: dispatchgen generate benchmarks.yaml --cmake\n")
    assert (suite / "CMakeLists.txt").read_bytes() == before


def test_long_difference_is_shortened(suite: Path, run_cli: RunCli) -> None:
    run_cli("generate", "--cmake", cwd=suite)
    _write_lock(suite, "a", *(f"matmul_{i}" for i in range(200)))
    result = run_cli("generate", "--cmake", "--check", cwd=suite)
    assert len(result.stderr.splitlines()) < 60
    assert "more lines]" in result.stderr


def test_other_folder_refers_to_the_suite_relatively(suite: Path, run_cli: RunCli) -> None:
    result = run_cli("generate", "benchmarks.yaml", "--cmake", "-o", "../out/cmake/CMakeLists.txt", cwd=suite)
    assert result.code == 0, result.stderr
    text = (suite.parent / "out" / "cmake" / "CMakeLists.txt").read_text()
    assert 'set(DISPATCHGEN_PACKAGE_DIR "../../suite")' in text
    assert str(suite.parent) not in text


def test_all_models_without_a_readable_lock_are_named(suite: Path, run_cli: RunCli) -> None:
    (suite / "locks" / "a.json").unlink()
    (suite / "locks" / "b.json").write_text("{")
    result = run_cli("generate", "--cmake", cwd=suite)
    assert result.code == 2
    assert "dispatchgen lock --model a" in result.stderr
    assert "dispatchgen lock --model b" in result.stderr
    assert not (suite / "CMakeLists.txt").exists()
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(("options", "code"), [((), 2), (("--check",), 1)])
def test_all_locks_of_another_manifest_are_named(
    suite: Path, run_cli: RunCli, options: tuple[str, ...], code: int
) -> None:
    run_cli("generate", "--cmake", cwd=suite)
    before = (suite / "CMakeLists.txt").read_bytes()
    (suite / "benchmarks.yaml").write_text(
        "version: 1\n"
        "backends:\n"
        "  cpu: {target_device: local, local_backend: llvm-cpu, compile_flags: [--iree-opt-level=O2]}\n"
        "  gpu: {target_device: vulkan}\n"
        "models:\n"
        "  a: {source: models/a.mlir, backends: [cpu]}\n"
        "  b: {source: models/b.mlir, backends: [gpu]}\n"
    )
    result = run_cli("generate", "--cmake", *options, cwd=suite)
    assert (result.code, result.stdout) == (code, "")
    assert result.stderr == (
        "error: model a: its lock is stale: the manifest says something else of the model on backend cpu\n"
        "  at locks/a.json\n"
        "  try: dispatchgen lock --model a\n"
        "error: model b: its lock is stale: backend cpu was removed; backend gpu was added\n"
        "  at locks/b.json\n"
        "  try: dispatchgen lock --model b\n"
    )
    assert (suite / "CMakeLists.txt").read_bytes() == before
    for model in ("a", "b"):
        _write_lock(suite, model, "matmul_4x4x4_f32")
    assert run_cli("generate", "--cmake", cwd=suite).code == 0


def test_what_does_not_change_dispatches_needs_no_new_lock(suite: Path, run_cli: RunCli) -> None:
    manifest = suite / "benchmarks.yaml"
    manifest.write_text(_MANIFEST.replace("b.mlir\n", "b.mlir\n    labels: [large]\n") + "run: {min_time: 2x}\n")
    result = run_cli("generate", "--cmake", cwd=suite)
    assert result.code == 0, result.stderr
    assert '"large"' in (suite / "CMakeLists.txt").read_text()


def test_output_that_cannot_be_written(suite: Path, run_cli: RunCli) -> None:
    (suite / "CMakeLists.txt").mkdir()
    for options in ((), ("--force",), ("-o", "/dev/null")):
        result = run_cli("generate", "--cmake", *options, cwd=suite)
        assert result.code == 2
        assert "cannot write the file" in result.stderr
        assert "Traceback" not in result.stderr
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("CMakeLists.txt", ()),
        ("benchmarks.yaml", ("-o", "benchmarks.yaml")),
        ("models/a.mlir", ("-o", "models/a.mlir")),
        ("empty", ("-o", "empty")),
    ],
)
def test_a_file_of_the_user_is_replaced_only_by_force(
    suite: Path, run_cli: RunCli, name: str, arguments: tuple[str, ...]
) -> None:
    path = suite / name
    if name == "CMakeLists.txt":
        path.write_text("# Mine; # GENERATED by `dispatchgen generate --cmake` from nothing.\n")
    elif name == "empty":
        path.touch()
    before = path.read_bytes()
    refused = run_cli("generate", "--cmake", *arguments, cwd=suite)
    assert (refused.code, refused.stdout) == (2, "")
    assert refused.stderr == (
        "error: there is a file that dispatchgen did not write\n"
        f"  at {name}\n"
        "  try: -o FILE for another file, or remove it, or --force\n"
    )
    assert path.read_bytes() == before
    forced = run_cli("generate", "--cmake", *arguments, "--force", cwd=suite)
    assert forced.code == 0, forced.stderr
    assert path.read_bytes() != before


def test_a_generated_file_is_replaced_also_after_edits(suite: Path, run_cli: RunCli) -> None:
    run_cli("generate", "--cmake", cwd=suite)
    path = suite / "CMakeLists.txt"
    text = path.read_text()
    path.write_text(text + "# more\n")
    assert run_cli("generate", "--cmake", cwd=suite).code == 0
    assert path.read_text() == text


def test_a_build_system_must_be_named(suite: Path, run_cli: RunCli) -> None:
    result = run_cli("generate", cwd=suite)
    assert result.code == 2
    assert "--cmake" in result.stderr


def test_what_was_generated_is_renewed(suite: Path, run_cli: RunCli) -> None:
    run_cli("generate", "--bazel", cwd=suite)
    _write_lock(suite, "b", "softmax_8_f32")
    stale = run_cli("generate", "--check", cwd=suite)
    assert stale.code == 1
    assert stale.stderr.endswith("  try: dispatchgen generate benchmarks.yaml --bazel\n")
    renewed = run_cli("generate", cwd=suite)
    assert (renewed.code, renewed.stdout) == (0, "wrote BUILD.bazel\n"), renewed.stderr
    (suite / "CMakeLists.txt").write_text("# Mine.\n")
    assert run_cli("generate", cwd=suite).stdout == "BUILD.bazel is up to date\n"


def test_both_build_systems(suite: Path, run_cli: RunCli) -> None:
    first = run_cli("generate", "--bazel", "--cmake", cwd=suite)
    assert (first.code, first.stdout) == (0, "wrote CMakeLists.txt\nwrote BUILD.bazel\n"), first.stderr
    _write_lock(suite, "b", "softmax_8_f32")
    stale = run_cli("generate", "--bazel", "--cmake", "--check", cwd=suite)
    assert stale.code == 1
    assert [line for line in stale.stderr.splitlines() if line.startswith("  at ")] == [
        "  at CMakeLists.txt",
        "  at BUILD.bazel",
    ]
    assert stale.stderr.count("  try: dispatchgen generate benchmarks.yaml --cmake --bazel\n") == 2
    assert run_cli("generate", cwd=suite).stdout == "wrote CMakeLists.txt\nwrote BUILD.bazel\n"
    assert run_cli("generate", "--check", cwd=suite).code == 0


def test_one_file_is_named_for_one_build_system(suite: Path, run_cli: RunCli) -> None:
    for options in ((), ("--cmake", "--bazel")):
        result = run_cli("generate", *options, "-o", "x", cwd=suite)
        assert result.code == 2
        assert "-o names one file" in result.stderr


@pytest.mark.parametrize("output", ["../BUILD.bazel", "models/BUILD", "BUILD.txt", "CMakeLists.txt"])
def test_bazel_reads_a_build_file_in_the_folder_of_the_suite_only(suite: Path, run_cli: RunCli, output: str) -> None:
    result = run_cli("generate", "--bazel", "-o", output, cwd=suite)
    assert (result.code, result.stdout) == (2, "")
    assert "labels are relative to it" in result.stderr
    assert f"  at {output}\n  try: -o BUILD.bazel\n" in result.stderr


def test_the_build_file_of_bazel_may_have_either_name(suite: Path, run_cli: RunCli) -> None:
    assert run_cli("generate", "--bazel", "-o", "BUILD", cwd=suite).stdout == "wrote BUILD\n"
    assert run_cli("generate", "--bazel", cwd=suite).stdout == "BUILD is up to date\n"
    second = run_cli("generate", "--bazel", "-o", "BUILD.bazel", cwd=suite)
    assert second.code == 2
    assert "the folder has the build file BUILD: of two, Bazel reads BUILD.bazel alone" in second.stderr


@pytest.mark.parametrize("name", ["BUILD.bazel", "BUILD"])
def test_a_bazel_package_of_the_user_stays(suite: Path, run_cli: RunCli, name: str) -> None:
    (suite / name).write_text("# Mine.\n")
    result = run_cli("generate", "--bazel", "--cmake", cwd=suite)
    assert (result.code, result.stdout) == (2, "")
    assert f"error: there is a file that dispatchgen did not write\n  at {name}\n" in result.stderr
    assert {path.name for path in suite.iterdir()} == {"benchmarks.yaml", "locks", "models", name}
    assert (suite / name).read_text() == "# Mine.\n"


@pytest.mark.parametrize("name", ["BUILD", "BUILD.bazel"])
def test_files_of_another_bazel_package_are_refused(suite: Path, run_cli: RunCli, name: str) -> None:
    (suite / "models" / "deep").mkdir()
    (suite / "models" / "a.mlir").rename(suite / "models" / "deep" / "a.mlir")
    (suite / "w").mkdir()
    (suite / "w" / "b.irpa").write_bytes(b"")
    manifest = _MANIFEST.replace("models/a.mlir", "models/deep/a.mlir") + "    parameters: [x=w/b.irpa]\n"
    (suite / "benchmarks.yaml").write_text(manifest)
    (suite / "other").mkdir()
    for folder in ("models", "w", "other"):
        (suite / folder / name).write_text("")
    result = run_cli("generate", "--bazel", cwd=suite)
    assert result.code == 2
    assert result.stderr.splitlines() == [
        f"error: 'models/deep/a.mlir' of model 'a' belongs to another package of Bazel: there is models/{name}",
        "  at benchmarks.yaml:3",
        "  try: move the file out of models, or remove that build file",
        f"error: 'models/b.mlir' of model 'b' belongs to another package of Bazel: there is models/{name}",
        "  at benchmarks.yaml:5",
        "  try: move the file out of models, or remove that build file",
        f"error: 'w/b.irpa' of model 'b' belongs to another package of Bazel: there is w/{name}",
        "  at benchmarks.yaml:5",
        "  try: move the file out of w, or remove that build file",
    ]
    (suite / "locks" / name).write_text("")
    assert "'locks/a.json' of model 'a' belongs to another package" in run_cli("generate", "--bazel", cwd=suite).stderr
    assert run_cli("generate", "--cmake", cwd=suite).code == 0


def test_iree_plugin_is_written_beside_the_cmakelists_and_kept_current(suite: Path, run_cli: RunCli) -> None:
    result = run_cli("generate", "--cmake", "--iree-plugin", cwd=suite)
    assert (result.code, result.stdout) == (0, "wrote CMakeLists.txt\nwrote iree_runtime_plugin.cmake\n")
    plugin = suite / "iree_runtime_plugin.cmake"
    text = plugin.read_text()
    assert text.startswith("# GENERATED by `dispatchgen generate --cmake --iree-plugin` from benchmarks.yaml.")
    assert str(suite) not in text
    assert run_cli("generate", "--cmake", "--iree-plugin", "--check", cwd=suite).code == 0

    header, _, rest = text.partition("\n")
    plugin.write_text(f"{header}\n# An edit.\n{rest}")
    stale = run_cli("generate", "--check", cwd=suite)
    assert stale.code == 1
    assert (
        "  at iree_runtime_plugin.cmake\n  try: dispatchgen generate benchmarks.yaml --cmake --iree-plugin"
        in stale.stderr
    )
    assert run_cli("generate", cwd=suite).stdout == "CMakeLists.txt is up to date\nwrote iree_runtime_plugin.cmake\n"
    assert plugin.read_text() == text


def test_iree_plugin_of_a_user_is_not_replaced(suite: Path, run_cli: RunCli) -> None:
    plugin = suite / "iree_runtime_plugin.cmake"
    plugin.write_text("message(STATUS mine)\n")
    result = run_cli("generate", "--cmake", "--iree-plugin", cwd=suite)
    assert (result.code, "there is a file that dispatchgen did not write" in result.stderr) == (2, True)
    assert not (suite / "CMakeLists.txt").exists(), "all or nothing"
    assert run_cli("generate", "--cmake", cwd=suite).code == 0
    assert run_cli("generate", cwd=suite).stdout == "CMakeLists.txt is up to date\n"


def test_iree_plugin_goes_with_cmake(suite: Path, run_cli: RunCli) -> None:
    result = run_cli("generate", "--bazel", "--iree-plugin", cwd=suite)
    assert (result.code, "--iree-plugin goes with --cmake." in result.stderr) == (2, True)


def test_iree_plugin_follows_the_output(suite: Path, run_cli: RunCli) -> None:
    (suite / "build_files").mkdir()
    result = run_cli("generate", "--cmake", "--iree-plugin", "-o", "build_files/CMakeLists.txt", cwd=suite)
    assert result.stdout == "wrote build_files/CMakeLists.txt\nwrote build_files/iree_runtime_plugin.cmake\n"


def _add_folder_of_substitutes(suite: Path) -> Path:
    """Gives model `a` a substitution that is a folder, with a file for its only dispatch."""
    (suite / "benchmarks.yaml").write_text(
        _MANIFEST.replace("models/a.mlir\n", "models/a.mlir\n    substitutions:\n      by hand: {directory: kernels}\n")
    )
    (suite / "kernels").mkdir()
    (suite / "kernels" / "matmul_4x4x4_f32.o").touch()
    return suite / "kernels"


def test_a_file_more_or_less_in_a_folder_of_substitutes_is_noticed(suite: Path, run_cli: RunCli) -> None:
    folder = _add_folder_of_substitutes(suite)
    _write_lock(suite, "a", "matmul_4x4x4_f32", "softmax_8_f32")
    assert run_cli("generate", "--cmake", "--bazel", cwd=suite).code == 0
    (folder / "configured_softmax_8_f32.mlir").touch()
    more = run_cli("generate", "--check", cwd=suite)
    assert more.code == 1
    line = '"by_hand=softmax_8_f32=configuration=kernels/configured_softmax_8_f32.mlir"'
    assert f"+    {line}\n" in more.stderr
    assert f"+        {line},\n" in more.stderr
    assert run_cli("generate", cwd=suite).code == 0
    (folder / "matmul_4x4x4_f32.o").unlink()
    less = run_cli("generate", "--check", cwd=suite)
    assert less.code == 1
    assert '-    "by_hand=matmul_4x4x4_f32=object=kernels/matmul_4x4x4_f32.o"\n' in less.stderr


def test_what_a_substitution_replaces_has_to_be_in_the_lock(suite: Path, run_cli: RunCli) -> None:
    folder = _add_folder_of_substitutes(suite)
    (folder / "matmul_4x4x8_f32.mlir").touch()
    result = run_cli("generate", "--cmake", cwd=suite)
    assert (result.code, result.stderr) == (
        2,
        "error: substitution `by hand` of model `a` on backend `cpu`: "
        "`kernels/matmul_4x4x8_f32.mlir` is named after no dispatch\n"
        "  at benchmarks.yaml:6\n"
        "  try: `kernels/matmul_4x4x4_f32.mlir`\n",
    )
    assert not (suite / "CMakeLists.txt").exists()


def test_substitutes_in_another_bazel_package_are_refused(suite: Path, run_cli: RunCli) -> None:
    folder = _add_folder_of_substitutes(suite)
    (folder / "BUILD").touch()
    text = (suite / "benchmarks.yaml").read_text()
    file = "object: kernels/matmul_4x4x4_f32.o, dispatch: matmul_4x4x4_f32"
    (suite / "benchmarks.yaml").write_text(text.replace("directory: kernels", file))
    result = run_cli("generate", "--bazel", cwd=suite)
    assert result.code == 2
    assert "'kernels/matmul_4x4x4_f32.o' of model 'a' belongs to another package of Bazel" in result.stderr
