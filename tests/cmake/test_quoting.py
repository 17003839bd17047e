"""Text of users through real CMake: it arrives as it was, and nothing of it is evaluated."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cmake_project import Generator, Project, find_program
from dispatchgen.extract.schema import BackendDispatches, Call, Dispatch
from dispatchgen.lock.schema import Lock, MadeFrom
from dispatchgen.manifest.fills import BindingFill, DataSettings, File
from dispatchgen.manifest.suite import Backend, Device, Selector, Source, Substitution
from dispatchgen.render.cmake import render_cmake
from dispatchgen.render.quote import SHELL_OPERATORS, cmake_string, command_refusal, ctest_refusal, refusal
from suite_folder import HOST, layers_model

#: Everything that means something to CMake, its lists, generator expressions, shells, Make or Ninja, and some text.
_ALPHABET = "$<>{}()[];\"'\\@#%&|`~!*?:=,.+-^_/ aZ09\té漢\U0001f600"
_TEXT = st.text(st.sampled_from(_ALPHABET) | st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
_PIECES = st.sampled_from(
    (
        *("${HOME}", "$ENV{HOME}", "$(touch x)", "`touch x`", "$<SEMICOLON>", "$<1:x>", "$$<", "@CMAKE_VERSION@"),
        *("\\;", "a;b", "[==[", "]==]", "[[", "]]", "#", "# x", "&& touch x", "%PATH%", "\\${x}", '\\"', ";;", "-o"),
        *(
            "$<$<BOOL:1>:x>",
            "--",
            "$in",
            "$out",
            "$@",
            "$^",
            "$(MAKE)",
            "$",
            "$ ",
            " ",
            "\\ ",
            "'",
            '"',
            "\\n",
            "*",
            "~",
        ),
        *("!!", "{a,b}", "<", ">x", "|"),
    )
)
_HOSTILE = _TEXT | st.lists(_PIECES, min_size=1, max_size=5).map("".join)
_CARRIED = _HOSTILE.filter(lambda text: ctest_refusal(text) is None)

_RECORDER = """#!{python}
import json, os, sys
arguments = sys.argv[1:]
if arguments == ["--version"]:
    print("IREE compiler version 99.0")
    sys.exit()
with open({log!r}, "a") as log:
    log.write(json.dumps([os.path.basename(sys.argv[0]), *arguments]) + "\\n")
for flag, value in zip(arguments, arguments[1:]):
    if flag == "-o" and value.endswith((".mlir.new", ".o")):
        open(value, "w").close()
for argument in arguments:
    if argument.startswith("--benchmark_out="):
        with open(argument.split("=", 1)[1], "w") as out:
            json.dump({{"benchmarks": [{{"name": "x"}}]}}, out)
"""


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with stand-ins of IREE's programs, which write down their arguments in `log` there."""
    folder = tmp_path_factory.mktemp("recorder")
    for name in ("iree-compile", "iree-benchmark-module", "object-compiler"):
        program = folder / name
        program.write_text(_RECORDER.format(python=sys.executable, log=str(folder / "log")))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return folder


def _recorded(recorder: Path) -> Iterator[list[str]]:
    log = recorder / "log"
    yield from (json.loads(line) for line in log.read_text().splitlines())
    log.unlink()


@pytest.mark.slow
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(st.text(max_size=20) | _HOSTILE, min_size=100, max_size=150))
def test_every_string_is_what_cmake_reads(texts: list[str]) -> None:
    texts = [text for text in texts if ("\0" not in text and text.isprintable()) or text == "\n"]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "script.cmake")
        lines = ["cmake_minimum_required(VERSION 3.25)"]
        for index, text in enumerate(texts):
            lines += [f"set(x {cmake_string(text)})", f'file(WRITE "{folder}/{index}.txt" "${{x}}")']
        script.write_text("\n".join(lines), encoding="utf-8", newline="")
        subprocess.run([find_program("cmake"), "-P", str(script)], check=True, cwd=folder)
        read = [Path(folder, f"{index}.txt").read_bytes().decode() for index in range(len(texts))]
    assert read == texts


