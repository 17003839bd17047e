"""Leaving out of results whose machine they are from: the names of host and user, and where files lie on it.

What rows are known by (names, symbols) stays as it is.
"""

from __future__ import annotations

import getpass
import platform
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from dispatchgen.results.schema import Timing

#: Names that tell nothing of a person or a host, and that messages have as words.
_COMMON = frozenset(
    {"root", "user", "admin", "runner", "build", "builder", "test", "nobody", "localhost", "host", "vm"}
)
#: Shorter names are words of any text.
_SHORTEST_NAME = 2
#: Fields with text for people; nothing is looked up by them.
_TEXTS = frozenset({"reason", "failure", "note", "notes", "run_flags", "uri", "uncontrolled", "target_differences"})
#: What parts of a path are made of. Shells put a backslash before a blank.
_PART = r"""(?:[^\s/\\'"`,:;()<>|]|\\ )"""
_SEPARATOR = r"[\\/]+"
_DRIVE = r"[A-Za-z]:[\\/]+"
#: A folder with blanks in its name: a few words, none of which is a file, a flag or a path of its own.
_BLANKS = r"""[^\s/\\'"`,:;()<>|.]+(?: (?![-.~@])""" + _PART + r"+){1,3}" + _SEPARATOR
#: Before what is no start: `a/b`, `./a`, `~/a`, `<build>/a`, `a-/b`.
_NOT_AFTER = r"(?<![\w.~/\\-])" + "".join(f"(?<!<{name}>)" for name in ("suite", "build", "host", "user"))
#: How an absolute path starts, of POSIX or Windows.
_ROOT = "|".join(
    [
        rf"(?<=\bfile:)//+(?:{_DRIVE})?",  # file:///a, file://host/a
        r"(?<=://)/+",  # another URL without a host
        rf"{_NOT_AFTER}(?<!:)//+",
        rf"{_NOT_AFTER}/(?!/)",
        r"(?P<flag>(?<![\w-])-[A-Za-z]+)/+",  # -I/a
        rf"{_NOT_AFTER}~{_PART}+{_SEPARATOR}",  # somebody's home
        rf"{_NOT_AFTER}{_DRIVE}",
        rf"{_NOT_AFTER}\\\\+(?:[?.]\\+{_DRIVE}|(?={_PART}+\\+{_PART}|{_BLANKS}))",  # \\?\C:\a, \\server\a
    ]
)
#: The start of an absolute path, up to its last part: where blanks can be in it, and where they part arguments.
_ABSOLUTE = re.compile(rf"(?:{_ROOT})(?:{_PART}+{_SEPARATOR}|{_BLANKS})*(?={_PART})")
_ARGUMENT = re.compile(rf"(?:{_ROOT})(?:{_PART}+{_SEPARATOR})*(?={_PART})")
#: A command, as messages have it: quoted for a shell.
_COMMAND = re.compile(r"^( *command: )(.*)$", re.MULTILINE)
_QUOTED = re.compile(r"'[^']*'|[^']+")

_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True)
class Scrubber:
    """Replaces what tells of one machine."""

    folders: tuple[tuple[re.Pattern[str], str], ...]  #: What is found -> what stands for it; longer folders first.
    names: tuple[tuple[re.Pattern[str], str], ...]

    def text(self, text: str) -> str:
        """A text for people without paths and names of this machine."""
        text = self._paths(text)
        for pattern, replacement in self.names:
            text = pattern.sub(replacement, text)
        return text

    def data(self, value: _Model) -> _Model:
        """The same data with its texts scrubbed. In what is no text for people, paths alone are replaced."""
        changes = {}
        for name in type(value).model_fields:
            old = getattr(value, name)
            new = self._value(old, is_text=name in _TEXTS)
            if new is not old:
                changes[name] = new
        return value.model_copy(update=changes) if changes else value

    def _value(self, value: Any, *, is_text: bool) -> Any:
        """A value scrubbed; the same object where nothing changes."""
        if isinstance(value, str):
            new: Any = self.text(value) if is_text else self._paths(value)
            return value if new == value else new
        if isinstance(value, Timing):  # numbers alone, and most of the data
            return value
        if isinstance(value, BaseModel):
            return self.data(value)
        if isinstance(value, tuple):
            new = tuple(self._value(each, is_text=is_text) for each in value)
            return value if all(a is b for a, b in zip(new, value, strict=True)) else new
        if isinstance(value, dict):
            new = {key: self._value(each, is_text=is_text) for key, each in value.items()}
            return value if all(new[key] is value[key] for key in value) else new
        return value

    def _paths(self, text: str) -> str:
        if "/" not in text and "\\" not in text:
            return text
        for pattern, replacement in self.folders:
            text = pattern.sub(replacement, text)
        return _without_roots(_COMMAND.sub(lambda found: found[1] + _QUOTED.sub(_argument, found[2]), text))


def _argument(found: re.Match[str]) -> str:
    """A quoted argument of a command, or what is not quoted: there, blanks part arguments."""
    text = found[0]
    return _without_roots(text) if text.startswith("'") else _without_roots(text, _ARGUMENT)


def _without_roots(text: str, absolute: re.Pattern[str] = _ABSOLUTE) -> str:
    return absolute.sub(r"\g<flag>.../", text)


def scrubber(*, suite: Path, build: Path, with_host_name: bool = False) -> Scrubber:
    """What scrubs the results of a run on this machine.

    Args:
      suite: The suite's folder: `<suite>` stands for it.
      build: The build folder: `<build>`.
      with_host_name: Whether the host's name stays.
    """
    hosts = () if with_host_name else (platform.node(), platform.node().partition(".")[0])
    return make_scrubber({build: "<build>", suite: "<suite>", _home(): "~"}, hosts=hosts, users=(_user(),))


def make_scrubber(folders: dict[Path, str], *, hosts: Iterable[str], users: Iterable[str]) -> Scrubber:
    """What scrubs texts of these folders and names; of all other absolute paths, the last part stays.

    Args:
      folders: A folder -> what stands for it.
      hosts: Names of the host: `<host>` stands for them.
      users: Names of the user: `<user>`.
    """
    spellings: dict[str, str] = {}
    for folder, replacement in folders.items():
        for path in (folder.absolute(), folder.resolve()):
            if path != path.parent:  # the root is the start of all paths
                # Messages hold commands, which are quoted for a shell.
                spellings |= {str(path): replacement, shlex.quote(str(path)).strip("'"): replacement}
    longest_first = sorted(spellings.items(), key=lambda item: (-len(item[0]), item[0]))
    names = [*((host, "<host>") for host in hosts), *((user, "<user>") for user in users)]
    return Scrubber(
        folders=tuple((re.compile(rf"(?<![\w.~-]){re.escape(path)}(?![\w.-])"), new) for path, new in longest_first),
        names=tuple(
            # A name of several parts behind the host's is its domain.
            (re.compile(rf"(?<![\w-]){re.escape(name)}(?:(?:\.[\w-]+){{2,}}|(?![\w-]))", re.IGNORECASE), new)
            for name, new in names
            if len(name) >= _SHORTEST_NAME and name.lower() not in _COMMON
        ),
    )


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # a user without one, as in some containers
        return Path("/")


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name
        return ""
