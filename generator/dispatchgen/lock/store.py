"""Reading and writing lock files.

The text is canonical, one text for one content, so that version control shows what changed: two spaces of indentation,
what fits into a line stays on a line, keys of mappings whose order means nothing are sorted, a newline at the end. The
digest is that of the text with the digest itself left empty: it can be checked without writing the content again.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel, ValidationError

from dispatchgen import __version__
from dispatchgen.errors import LockError, Place, Problem
from dispatchgen.files import write_if_changed
from dispatchgen.lock.schema import LOCK_VERSION, Lock
from dispatchgen.manifest import DEFAULT_MANIFEST
from dispatchgen.manifest.suite import Suite

_WIDTH = 120  #: Columns of a line that holds a whole list or object.
_VERSION = re.compile(r'\A\{\s*"version":\s*(\d+)\s*[,}]')
#: The digest is a key of the top level: no other has an indentation of two, and JSON's strings hold no newline.
_DIGEST = re.compile(r'\n  "digest": "([^"\n]*)"')
_PROBLEMS_SHOWN = 5


class NewerLockError(LockError):
    """A lock file was written by a newer dispatchgen: not to be overwritten by this one."""


def read_lock(path: Path) -> Lock:
    """Reads and checks a lock file.

    Raises LockError: it does not exist or cannot be read, is of another version, is no JSON, was edited by hand.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise LockError(Problem("there is no lock file", Place(str(path)), renew_command(path))) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise LockError(Problem(f"cannot read the lock file: {reason}", Place(str(path)))) from None
    version = _VERSION.match(text)
    if version is None or int(version[1]) != LOCK_VERSION:
        _check_version(path, _parse(path, text))
    try:
        lock = Lock.model_validate_json(text)
    except ValidationError as error:
        _parse(path, text)
        _check_digest(path, text)
        raise LockError(*(_invalid(path, details) for details in error.errors()[:_PROBLEMS_SHOWN])) from None
    _check_digest(path, text)
    return lock


def write_lock(path: Path, lock: Lock) -> bool:
    """Writes a lock file in one step, with its digest; leaves it alone when it is the same already.

    Returns whether the file was written. Raises OutputError when it cannot be.
    """
    return write_if_changed(path, lock_text(lock))


def locks_of_no_model(suite: Suite) -> list[Path]:
    """The files beside the suite's locks that would be the lock of a model that the suite does not have, sorted."""
    owned = {suite.lock_path(model) for model in suite.models}
    return sorted(
        path for folder in {path.parent for path in owned} for path in folder.glob("*.json") if path not in owned
    )


def lock_text(lock: Lock) -> str:
    """The text of a lock file. The digest that `lock` carries is not used: it is computed."""
    # What most locks have nothing to say of is left out, but never what is skipped.
    data = lock.model_dump(mode="json", exclude={"version", "digest"}, exclude_defaults=True)
    for dispatches in data["backends"].values():
        dispatches |= {key: dispatches.pop(key, []) for key in ("skipped", "uncounted")}
    head = {"version": lock.version, "model": data.pop("model"), "digest": ""}
    text = canonical_json({**head, **_sorted(data)})
    return _DIGEST.sub(f'\n  "digest": "{_digest_of(text)}"', text, count=1)


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


#: Mappings of the lock file that are keyed by what users or programs named: their order means nothing.
_UNORDERED = frozenset({"settings", "backends", "counts", "symbols"})


def _sorted(value: object, key: str | None = None) -> dict[str, object]:
    """`value` with the unordered mappings in it sorted by key."""
    result = _sorted_any(value, key)
    assert isinstance(result, dict)
    return result


def _sorted_any(value: object, key: str | None) -> object:
    if isinstance(value, Mapping):
        items = sorted(value.items()) if key in _UNORDERED else value.items()
        return {name: _sorted_any(item, name) for name, item in items}
    if isinstance(value, list):
        return [_sorted_any(item, None) for item in value]
    return value


def _digest_of(text: str) -> str:
    return hashlib.sha256(_DIGEST.sub('\n  "digest": ""', text, count=1).encode()).hexdigest()


def _parse(path: Path, text: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = Place(str(path), error.lineno, error.colno)
        raise LockError(Problem(f"the lock file is not JSON: {error.msg}", place, renew_command(path))) from None
    except RecursionError:
        raise LockError(Problem("the lock file is nested too deep", Place(str(path)), renew_command(path))) from None


def _check_version(path: Path, data: object) -> None:
    """Raises LockError unless the data states the version that this dispatchgen reads."""
    version = data.get("version") if isinstance(data, dict) else None
    place = Place(str(path), key="version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise LockError(Problem("this is not a lock file: it states no version", place, renew_command(path)))
    if version > LOCK_VERSION:
        message = f"the lock file was written by a newer dispatchgen: its format has version {version}, "
        message += f"dispatchgen {__version__} reads version {LOCK_VERSION}"
        raise NewerLockError(Problem(message, place, "pip install --upgrade dispatchgen"))
    if version != LOCK_VERSION:
        message = (
            f"the lock file's format has version {version}, dispatchgen {__version__} reads version {LOCK_VERSION}"
        )
        raise LockError(Problem(message, place, renew_command(path)))


def _check_digest(path: Path, text: str) -> None:
    """Raises LockError unless the text is the one that the digest in it was made from."""
    stated = _DIGEST.search(text)
    if stated is None or stated[1] != _digest_of(text):
        message = (
            "the lock file was edited by hand, or a merge changed it: its content does not have the digest it states"
        )
        raise LockError(Problem(message, Place(str(path), key="digest"), renew_command(path)))


def _invalid(path: Path, details: Mapping[str, object]) -> Problem:
    location = details["loc"]
    assert isinstance(location, tuple)
    key = ".".join(map(str, location)) or None
    return Problem(f"the lock file is not valid: {details['msg']}", Place(str(path), key=key), renew_command(path))


def renew_command(path: Path, manifest: Path | None = None) -> str:
    """The command that renews a lock file.

    Args:
      path: Of the lock file.
      manifest: Of the suite; None: the one of the usual name beside the folder of the lock file.
    """
    return shlex.join(["dispatchgen", "lock", *_given(path, manifest), "--model", path.stem])


def generate_command(path: Path) -> str:
    """The command that renews the build files of the suite that a lock file belongs to.

    Args:
      path: Of the lock file, in a folder beside the manifest.
    """
    return shlex.join(["dispatchgen", "generate", *_given(path)])


def _given(path: Path, manifest: Path | None = None) -> list[str]:
    """What of the command line names the manifest: nothing where it is that of the current folder."""
    manifest = manifest if manifest is not None else path.parent.parent
    return [] if manifest in (Path(DEFAULT_MANIFEST), Path()) else [str(manifest)]
