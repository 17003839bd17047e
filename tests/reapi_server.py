"""Servers of the Remote Execution API (REAPI) on loopback: a cache, which is BuildGrid's, and an executor.

They run in the environment that `make buildgrid` makes, apart from the one of the tests.
"""

from __future__ import annotations

import functools
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from support import REPOSITORY

BUILDGRID = REPOSITORY / ".venv" / "buildgrid"
#: Seconds until a server that does not answer counts as failed.
_STARTUP = 60.0
_CONFIGURATION = """\
server:
  - !channel
    address: "127.0.0.1:{port}"
    insecure-mode: true
authorization:
  method: none
monitoring:
  enabled: false
thread-pool-size: 500  # Bazel sends each file of a Python at the same time; more requests than threads are refused
storages:
  - !disk-storage &storage
    path: {folder}/blobs
caches:
  - !lru-action-cache &cache
    storage: *storage
    max-cached-refs: 10000
    allow-updates: true
    cache-failed-actions: false
instances:
  - name: ""
    services:
      - !action-cache
        cache: *cache
      - !cas
        storage: *storage
      - !bytestream
        storage: *storage
"""


def has_buildgrid() -> bool:
    """Whether `make buildgrid` was run."""
    return (BUILDGRID / ".installed").is_file()


@functools.cache
def can_isolate() -> bool:
    """Whether this user may run programs in namespaces of their own, as the executor does."""
    namespaces = ("--mount", "--propagation=private", "--net", "--pid", "--fork")
    command = ["unshare", *namespaces, "mount", "--bind", "/dev/null", "/dev/null"]
    try:
        return subprocess.run(command, capture_output=True, timeout=_STARTUP, check=False).returncode == 0
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return False


@contextmanager
def cache_server(folder: Path) -> Iterator[str]:
    """A cache that keeps everything in `folder`; yields its `host:port`."""
    port = _free_port()
    folder.mkdir(parents=True)
    configuration = folder / "server.yml"
    configuration.write_text(_CONFIGURATION.format(port=port, folder=folder))
    with _serving([BUILDGRID / "bin" / "bgd", "server", "start", configuration], port, folder / "log.txt"):
        yield f"127.0.0.1:{port}"


@contextmanager
def executor(folder: Path, cache: str) -> Iterator[str]:
    """An executor (see `remote_executor`) over the cache at `cache`; yields its `host:port`.

    `folder / "log.txt"` gets a line `executed <exit code> <command>` for each action.
    """
    port = _free_port()
    folder.mkdir(parents=True)
    program = [BUILDGRID / "bin" / "python", Path(__file__).with_name("remote_executor.py")]
    with _serving([*program, "--port", str(port), "--cache", cache, "--folder", folder], port, folder / "log.txt"):
        yield f"127.0.0.1:{port}"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def _serving(command: Sequence[str | Path], port: int, log: Path) -> Iterator[None]:
    """A server from the moment at which it listens until the end of the context."""
    with log.open("w") as output:
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        _wait_until_it_listens(process, port, log)
        yield
    finally:
        process.kill()
        process.wait(_STARTUP)


def _wait_until_it_listens(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + _STARTUP
    while True:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, f"no answer in {_STARTUP:g} s\n{log.read_text()}"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