def _lock(model: str, *dispatches: Dispatch) -> Lock:
    call = Call(name="static", function="main", shape="static", symbols={}, inputs=())
    return Lock(
        model=model,
        made_from=MadeFrom(source="", settings={}, compiler=""),
        entry=None,
        calls=(call,),
        backends={"host": BackendDispatches(backend="host", dispatches=dispatches)},
    )


def test_no_operator_of_the_shell_is_carried() -> None:
    assert all(refusal(operator) for operator in SHELL_OPERATORS)


@pytest.mark.slow
@settings(
    max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate]
)
@given(texts=st.lists(_CARRIED, min_size=25, max_size=60), records=st.booleans())
def test_flags_arrive_as_they_were(
    texts: list[str], records: bool, recorder: Path, checkout: Path, generator: Generator
) -> None:
    third = len(texts) // 3
    compile_flags = tuple(f"--x={text}" for text in texts[:third]) + tuple(texts[third : 2 * third])
    run_flags = tuple(texts[2 * third :])
    backend = Backend(
        "host", "host", "local", "vmvx", compile_flags, (Device("dev.1", "local-sync://" + texts[0], run_flags),)
    )
    with tempfile.TemporaryDirectory() as folder:
        project = _project(
            Path(folder), generator, recorder, checkout, backend, parameters=tuple(f"s={t}.irpa" for t in texts[:5])
        )
        project.definitions = {**project.definitions, "DISPATCHGEN_RECORD_STEPS": str(records)}
        project.configure()
        project.build("iree-dispatch-configure-m-host")
        (project.build_dir / "m" / "host" / "dispatches.stamp").touch()  # tests run what was extracted
        outcome = project.test()
        assert outcome.returncode == 0, outcome.stdout
        compile_call, smoke_call, timed_call = _recorded(recorder)
    assert compile_call[0] == "iree-compile"
    first = compile_call.index("--iree-vm-bytecode-module-strip-source-map=true") + 1
    assert tuple(compile_call[first:-3]) == compile_flags
    device = smoke_call.index(f"--device=local-sync://{texts[0]}") + 1
    assert tuple(smoke_call[device:-1]) == run_flags
    assert tuple(timed_call[device : device + len(run_flags)]) == run_flags
    parameters = [argument for argument in smoke_call[:device] if argument.startswith("--parameters=")]
    expected = [os.path.normpath(project.folder / f"{t}.irpa").replace("//", "/") for t in texts[:5]]
    assert [argument.removeprefix("--parameters=s=") for argument in parameters] == expected


