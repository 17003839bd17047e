"""Results hold no names of host or user, and no absolute paths."""

from __future__ import annotations

import getpass
import platform
import re
import shlex
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dispatchgen.results.schema import DeviceUsed, NotRun
from dispatchgen.results.scrub import Scrubber, make_scrubber, scrubber
from made_up_results import call, dispatch, results

_HOME = Path("/home/maria")
_SUITE = _HOME / "kernels"
_BUILD = _SUITE / ".dispatchgen"
_SCRUBBER = make_scrubber(
    {_SUITE: "<suite>", _BUILD: "<build>", _HOME: "~"}, hosts=["build7.example.com", "build7"], users=["maria"]
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{_BUILD}/build/m/host/a.vmfb: no such file", "<build>/build/m/host/a.vmfb: no such file"),
        (f"{_SUITE}/models/m.mlir:3:7: error: x", "<suite>/models/m.mlir:3:7: error: x"),
        (f"'{_SUITE}'", "'<suite>'"),
        (f"{_SUITE}", "<suite>"),
        (f"{_SUITE}-2/x", "~/kernels-2/x"),
        (f"{_HOME}/other/x", "~/other/x"),
        ("/home/mariana/x/y", ".../y"),
        (f"--parameters=model={_SUITE}/w.irpa", "--parameters=model=<suite>/w.irpa"),
        ("--parameters=/data/maria/w.irpa", "--parameters=.../w.irpa"),
        ("--input=4xf32=@/data/x.bin", "--input=4xf32=@.../x.bin"),
        ("command: /opt/iree/bin/iree-compile -o /tmp/x.vmfb", "command: .../iree-compile -o .../x.vmfb"),
        ("(/work/runtime/src/driver.c:123)", "(.../driver.c:123)"),
        ("/a:/b/c:/d/e", ".../a:.../c:.../e"),
        (r"C:\Users\maria\x.mlir and D:/data/y.mlir", ".../x.mlir and .../y.mlir"),
        ("file:///data/x/y.mlir, file://nas/data/y.mlir", "file:.../y.mlir, file:.../y.mlir"),
        ("file:///C:/data/y.mlir sqlite:///data/x/y.db", "file:.../y.mlir sqlite://.../y.db"),
        ("-I/opt/x/include -isystem/usr/y/z", "-I.../include -isystem.../z"),
        ("//nas/data/x 2>/var/x/log", ".../x 2>.../log"),
        (r"\\nas\share\x \\?\C:\Users\x 'C:\\Users\\x'", ".../x .../x '.../x'"),
        ("~mariana/x/y", ".../y"),
        ("/srv/My Big Project/deep/x: no", ".../x: no"),
        (r"/srv/My\ Project/deep/x", ".../x"),
        ("command: /opt/bin/cat a/b '--x=/srv/My Project/y'", "command: .../cat a/b '--x=.../y'"),
        ("on build7.example.com by maria: build7", "on <host> by <user>: <host>"),
        ("BUILD7, Build7.corp.example.com, Maria", "<host>, <host>, <user>"),
        ("build77, mariachi, my-maria", "build77, mariachi, my-maria"),
        # What is no absolute path.
        ("vulkan://GPU-01 and local-sync://", "vulkan://GPU-01 and local-sync://"),
        ("1/2, a/b/c, ./x/y, ../x, ~/x, 3 / 4, //", "1/2, a/b/c, ./x/y, ../x, ~/x, 3 / 4, //"),
        ("<build>/x and .../y", "<build>/x and .../y"),
    ],
)
def test_texts(text: str, expected: str) -> None:
    assert _SCRUBBER.text(text) == expected
    assert _SCRUBBER.text(expected) == expected


def test_paths_that_shells_quote() -> None:
    folder = Path('/home/maria/it\'s a "$suite";')
    found = make_scrubber({folder: "<suite>"}, hosts=[], users=["maria"])
    text = f"command: {shlex.join(['cat', str(folder / 'x.mlir')])}\nin {folder}/y.mlir"
    assert "maria" not in found.text(text)
    assert "/home" not in found.text(text)
    assert "in <suite>/y.mlir" in found.text(text)


