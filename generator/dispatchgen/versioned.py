"""Files that dispatchgen writes to read them again: JSON with a version and a digest.

The text is canonical, one text for one content, so that version control shows what changed: two spaces of indentation,
what fits into a line stays on a line, a newline at the end. The digest is that of the text with the digest itself left
empty: it can be checked without writing the content again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from dispatchgen import __version__
from dispatchgen.errors import DispatchgenError, Place, Problem

_T = TypeVar("_T", bound=BaseModel)

_WIDTH = 120  #: Columns of a line that holds a whole list or object.
_VERSION = re.compile(r'\A\{\s*"version":\s*(\d+)\s*[,}]')
#: The digest is a key of the top level: no other has an indentation of two, and JSON's strings hold no newline.
_DIGEST = re.compile(r'\n  "digest": "([^"\n]*)"')
_PROBLEMS_SHOWN = 5


@dataclass(frozen=True)
class Format(Generic[_T]):
    """A kind of file."""

    what: str  #: What messages call it, e.g. `lock file`.
    version: int  #: Of the format, as this dispatchgen writes and reads it.
    content: type[_T]  #: Has the keys `version` and `digest`, and whatever else.
    error: type[DispatchgenError]  #: Raised for a file that cannot be read.
    newer: type[DispatchgenError]  #: Raised for a file that a newer dispatchgen wrote.
    renew: Callable[[Path], str | None]  #: The command that makes the file anew.

    def read(self, path: Path) -> _T:
        """Reads and checks a file.

        Raises `error`: it does not exist or cannot be read, is of another version, is no JSON, was edited by hand.
        """
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise self.error(Problem(f"there is no {self.what}", Place(str(path)), self.renew(path))) from None
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise self.error(Problem(f"cannot read the {self.what}: {reason}", Place(str(path)))) from None
        version = _VERSION.match(text)
        if version is None or int(version[1]) != self.version:
            self._check_version(path, self._parse(path, text))
        try:
            content = self.content.model_validate_json(text)
        except ValidationError as error:
            self._parse(path, text)
            self._check_digest(path, text)
            raise self.error(*(self._invalid(path, details) for details in error.errors()[:_PROBLEMS_SHOWN])) from None
        self._check_digest(path, text)
        return content

    def _parse(self, path: Path, text: str) -> object:
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            message, place = f"the {self.what} is not JSON: {error.msg}", Place(str(path), error.lineno, error.colno)
        except RecursionError:
            message, place = f"the {self.what} is nested too deep", Place(str(path))
        raise self.error(Problem(message, place, self.renew(path)))

    def _check_version(self, path: Path, data: object) -> None:
        """Raises an error unless the data states the version that this dispatchgen reads."""
        version = data.get("version") if isinstance(data, dict) else None
        place = Place(str(path), key="version")
        if not isinstance(version, int) or isinstance(version, bool):
            raise self.error(Problem(f"this is not a {self.what}: it states no version", place, self.renew(path)))
        reads = f"dispatchgen {__version__} reads version {self.version}"
        if version > self.version:
            message = f"the {self.what} was written by a newer dispatchgen: its format has version {version}, {reads}"
            raise self.newer(Problem(message, place, "pip install --upgrade dispatchgen"))
        if version != self.version:
            message = f"the {self.what}'s format has version {version}, {reads}"
            raise self.error(Problem(message, place, self.renew(path)))

    def _check_digest(self, path: Path, text: str) -> None:
        """Raises an error unless the text is the one that the digest in it was made from."""
        stated = _DIGEST.search(text)
        if stated is None or stated[1] != _digest_of(text):
            message = f"the {self.what} was edited by hand, or a merge changed it: "
            message += "its content does not have the digest it states"
            raise self.error(Problem(message, Place(str(path), key="digest"), self.renew(path)))

    def _invalid(self, path: Path, details: Mapping[str, object]) -> Problem:
        location = details["loc"]
        assert isinstance(location, tuple)
        key = ".".join(map(str, location)) or None
        reason = str(details["msg"]).removeprefix("Value error, ")
        return Problem(f"the {self.what} is not valid: {reason}", Place(str(path), key=key), self.renew(path))


def with_digest(data: Mapping[str, object]) -> str:
    """The text of a file that holds these data; the digest in it, which `data` has a place for, is computed."""
    text = canonical_json({**data, "digest": ""})
    return _DIGEST.sub(f'\n  "digest": "{_digest_of(text)}"', text, count=1)


def _digest_of(text: str) -> str:
    return hashlib.sha256(_DIGEST.sub('\n  "digest": ""', text, count=1).encode()).hexdigest()


def canonical_json(value: object) -> str:
    """The canonical text of JSON data or of a pydantic model, ending with a newline. The order of keys is kept."""
    data = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    return "".join(_pieces(data, "", top=True)) + "\n"


def _pieces(value: object, indent: str, *, top: bool = False, used: int = 0) -> Iterator[str]:
    """Text of a value that starts after `used` columns of its line; what does not fit there takes a line per item."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value or (not top and used + len(line) < _WIDTH):
        yield line
        return
    inner = indent + "  "
    yield "{\n" if isinstance(value, dict) else "[\n"
    items = value.items() if isinstance(value, dict) else [(None, item) for item in value]
    for position, (key, item) in enumerate(items):
        prefix = inner if key is None else f"{inner}{json.dumps(key, ensure_ascii=False)}: "
        yield (",\n" if position else "") + prefix
        yield from _pieces(item, inner, used=len(prefix))
    yield f"\n{indent}" + ("}" if isinstance(value, dict) else "]")
