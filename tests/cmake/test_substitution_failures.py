"""Substitutes that fail to build, crash or compute something else: their tests fail, and no other."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from cmake_project import Project
from dispatchgen.iree.tools import find_tools
from substituted_suite import FIRST, HEAD, KERNEL, SECOND, lock_and_generate, write_files, write_layers

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler `cc`")]

_MANIFEST = f"""\
{HEAD}
models:
  m:
    source: models/m.mlir
    run: {{min_time: 1x}}
    substitutions:
      good: {{dispatch: {FIRST}, object: kernels/good.c, check: {{tolerance: 1.0e-4}}}}
      garbage: {{dispatch: {FIRST}, object: kernels/garbage.c}}
      no_entry: {{dispatch: {FIRST}, object: kernels/good.c, entry: their_matmul}}
      crashes: {{dispatch: {FIRST}, object: kernels/crashes.c}}
      wrong: {{dispatch: {FIRST}, object: kernels/wrong.c, check: {{tolerance: 1.0e-4}}}}
      not_compiled: {{dispatch: {FIRST}, object: kernels/good.c}}
      other: {{dispatch: {SECOND}, configuration: other.mlir}}
    combinations:
      with_good: [good, other]
      with_garbage: [garbage, other]
"""

_GOOD = KERNEL.replace('#include "scale.h"', "#define SCALE 1.0f")

#: The compiler, which crashes where it compiles `not_compiled`, or what the file `crash` beside it names.
_COMPILER = """\
#!/bin/sh
case "$PWD $*" in
  */substitutions/not_compiled\\ *|*"/substitutions/$(cat "$(dirname "$0")/crash") "*) kill -SEGV $$;;
esac
exec "{program}" "$@"
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Project:
    """A model with substitutions of which most fail; what can be built is."""
    folder = tmp_path_factory.mktemp("failures") / "suite"
    write_layers(folder)
    files = {
        "benchmarks.yaml": _MANIFEST,
        "kernels/good.c": _GOOD,
        "kernels/garbage.c": "void my_matmul(\n",
        "kernels/crashes.c": _GOOD.replace("float sum = 0.0f", "float sum = *(volatile float *)(1ull << 40)"),
        "kernels/wrong.c": _GOOD.replace("#define SCALE 1.0f", "#define SCALE 2.0f"),
        "other.mlir": "",
    }
    write_files(folder, files)
    compiler = folder.parent / "bin" / "iree-compile"
    write_files(compiler.parent, {"crash": "", compiler.name: _COMPILER.format(program=find_tools().iree_compile)})
    compiler.chmod(0o755)
    lock_and_generate(folder, "cmake")
    definitions = {"IREE_HOST_BIN_DIR": compiler.parent}
    project = Project(folder, definitions=definitions, environment={"PYTHONPATH": str(checkout)})
    project.configure()
    project.build("iree-dispatch-extract-m-host")
    (folder / "other.mlir").write_text(_configuration(project.build_dir / "m" / "host" / "configured.mlir"))
    return project


def _configuration(configured: Path) -> str:
    """The executable of SECOND, as it is configured."""
    executables = re.split(r"(?m)^  (?=hal.executable private)", configured.read_text())
    (text,) = [each for each in executables if SECOND in each and each.startswith("hal.executable private")]
    return text[: text.index("\n  }\n") + len("\n  }\n")]


def _outcomes(project: Project, *arguments: str) -> tuple[set[str], set[str]]:
    """The tests that passed and those that did not, without what their names start with."""
    log = project.test("-j2", *arguments).stdout
    tests: dict[bool, set[str]] = {True: set(), False: set()}
    for name, outcome in re.findall(r"Test +#\d+: \S+/local-sync/(\S+) \.*(?: +|\*\*\*)(Passed|\S+)", log):
        tests[outcome == "Passed"].add(name)
    return tests[True], tests[False]


def _tests_of(substitution: str, dispatch: str = FIRST, *more: str) -> set[str]:
    tests = {dispatch, f"{dispatch}/smoke", "model/static", "model/static/smoke", *more}
    return {f"substitutions/{substitution}/{test}" for test in tests}


_ORIGINAL = {f"{test}{smoke}" for test in (FIRST, SECOND, "model/static") for smoke in ("", "/smoke")}
_FAILING = {
    *_tests_of("garbage"),
    *_tests_of("no_entry"),
    *_tests_of("crashes"),
    f"substitutions/wrong/{FIRST}/check",
    *_tests_of("not_compiled"),
    *(f"substitutions/with_garbage/model/static{smoke}" for smoke in ("", "/smoke")),
}
_PASSING = {
    *_ORIGINAL,
    *_tests_of("good", FIRST, f"{FIRST}/check"),
    *_tests_of("wrong"),
    *_tests_of("other", SECOND),
    *(f"substitutions/with_good/model/static{smoke}" for smoke in ("", "/smoke")),
}


