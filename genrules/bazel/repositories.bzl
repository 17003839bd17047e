# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Finds an installed IREE and dispatchgen."""

# What names the places to look in. Bazel looks again when one of them changes.
_ENVIRONMENT = [
    "IREE_HOST_BIN_DIR",
    "IREE_TOOLS_DIR",
    "PATH",
    "PYTHONPATH",
    "VIRTUAL_ENV",
]

_LAUNCHERS = {
    "dispatchgen": "from dispatchgen.__main__ import main; main()",
    "import_onnx": "import runpy; runpy.run_module(\"iree.compiler.tools.import_onnx\", None, \"__main__\", True)",
}

_HELP = """\
  try: activate a virtual environment that has dispatchgen, iree-base-compiler and iree-base-runtime, or name it with
       --repo_env=VIRTUAL_ENV=<folder>; IREE's programs alone with --repo_env=IREE_TOOLS_DIR=<folder>"""

def _find_python(rctx):
    """The Python of the active environment, else the one on PATH; fails where it is not there."""
    folder = rctx.os.environ.get("VIRTUAL_ENV")
    if folder:
        python = rctx.path(folder + "/bin/python3")
        if not python.exists:
            _fail(rctx, "VIRTUAL_ENV names a folder without a Python", "there is no %s" % python)
        return python
    python = rctx.which("python3")
    if not python:
        looked = "looked in: PATH (%s); VIRTUAL_ENV is not set" % rctx.os.environ.get("PATH", "")
        _fail(rctx, "no Python was found", looked)
    return python

def _ask(rctx, python):
    """What `dispatchgen.probe.bazel` answers."""
    command = [python, "-m", "dispatchgen.probe.bazel"]
    tools_dir = rctx.os.environ.get("IREE_TOOLS_DIR")
    if tools_dir:
        command += ["--tools-dir", tools_dir]
    for package in rctx.attr.packages:
        command += ["--package", package]
    result = rctx.execute(command, quiet = True)
    errors = result.stderr.strip()
    if "No module named 'dispatchgen'" in errors:
        _fail(rctx, "this Python does not have dispatchgen: %s" % python, errors.splitlines()[-1])
    if "No module named" in errors:
        message = "the dispatchgen of this Python is of another version than these rules, or lacks a package: %s" % python
        _fail(rctx, message, errors.splitlines()[-1])
    if result.return_code != 0:
        _fail(rctx, "the tools were not found\n" + errors, "Python: %s" % python)
    return json.decode(result.stdout)

def _fail(rctx, message, place):
    fail("@%s: %s\n  %s\n%s" % (rctx.name, message, place, _HELP))

def _iree_tools_repository_impl(rctx):
    # Asked for first: at a file that Bazel has not looked at yet, this function is started again.
    launcher = rctx.path(Label("//private:python_launcher.sh.tpl"))
    build_file = rctx.path(Label("//private:iree_tools.BUILD.tpl"))
    answers = _ask(rctx, _find_python(rctx))
    for warning in answers["warnings"]:
        print("@%s: %s" % (rctx.name, warning))  # buildifier: disable=print
    for path, target in answers["links"].items():
        rctx.symlink(target, path)
    rctx.file("IREE_VERSION", answers["version"] + "\n", executable = False)
    for name, run in _LAUNCHERS.items():
        if name != "import_onnx" or answers["importer"]:
            rctx.template(
                name,
                launcher,
                {"%{name}": name, "%{run}": run},
                executable = True,
            )
    defs = str(Label("//:defs.bzl"))
    rctx.template(
        "BUILD.bazel",
        build_file,
        {
            # Bazel 4 and 5 leave out the repository where it is the main one.
            "%{defs}": "@" + defs if defs.startswith("//") else defs,
            "%{import_tool}": repr("import_onnx") if answers["importer"] else "None",
            "%{linker_tool}": repr("bin/iree-lld") if answers["linker"] else "None",
            "%{packages}": ", ".join(rctx.attr.packages) or "none",
        },
        executable = False,
    )

iree_tools_repository = repository_rule(
    implementation = _iree_tools_repository_impl,
    doc = """The programs that benchmark suites use, as `@iree_tools//:tools`.

Python is that of the active virtual environment, or the first on PATH; it must have dispatchgen. IREE's programs are those
in `$IREE_TOOLS_DIR` or `$IREE_HOST_BIN_DIR` (a folder of programs, or an install tree), of the packages iree-base-compiler
and iree-base-runtime of that Python, or on PATH.

All that actions run is linked into the repository and declared, Python included: nothing else on the machine is read, so
that other machines can run the actions, and can use what they made.
""",
    attrs = {
        "packages": attr.string_list(
            doc = "Python packages that ship models, for sources `package:<package>/<path>` of suites.",
        ),
    },
    configure = True,
    environ = _ENVIRONMENT,
    local = True,
)
