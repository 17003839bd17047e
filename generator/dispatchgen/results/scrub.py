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
#: The start of an absolute path, of POSIX or Windows, up to its last part.
_PART = r"""[^\s/\\'"`,:;()<>|]"""
_ABSOLUTE = re.compile(rf"(?<![\w.~>/\\-])(?:/(?!/)|[A-Za-z]:[\\/])(?:{_PART}+[\\/])*(?={_PART})")

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
        return _ABSOLUTE.sub(".../", text)


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
            (re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])"), new)
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
