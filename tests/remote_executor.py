"""A remote execution service for one machine: what Bazel's `--remote_executor` talks to in the tests.

    python remote_executor.py --port PORT --cache HOST:PORT --folder FOLDER

It runs with BuildGrid's interpreter, whose client and protocol buffers it uses, and speaks the Remote Execution API:
for each action it fetches the input tree from the cache, runs the command, and stores the outputs and the result.

An action sees another machine: a root folder with the input tree, a shell, the system's libraries and /proc. None of
the host's other folders and no network are there, so that whatever is not a declared input is missing. That takes the
right to make namespaces (`unshare`).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import grpc
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2 as reapi
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2_grpc as services
from buildgrid._protos.build.bazel.semver.semver_pb2 import SemVer
from buildgrid._protos.google.longrunning.operations_pb2 import Operation
from buildgrid.server.client.actioncache import ActionCacheClient
from buildgrid.server.client.cas import Downloader, Uploader

#: What the system gives to programs: the loader and the C library.
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
#: In namespaces of its own: $1 is the root folder, $2 the working directory in it, then the command.
_ENTER = """
for folder in LIBRARIES; do
  if [ -d "$1$folder" ]; then
    mount --bind "$folder" "$1$folder" && mount -o remount,bind,ro "$1$folder" || exit 125
  fi
done
mount --bind /dev/null "$1/dev/null" && mount -t proc proc "$1/proc" || exit 125
root=$1 directory=$2
shift 2
exec chroot "$root" /bin/sh -c 'cd "$0" && exec "$@"' "$directory" "$@"
""".replace("LIBRARIES", " ".join(_LIBRARIES))


class InputTree:
    """Writes input trees; a file is fetched once and then linked to."""

    def __init__(self, downloader: Downloader, blobs: Path) -> None:
        self._downloader = downloader
        self._blobs = blobs
        self._directories: dict[str, reapi.Directory] = {}  # most are those of Python, in the tree of each action
        self._lock = Lock()
        blobs.mkdir(parents=True)

    def write(self, digest: reapi.Digest, folder: Path) -> None:
        """Writes the tree with this root below `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        directory = self._directory(digest)
        for file in directory.files:
            os.link(self._blob(file), folder / file.name)
        for link in directory.symlinks:
            (folder / link.name).symlink_to(link.target)
        for child in directory.directories:
            self.write(child.digest, folder / child.name)

    def _directory(self, digest: reapi.Digest) -> reapi.Directory:
        if digest.hash not in self._directories:
            self._directories[digest.hash] = self._downloader.get_message(digest, reapi.Directory())
        return self._directories[digest.hash]

    def _blob(self, file: reapi.FileNode) -> Path:
        path = self._blobs / f"{file.digest.hash}{'.x' if file.is_executable else ''}"
        with self._lock:
            if not path.exists():
                self._downloader.download_file(file.digest, str(path), file.is_executable, queue=False)
        return path


class Execution(services.ExecutionServicer):  # type: ignore[misc]
    """Runs each action when it is asked for; looks nothing up, since Bazel has done so."""

    def __init__(self, cache: grpc.Channel, folder: Path) -> None:
        self._results = ActionCacheClient(cache)
        self._downloader = Downloader(cache)
        self._uploader = Uploader(cache)
        self._inputs = InputTree(self._downloader, folder / "blobs")
        self._folder = folder

    def Execute(self, request: reapi.ExecuteRequest, context: grpc.ServicerContext) -> Iterator[Operation]:  # noqa: ARG002
        """One finished operation."""
        action = self._downloader.get_message(request.action_digest, reapi.Action())
        command = self._downloader.get_message(action.command_digest, reapi.Command())
        root = Path(tempfile.mkdtemp(dir=self._folder))
        try:
            result = self._run(action, command, root)
        finally:
            shutil.rmtree(root)
        if result.exit_code == 0 and not action.do_not_cache:
            self._results.update("", request.action_digest, result)
        print(f"executed {result.exit_code} {' '.join(command.arguments)}", flush=True)
        operation = Operation(name=request.action_digest.hash, done=True)
        operation.response.Pack(reapi.ExecuteResponse(result=result))
        yield operation

    def _run(self, action: reapi.Action, command: reapi.Command, root: Path) -> reapi.ActionResult:
        prepare_root(root)
        tree = root / "work"
        self._inputs.write(action.input_root_digest, tree)
        directory = tree / command.working_directory
        outputs = [*command.output_files, *command.output_directories, *command.output_paths]
        for output in outputs:
            (directory / output).parent.mkdir(parents=True, exist_ok=True)
        environment = {variable.name: variable.value for variable in command.environment_variables}
        process = subprocess.run(
            [
                # Private: the mounts are not there for this process, which removes the root folder.
                *("unshare", "--mount", "--propagation=private", "--net", "--pid", "--fork"),
                *("/bin/sh", "-c", _ENTER, "enter", str(root), f"/work/{command.working_directory}"),
                *command.arguments,
            ],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        result = reapi.ActionResult(exit_code=process.returncode, stdout_raw=process.stdout, stderr_raw=process.stderr)
        for output in dict.fromkeys(outputs):
            self._upload(directory / output, output, result)
        return result

    def _upload(self, path: Path, name: str, result: reapi.ActionResult) -> None:
        if path.is_dir():
            tree = self._uploader.upload_tree(str(path), queue=False)
            result.output_directories.add(path=name, tree_digest=tree)
        elif path.is_file():
            digest = self._uploader.upload_file(str(path), queue=False)
            result.output_files.add(path=name, digest=digest, is_executable=os.access(path, os.X_OK))


class Capabilities(services.CapabilitiesServicer):  # type: ignore[misc]
    """SHA-256, and nothing optional."""

    def GetCapabilities(
        self,
        request: reapi.GetCapabilitiesRequest,  # noqa: ARG002
        context: grpc.ServicerContext,  # noqa: ARG002
    ) -> reapi.ServerCapabilities:
        """What Bazel asks before its first action."""
        sha256 = reapi.DigestFunction.SHA256
        return reapi.ServerCapabilities(
            cache_capabilities=reapi.CacheCapabilities(digest_functions=[sha256]),
            execution_capabilities=reapi.ExecutionCapabilities(
                digest_function=sha256, digest_functions=[sha256], exec_enabled=True
            ),
            low_api_version=SemVer(major=2),
            high_api_version=SemVer(major=2, minor=1),
        )


def prepare_root(root: Path) -> None:
    """A root folder without anything of this machine but its shell, its libraries and an empty /tmp."""
    for folder in _LIBRARIES:
        if Path(folder).is_dir():
            (root / folder[1:]).mkdir(parents=True)
    for folder in ("bin", "dev", "proc", "tmp"):
        (root / folder).mkdir()
    shutil.copy2("/bin/sh", root / "bin" / "sh")
    (root / "dev" / "null").touch()


def main() -> None:
    """Serves until it is ended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--cache", required=True, metavar="HOST:PORT")
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    cache = grpc.insecure_channel(options.cache)
    server = grpc.server(ThreadPoolExecutor(max_workers=os.cpu_count()))
    services.add_ExecutionServicer_to_server(Execution(cache, options.folder), server)
    services.add_CapabilitiesServicer_to_server(Capabilities(), server)
    if server.add_insecure_port(f"127.0.0.1:{options.port}") == 0:
        parser.error(f"port {options.port} is taken")
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    main()
