"""Commands of users that build objects, through real CMake: each argument arrives as it was."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cmake_project import Generator, Project
from dispatchgen.manifest.suite import Selector, Substitution
from dispatchgen.render.cmake import render_cmake
from dispatchgen.render.quote import command_refusal
from rendered import lock_of
from suite_folder import layers_model

_PIECES = st.sampled_from(
    (
        *(
            "${HOME}",
            "$ENV{HOME}",
            "$(touch x)",
            "`touch x`",
            "$<SEMICOLON>",
            "$<1:x>",
            "@x@",
            "\\;",
            "a;b",
            "[[",
            "]]",
        ),
        *("# x", "&& touch x", "%PATH%", '\\"', "--", "$in", "$out", "$@", "$", " ", "'", '"', "*", "~", "{a,b}", ">x"),
        *("COMMAND", "OUTPUT", "{entry}", "{other}", "=", "=a", "a=b"),
    )
)
_ALPHABET = "$<>{}()[];\"'\\@#%&|`~!*?:=,.+-^_/ aZ09é漢"
_ARGUMENTS = st.text(_ALPHABET, min_size=1, max_size=12) | st.lists(_PIECES, min_size=1, max_size=4).map("".join)
_CARRIED = _ARGUMENTS.filter(lambda text: command_refusal(text) is None and "{entry}" not in text)
#: What a file may be called, of all that means something to CMake, shells, Make or Ninja.
_FILE = "$<x> #1/a $HOME ${HOME} 100% 'q' \"d\" (p) {b} `touch x` & é漢, ~=+!*?@x@.kernel"

#: What a shell expands in a folder with the files `.`, `..` and `b`, and CMake does not quote.
_EXPANDED = (".?", "[ab]", "-D{a,b}")

_RECORDER = """\
import json, sys
with open("recorded.json", "w") as file:
    json.dump(sys.argv[1:], file)
open(sys.argv[2], "w").close()
"""


@pytest.mark.slow
@settings(
    max_examples=3, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate]
)
@given(texts=st.lists(_CARRIED, min_size=40, max_size=60))
def test_arguments_of_commands_arrive_as_they_were(texts: list[str], checkout: Path, generator: Generator) -> None:
    texts = [*_EXPANDED, *texts]
    kernel = Substitution(
        *("by hand", "by_hand", "object", f"kernels/{_FILE}"),
        selectors=(Selector("a_1"),),
        backends=("host",),
        command=(sys.executable, "recorder.py", "{source}", "{output}", "-o={output}", *texts),
        inputs=("recorder.py",),
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "kernels" / _FILE).parent.mkdir(parents=True)
        (folder / "kernels" / _FILE).touch()
        (folder / "recorder.py").write_text(_RECORDER)
        (folder / "b").touch()
        model = layers_model("m", substitutions=(kernel,))
        project = Project(folder, generator, models=[model], environment={"PYTHONPATH": str(checkout)})
        project.write_layers("m", [4, 4])
        (folder / "CMakeLists.txt").write_text(render_cmake(project.suite, {"m": lock_of("m", "host")}))
        project.configure()
        project.build("iree-dispatch-prepare-m-host-by_hand")
        source, output, joined, *arguments = json.loads((folder / "recorded.json").read_text())
        assert not list(folder.rglob("x"))
    assert source == f"{folder}/kernels/{_FILE}"
    assert joined == f"-o={output}"
    assert arguments == texts