def test_what_fails_leaves_the_others_standing(built: Project) -> None:
    log = built.build(check=False, keep_going=True)
    assert log.returncode != 0
    assert "garbage.c:1" in log.stdout
    assert "their_matmul" in log.stdout
    assert "Traceback" not in log.stdout
    passed, failed = _outcomes(built)
    assert failed == _FAILING
    assert passed == _PASSING
    results = built.build_dir / "results" / "m" / "host" / "local-sync" / "substitutions"
    measured = {path.relative_to(results).as_posix() for path in results.rglob("*.json")}
    assert measured == {
        *(f"good/{FIRST}.json", "good/static.json", f"wrong/{FIRST}.json", "wrong/static.json"),
        *(f"other/{SECOND}.json", "other/static.json", "with_good/static.json"),
    }


def test_same_code_is_said(built: Project) -> None:
    built.build("iree-dispatch-benchmarks-m-host-other")
    built.build("iree-dispatch-compile-m-host")
    log = built.test("-V", "-R", "substitutions/(other|with_good)/.*smoke").stdout
    assert log.count("note: the same code as the compiler's own") == 2, "of the dispatch and of the whole model"


@pytest.mark.parametrize(
    ("edit", "crash"),
    [
        ("int f(", False),  # the object is not built
        ("void their_matmul(void) {}", False),  # it is not put in place: which is the entry point?
        ("int their_data = 1;", True),  # nothing of it is compiled
    ],
)
def test_what_an_earlier_build_left_is_not_measured(built: Project, edit: str, crash: bool) -> None:
    kernel = built.folder / "kernels" / "good.c"
    target = "iree-dispatch-benchmarks-m-host-with_good"
    of_good = ("-R", "substitutions/(good|with_good)/")
    built.build("iree-dispatch-benchmarks-m-host-good")
    built.build(target)
    assert _outcomes(built, *of_good)[1] == set()
    crashing = Path(str(built.definitions["IREE_HOST_BIN_DIR"]), "crash")
    crashing.write_text("good" if crash else "")
    kernel.write_text(_GOOD + edit)
    try:
        assert built.build(target, check=False).returncode != 0
        passed, failed = _outcomes(built, *of_good)
    finally:
        kernel.write_text(_GOOD)
        crashing.write_text("")
    assert passed == set()
    assert {f"substitutions/good/{FIRST}/check", "substitutions/with_good/model/static"} <= failed
    results = built.build_dir / "results" / "m" / "host" / "local-sync" / "substitutions"
    assert list(results.glob("*good/*.json")) == []


def test_targets_make_one_substitution_and_what_it_is_compared_with(built: Project, tmp_path: Path) -> None:
    """In another folder, with the same bytes."""
    built.build(check=False, keep_going=True)
    folder = tmp_path / "suite"
    shutil.copytree(built.folder, folder, ignore=shutil.ignore_patterns("build"))
    project = Project(folder, definitions=built.definitions, environment=built.environment)
    project.configure()
    modules = project.build_dir / "m" / "host"
    project.build("iree-dispatch-benchmarks-m-host-good")
    assert {path.relative_to(modules).as_posix() for path in modules.rglob("*.vmfb")} == {
        *(f"substitutions/good/{name}.vmfb" for name in (FIRST, f"{FIRST}.check", "model")),
        *(f"{FIRST}.vmfb", "model.vmfb"),
    }
    made = [path.relative_to(folder) for path in modules.rglob("*") if path.is_file() and path.suffix != ".d"]
    assert [path for path in made if (folder / path).read_bytes() != (built.folder / path).read_bytes()] == []
    (modules / "model.vmfb").unlink()
    log = project.test("-V", "-R", "substitutions/good/(matmul.*|model/static)/smoke").stdout
    assert "100% tests passed" in log
    assert log.count("note: not compared with the compiler's own code: ") == 1


def test_ctest_builds_on_demand_what_each_test_needs(tmp_path: Path, built: Project) -> None:
    folder = tmp_path / "suite"
    shutil.copytree(built.folder, folder, ignore=shutil.ignore_patterns("build"))
    definitions = {**built.definitions, "DISPATCHGEN_BUILD_ON_TEST": "ON"}
    project = Project(folder, definitions=definitions, environment=built.environment)
    project.configure()
    passed, failed = _outcomes(project, "-R", "local-sync/(model|substitutions/(wrong|no_entry))/.*smoke")
    assert passed == {
        "model/static/smoke",
        f"substitutions/wrong/{FIRST}/smoke",
        "substitutions/wrong/model/static/smoke",
    }
    assert failed == {f"substitutions/no_entry/{test}/smoke" for test in (FIRST, "model/static")}
    assert not (project.build_dir / "m" / "host" / "substitutions" / "good" / "model.vmfb").exists()
