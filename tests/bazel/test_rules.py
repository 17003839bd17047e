"""The rules on real Bazel, with stand-ins for IREE's programs: what reaches them, and what becomes of what they do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bazel_project import COMPILE, CONFIGURE, EXTRACT, TEST, BazelProject

pytestmark = [pytest.mark.bazel, pytest.mark.slow]

#: What chooses the backend whose modules a linker makes.
LLVM_CPU = "--iree-hal-local-target-device-backends=llvm-cpu"
ODD = "ü $HOME $(id) `id` 'a' \"b\" \\ ;|& * %s"

#: Programs that note their arguments. Like all that actions run, they have no environment, not even a PATH.
PROGRAMS = {
    # iree-compile ... -o OUT
    "compile": """
for out; do :; done
if [ "$1" = --version ]; then echo 'IREE compiler version 3.13.0 @ none'; exit; fi
printf '%s\\n' "$@" > "$out"
""",
    # dispatchgen extract ... --output DIR --listed-in FILE [--drift allow] ...; dispatch `gone` is a placeholder.
    "dispatchgen": """
all="$*"; drift=
while [ $# -gt 0 ]; do
  case $1 in --output) output=$2 ;; --listed-in) listed=$2 ;; --drift) drift=$2 ;; esac
  shift
done
kind=mlir
while read -r name || [ -n "$name" ]; do
  case $kind$name in
    mlir) kind=flags ;;
    mlirgone) echo '// dispatchgen: skipped: it <went> away' > "$output/gone.mlir" ;;
    *) echo "$name" > "$output/$name.$kind" ;;
  esac
done < "$listed"
echo "$all" > "$output/index.json"
if [ -n "$drift" ]; then echo 'removed: gone' > "$output/drift.txt"; fi
""",
    # iree-benchmark-module ... --benchmark_out=FILE ...
    "benchmark": """
printf '%s\\n' "$@"
for argument; do
  case $argument in
    --device=absent) echo 'no devices found'; exit 1 ;;
    --benchmark_out=*) printf '{"benchmarks": [{"real_time": 1}]}' > "${argument#*=}" ;;
  esac
done
""",
}
TOOLS = """
load("@dispatchgen//:defs.bzl", "iree_dispatch_tools")

exports_files(["benchmark"])

iree_dispatch_tools(
    name = "tools",
    benchmark_tool = "benchmark",
    compile_tool = "compile",
    dispatchgen_tool = "dispatchgen",
    linker_tool = "compile",
    visibility = ["//visibility:public"],
)
"""
#: Programs that need files beside them, as those that a build makes do.
TOOLS_WITH_RUNFILES = """
load("@dispatchgen//:defs.bzl", "iree_dispatch_benchmark_setup", "iree_dispatch_tools")
load(":program.bzl", "program")

program(name = "lister", data = ["of_dispatchgen"])

program(name = "iree-compile", data = ["of_compile"])

iree_dispatch_tools(
    name = "tools",
    benchmark_tool = "//tools:benchmark",
    compile_tool = ":iree-compile",
    dispatchgen_tool = ":lister",
)

iree_dispatch_benchmark_setup(
    name = "iree-dispatch-benchmarks",
    manifest = "benchmarks.yaml",
    tools = ":tools",
)
"""
PROGRAM_WITH_RUNFILES = """
def _program_impl(ctx):
    program = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(program, "#!/bin/sh\\ncd ${0%/*} && ls of_*\\n", is_executable = True)
    return [DefaultInfo(executable = program, runfiles = ctx.runfiles(files = ctx.files.data))]

program = rule(_program_impl, attrs = {"data": attr.label_list(allow_files = True)}, executable = True)
"""
BUILD = f"""
load("@dispatchgen//:defs.bzl", "iree_dispatch_benchmark_suite", "iree_dispatch_module")

iree_dispatch_benchmark_suite(
    name = "m_cpu",
    src = "a b/$m ü.mlir",
    backend = "cpu",
    calls = ["c"],
    compile_flags = [{LLVM_CPU!r}, {ODD!r}],
    device_labels = ["x.1=" + {ODD!r}],
    devices = ["x.1=local-task://" + {ODD!r}, "none=absent"],
    dispatches = ["a", "gone"],
    lock = "lock.json",
    min_time = "2s",
    model = "m",
    parameters = ["scope=p=q.irpa"],
    run_flags = ["x.1=--x=" + {ODD!r}],
)