def test_a_linked_folder_is_known_by_both_paths(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    found = make_scrubber({link: "<suite>"}, hosts=[], users=[])
    assert found.text(f"{real}/x {link}/x") == "<suite>/x <suite>/x"


_PARTS = st.sampled_from(["secret", "secret.d", "-secret+x", "é@secret", "my secret", "x secret y", "secret %20 =z"])


@given(
    before=st.sampled_from(["", "at ", "--a=", "a:", "(", "'", '"', "<", "@", "-I", "2>", "a\n", "file://", "x; "]),
    root=st.sampled_from(["/", "//", "C:\\", "d:/", "\\\\", "~"]),
    folders=st.lists(_PARTS, min_size=2, max_size=4),
    after=st.sampled_from(["", " and c", ": no", "'", "\n/c", ") ./a"]),
)
def test_of_an_absolute_path_the_last_part_stays(before: str, root: str, folders: list[str], after: str) -> None:
    assume(before not in ("-I", "file://") or root[0] == "/")
    assume(root != "~" or " " not in folders[0])
    separator = "\\" if "\\" in root else "/"
    scrubbed = _SCRUBBER.text(f"{before}{root}{separator.join(folders)}{separator}last{after}")
    assert "secret" not in scrubbed
    assert f".../last{after}" in scrubbed.replace(".../c", "/c")
    assert _SCRUBBER.text(scrubbed) == scrubbed


@given(st.text("/\\:=@'\"`,;()<>|. ~-abC\n", max_size=40))
def test_no_text_keeps_an_absolute_path(text: str) -> None:
    scrubbed = _SCRUBBER.text(text)
    words = re.split(r"""[\s'"`,;()=@|]+""", scrubbed)
    assert not [word for word in words if re.match(r"/[\w-]+/[\w-]+", word)]


def test_names_that_are_words_stay() -> None:
    found = make_scrubber({Path("/"): "<suite>"}, hosts=["vm", ""], users=["root", "a"])
    assert found.text("a root operation, vm.import and / x") == "a root operation, vm.import and / x"


def _messages(scrub: Scrubber) -> NotRun:
    return scrub.data(
        NotRun(
            model="maria",
            backend="host",
            device=DeviceUsed(id="build7", uri="local-sync", run_flags=(f"--flag={_SUITE}/x", "--user=maria")),
            cause="build-failed",
            reason=f"maria has no {_BUILD}/x",
            notes=("on build7",),
        )
    )


def test_data_keep_what_they_are_known_by() -> None:
    found = _messages(_SCRUBBER)
    assert (found.model, found.backend) == ("maria", "host")
    assert found.device is not None
    assert found.device.id == "build7"
    assert found.device.run_flags == ("--flag=<suite>/x", "--user=<user>")
    assert (found.reason, found.notes) == ("<user> has no <build>/x", ("on <host>",))


def test_results_without_anything_to_scrub_stay_as_they_are() -> None:
    whole = results([call([dispatch("a", [1e-3, 1.1e-3]), dispatch("b", None)])])
    assert _SCRUBBER.data(whole) is whole


def test_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "node", lambda: "made-up-host.example.com")
    monkeypatch.setattr(getpass, "getuser", lambda: "madeupuser")
    monkeypatch.setenv("HOME", str(tmp_path / "homes" / "madeupuser"))
    text = f"{tmp_path}/homes/madeupuser/x {tmp_path}/s/b/y {tmp_path}/s/z madeupuser@made-up-host"
    found = scrubber(suite=tmp_path / "s", build=tmp_path / "s" / "b")
    assert found.text(text) == "~/x <build>/y <suite>/z <user>@<host>"
    found = scrubber(suite=tmp_path / "s", build=tmp_path / "s" / "b", with_host_name=True)
    assert found.text("madeupuser@made-up-host.example.com") == "<user>@made-up-host.example.com"


def test_a_user_without_name_and_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> str:
        raise KeyError("getpwuid(): uid not found: 12345")

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(getpass, "getuser", fails)
    monkeypatch.setattr(Path, "home", no_home)
    assert scrubber(suite=tmp_path, build=tmp_path / "b").text(f"{tmp_path}/x") == "<suite>/x"