@pytest.mark.slow
@settings(
    max_examples=5, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate]
)
@given(
    texts=st.lists(_HOSTILE.filter(lambda text: command_refusal(text) is None), min_size=10, max_size=30),
    records=st.booleans(),
)
def test_commands_of_kernels_arrive_as_they_were(
    texts: list[str], records: bool, recorder: Path, checkout: Path, generator: Generator
) -> None:
    command = (str(recorder / "object-compiler"), *texts, "--in={source}", "-o", "{output}")
    kernel = f"my kernels/{_HOSTILE_NAME}.c"
    settings = {"command": command, "inputs": (f"{kernel}.h",), "selectors": (Selector("d"),), "backends": ("host",)}
    substitution = Substitution("s", "s", "object", kernel, **settings)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder:
        project = _project(
            Path(folder), generator, recorder, checkout, HOST, _lock("m", _DISPATCH), substitutions=(substitution,)
        )
        (project.folder / "my kernels").mkdir()
        for name in (kernel, f"{kernel}.h"):
            (project.folder / name).touch()
        project.definitions = {**project.definitions, "DISPATCHGEN_RECORD_STEPS": str(records)}
        project.configure()
        project.build("iree-dispatch-prepare-m-host-s")
        (call,) = _recorded(recorder)
        made = project.build_dir / "m" / "host" / "substitutions" / "s" / "s.o"
        assert made.is_file()
        assert project.steps("iree-dispatch-prepare-m-host-s") == []
    assert call[1:-3] == texts
    assert call[-3:] == [f"--in={project.folder / kernel}", "-o", str(made.parent / "new" / made.name)]


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_headers_with_unusual_names_are_found_out(
    tmp_path: Path, recorder: Path, checkout: Path, generator: Generator, compiler: str
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    # No ' and &, at which Ninja ends names that compilers tell; no $ and #, of which CMake's Makefiles find nothing.
    stem = "a (p) é漢, ~=+!@x@"
    header = f"{stem}.h"
    command = (compiler, "-c", "{source}", "-o", "{output}")
    file = f"{stem}.c"
    substitution = Substitution(
        "s", "s", "object", file, command=command, selectors=(Selector("d"),), backends=("host",)
    )
    project = _project(
        tmp_path / "the suite",
        generator,
        recorder,
        checkout,
        HOST,
        _lock("m", _DISPATCH),
        substitutions=(substitution,),
    )
    (project.folder / file).write_text(f'#include "{header}"\nint f(void) {{ return X; }}\n')
    (project.folder / header).write_text("#define X 1\n")
    project.configure()
    target = "iree-dispatch-prepare-m-host-s"
    built = ["Building m/host/substitutions/s/s.o"]
    assert project.steps(target) == built
    assert project.steps(target) == []
    time.sleep(1.1)
    (project.folder / header).write_text("#define X 2\n")
    assert project.steps(target) == built
    assert project.steps(target) == []


_DISPATCH = Dispatch(
    name="d",
    operation="d",
    executable="d",
    variant="d",
    export="d",
    content="",
    written=(),
    benchmarks=(),
)
_HOSTILE_NAME = "a $HOME ${HOME} $<x> #1 100% 'q' \"d\" (p) {b} `touch x` & é漢, ~=+!*?@x@"


@pytest.mark.slow
def test_source_with_a_hostile_name_is_built(tmp_path: Path, checkout: Path, generator: Generator) -> None:
    name = f"{_HOSTILE_NAME}.mlir"
    data = f"my models/{_HOSTILE_NAME}.npy"
    model = layers_model(
        "m", data=DataSettings(bindings=(BindingFill("*", 0, File(data)),)), labels=("$(touch x)", "a;b")
    )
    model = replace(model, source=Source(f"my models/{name}", "mlir"))
    project = Project(tmp_path / "suite", generator, models=[model], environment={"PYTHONPATH": str(checkout)})
    project.write_layers("m", (8, 16))
    (project.folder / "models").rename(project.folder / "my models")
    (project.folder / "my models" / "m.mlir").rename(project.folder / "my models" / name)
    np.save(project.folder / data, np.zeros((4, 8), np.float32))
    project.lock()
    project.generate()
    project.configure()
    assert "Configuring m/host" in project.steps()
    assert project.steps() == []
    outcome = project.test()
    assert outcome.returncode == 0, outcome.stdout
    assert {path.name for path in project.folder.iterdir()} == {"CMakeLists.txt", "build", "locks", "my models"}
    assert not list(tmp_path.rglob("x"))


def _project(
    folder: Path,
    generator: Generator,
    recorder: Path,
    checkout: Path,
    backend: Backend,
    lock: Lock | None = None,
    **settings: object,
) -> Project:
    project = Project(
        folder,
        generator,
        backends=(backend,),
        models=[layers_model("m", **settings)],
        definitions={"IREE_HOST_BIN_DIR": recorder},
        environment={"PYTHONPATH": str(checkout)},
    )
    project.write_layers("m", [4, 4])
    (folder / "CMakeLists.txt").write_text(render_cmake(project.suite, {"m": lock or _lock("m")}))
    return project