iree_dispatch_benchmark_suite(
    name = "imported",
    src = "m.onnx",
    backend = "other",
    calls = ["c"],
    compile_flags = ["--x"],
    lock = "lock.json",
    model = "m",
)

iree_dispatch_benchmark_suite(
    name = "n_gpu",
    src = "a b/$m ü.mlir",
    backend = "gpu",
    calls = ["c"],
    compile_flags = ["--x"],
    lock = "lock.json",
    model = "n",
)

iree_dispatch_module(
    name = "no_such_dispatch",
    dispatch = "b",
    extract = ":m_cpu.dispatches",
)
"""
#: What renews a suite whose source is imported.
ONNX = """
load("@dispatchgen//:defs.bzl", "iree_dispatch_benchmark_setup", "iree_dispatch_benchmark_suite")

iree_dispatch_benchmark_setup(
    name = "suites",
    manifest = "benchmarks.yaml",
    models = {"m": ["m_cpu"]},
)

iree_dispatch_benchmark_suite(
    name = "m_cpu",
    src = "m.onnx",
    backend = "cpu",
    compile_flags = ["--x"],
    lock = "lock.json",
    model = "m",
)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BazelProject]:
    """A workspace with a suite whose texts are as odd as a manifest's may be."""
    folder = tmp_path_factory.mktemp("rules") / "suite"
    files = {
        "BUILD.bazel": BUILD,
        "a b/$m ü.mlir": "program",
        "lock.json": "{}",
        "m.onnx": "program",
        "p=q.irpa": "weights",
        "tools/BUILD.bazel": TOOLS,
        **{f"tools/{name}": f"#!/bin/sh\n{text}" for name, text in PROGRAMS.items()},
        "onnx/BUILD.bazel": ONNX,
        **{f"onnx/{name}": "" for name in ("benchmarks.yaml", "lock.json", "m.onnx")},
        "built/BUILD.bazel": TOOLS_WITH_RUNFILES,
        "built/program.bzl": PROGRAM_WITH_RUNFILES,
        **{f"built/{name}": "" for name in ("benchmarks.yaml", "of_compile", "of_dispatchgen")},
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    with BazelProject(folder, options=["--@dispatchgen//:tools=//tools"]) as project:
        yield project


def _made(project: BazelProject, name: str) -> list[str]:
    """The arguments of the action that made a file."""
    return (project.bazel_bin / name).read_text().splitlines()


def _printed(project: BazelProject, target: str) -> list[str]:
    """What a test printed, without the head that Bazel gives it."""
    return project.test_output(target).partition("-----\n")[2].splitlines()


def _skip_reason(project: BazelProject, target: str) -> str | None:
    xml = ElementTree.parse(project.folder / "bazel-testlogs" / target / "test.xml")
    skipped = xml.find(".//skipped")
    return skipped.get("message") if skipped is not None else None


def test_commands_have_texts_as_they_are_and_no_absolute_path(project: BazelProject) -> None:
    project.build("//:m_cpu")
    out = f"bazel-out/{project.bazel_bin.resolve().parent.name}/bin/m/cpu"
    linker = "--iree-llvmcpu-embedded-linker-path=tools/compile"
    # The linker first: of two flags of one name the last counts, and a user may name another.
    flags = [linker, LLVM_CPU, ODD]
    configure = ["--compile-to=executable-configurations", *flags, "a b/$m ü.mlir"]
    assert _made(project, "m/cpu/configured.mlir") == [*configure, "-o", f"{out}/configured.mlir"]
    # In the folder of the suite: modules hold the path of their source, which is the same in CMake and for substitutes.
    top = "../" * len(Path(out).parts)
    compile_from = ["--compile-from=executable-configurations", linker.replace("=", f"={top}"), LLVM_CPU, ODD]
    assert _made(project, "m/cpu/a.vmfb") == [*compile_from, "dispatches/a.mlir", "-o", "a.vmfb"]
    assert _made(project, "m/cpu/model.vmfb") == [*compile_from, "configured.mlir", "-o", "model.vmfb"]
    extract = f"extract {out}/configured.mlir --lock lock.json --backend cpu --output {out}/dispatches"
    assert _made(project, "m/cpu/dispatches/index.json") == [
        f"{extract} --listed-in {out}/listed.txt --root . --inputs-at m/cpu/dispatches --iree-compile tools/compile"
    ]
    assert (project.bazel_bin / "m/cpu/listed.txt").read_text() == "a\ngone\n\nc"


def test_only_cpus_have_a_linker(project: BazelProject) -> None:
    project.build("//:n_gpu")
    output = f"bazel-out/{project.bazel_bin.resolve().parent.name}/bin/n/gpu/configured.mlir"
    expected = ["--compile-to=executable-configurations", "--x", "a b/$m ü.mlir", "-o", output]
    assert _made(project, "n/gpu/configured.mlir") == expected


def test_programs_of_the_update_have_their_runfiles(project: BazelProject) -> None:
    """Each is started twice: for the locks and for the build files."""
    project.test("//built:iree-dispatch-benchmarks.test")
    assert _printed(project, "built/iree-dispatch-benchmarks.test") == ["of_dispatchgen"] * 2
    output = project.bazel("run", "//built:iree-dispatch-benchmarks.update").stdout
    assert output.splitlines()[-4:] == ["of_compile", "of_dispatchgen"] * 2


def test_tests_run_with_texts_as_they_are(project: BazelProject) -> None:
    project.test("//:m_cpu.x.1.a", "//:m_cpu.x.1.a.smoke", "//:m_cpu.x.1.model.c")
    device = [f"--device=local-task://{ODD}", f"--x={ODD}"]
    of_dispatch, of_call = (
        ["--module=m/cpu/a.vmfb"],
        ["--module=m/cpu/model.vmfb", "--flagfile=m/cpu/dispatches/c.flags"],
    )
    timed, context = "--benchmark_min_time=2s", "--benchmark_context=model=m,backend=cpu,device=x.1"
    assert _printed(project, "m_cpu.x.1.a.smoke")[:-2] == [*of_dispatch, *device, "--benchmark_min_time=1x"]
    assert _printed(project, "m_cpu.x.1.a")[:-2] == [*of_dispatch, *device, timed, f"{context},dispatch=a"]
    call = [*of_call, "--parameters=scope=p=q.irpa", *device, timed, f"{context},call=c"]
    assert _printed(project, "m_cpu.x.1.model.c")[:-2] == call


def test_timed_tests_keep_their_result_and_run_each_time(project: BazelProject) -> None:
    timed, smoke = "m_cpu.x.1.a", "m_cpu.x.1.a.smoke"
    project.test(f"//:{timed}", f"//:{smoke}")
    assert project.undeclared_output(timed) == {"benchmarks": [{"real_time": 1}]}
    assert not (project.folder / "bazel-testlogs" / smoke / "test.outputs" / "benchmark.json").exists()
    spawns = project.spawns("test", f"//:{timed}", f"//:{smoke}")
    assert {spawn.output.partition("/")[0] for spawn in spawns if spawn.mnemonic == TEST} == {timed}


def test_bazel_run_prints_the_benchmark(project: BazelProject) -> None:
    output = project.bazel("run", "//:m_cpu.x.1.a", "--", "--mine=$1").stdout
    assert "\n--module=m/cpu/a.vmfb\n" in output
    assert "\n--mine=$1\n" in output


def test_an_absent_device_fails_unless_it_may_be_skipped(project: BazelProject) -> None:
    output = project.test("//:m_cpu.none.a.smoke", check=False).stdout
    assert "error: nothing was measured: this machine does not have the device absent\n" in output
    assert "Executed 1 out of 1 test: 1 fails locally." in output
    project.test("//:m_cpu.none.a.smoke", options=["--@dispatchgen//:absent_device=skip"])
    assert _skip_reason(project, "m_cpu.none.a.smoke") == "no device absent: no devices found"


def test_what_was_skipped_for_a_device_is_in_no_cache(project: BazelProject, tmp_path: Path) -> None:
    """Another machine, which has the device, would pass without having run it."""
    absent, present = "m_cpu.none.a.smoke", "m_cpu.x.1.a.smoke"
    disk_cache = f"--disk_cache={tmp_path}"
    for options, cached in ([], {present}), (["--@dispatchgen//:absent_device=skip"], set()):
        for _ in range(2):
            project.bazel("clean")
            spawns = project.spawns(
                "test", f"//:{present}", f"//:{absent}", options=[disk_cache, *options], check=False
            )
        tests = {spawn.output.partition("/")[0] for spawn in spawns if spawn.mnemonic == TEST and spawn.cached}
        assert tests == cached


def test_drift_is_an_error_unless_the_flag_allows_it(project: BazelProject) -> None:
    project.test("//:m_cpu.drift")
    assert _printed(project, "m_cpu.drift") == ["the dispatches are those that the lock lists"]
    assert _skip_reason(project, "m_cpu.drift") is None
    allowed = ["--@dispatchgen//:drift=allow"]
    project.test("//:m_cpu.drift", "//:m_cpu.x.1.gone", "//:m_cpu.x.1.a", options=allowed)
    assert "--drift allow" in (project.bazel_bin / "m/cpu/dispatches/index.json").read_text()
    reason = "the dispatches are not those that the lock lists"
    assert _printed(project, "m_cpu.drift") == ["removed: gone", f"dispatchgen: skipped: {reason}"]
    assert _skip_reason(project, "m_cpu.drift") == reason
    assert _printed(project, "m_cpu.x.1.gone") == ["dispatchgen: skipped: it <went> away"]
    assert _skip_reason(project, "m_cpu.x.1.gone") == "it <went> away"
    assert _skip_reason(project, "m_cpu.x.1.a") is None


def test_the_actions_read_nothing_that_changes_by_itself(project: BazelProject) -> None:
    """Two clones have the same actions: no environment, and only relative paths."""
    project.bazel("clean")
    actions = [
        spawn for spawn in project.spawns("build", "//:m_cpu") if spawn.mnemonic in (CONFIGURE, EXTRACT, COMPILE)
    ]
    assert len(actions) == 5
    for action in actions:
        assert action.entry.get("environmentVariables", []) == []
        words = [*action.entry["commandArgs"], *(file["path"] for file in action.entry["inputs"])]
        assert [word for word in words if word.startswith("/") or str(project.folder) in word] == []


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["//:no_such_dispatch"], "//:no_such_dispatch: //:m_cpu.dispatches has no dispatch 'b'; it has: a, gone"),
        (["//:imported"], "//:m.imported: the tools have no importer of .onnx models\n  at //tools:tools\n"),
        (["//:imported"], 'tools of your own, import_tool = "@iree_tools//:import_onnx", import_data = ['),
        (["//onnx:suites.update"], "//onnx:suites.update: the tools have no importer of .onnx models\n"),
        (["//:m_cpu.x"], "no such target '//:m_cpu.x'"),
        (["--@dispatchgen//:drift=alow", "//:m_cpu"], "//:drift=alow: the value must be one of: allow, error"),
        (
            ["--@dispatchgen//:absent_device=", "//:m_cpu.x.1.a"],
            "//:absent_device=: the value must be one of: fail, skip",
        ),
    ],
)
def test_what_cannot_be_built_is_refused_before_anything_runs(
    project: BazelProject, arguments: list[str], text: str
) -> None:
    result = project.bazel("build", *arguments, check=False)
    assert result.returncode == 1
    assert text in result.stdout


def test_a_refused_suite_is_told_with_its_place(project: BazelProject) -> None:
    package = project.folder / "refused"
    package.mkdir()
    (package / "BUILD.bazel").write_text(
        'load("@dispatchgen//:defs.bzl", "iree_dispatch_benchmark_suite")\n'
        'iree_dispatch_benchmark_suite(name = "a", model = "a-b", devices = ["cuda"], speed = 1)\n'
    )
    output = project.bazel("build", "//refused:all", check=False).stdout
    assert f"{package}/BUILD.bazel" in output
    lines = ["backend is missing", "'a-b' is not a name made of [A-Za-z0-9_]", "unknown argument: speed"]
    assert [line for line in lines if f"\n  {line}\n" not in output] == []
