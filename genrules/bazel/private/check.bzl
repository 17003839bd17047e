# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What may be wrong with the arguments of the macros. Each function returns problems, one string each."""

load(":groups.bzl", "COMMON_ATTRIBUTES")

_ID = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

# Targets NAME.* and files of a suite besides those of its dispatches. dispatchgen gives no dispatch such a name.
_RESERVED = ["benchmarks", "built", "configured", "dispatches", "drift", "model", "smoke", "sources", "substitutions"]

# Attributes that callers may give to the targets with actions, besides those of all targets.
_BUILD_ATTRIBUTES = [
    "exec_compatible_with",
    "exec_properties",
    "features",
    "target_compatible_with",
]

def fail_with(macro, name, problems):
    """Ends the evaluation of the build file, where there are problems, with all of them.

    Args:
      macro: name of the macro.
      name: its argument `name`.
      problems: list of strings.
    """
    if problems:
        fail("%s(%s):%s" % (macro, name, "".join(["\n  " + problem for problem in problems])))

def check_ids(names):
    """Names that become parts of targets and files.

    Args:
      names: list of strings.

    Returns:
      list of strings.
    """
    return [
        "'%s' is not a name made of [A-Za-z0-9_]" % name
        for name in names
        if not _is_made_of(name, _ID)
    ]

def check_attributes(attributes):
    """The attributes that a macro passes on.

    Args:
      attributes: dict of name to value.

    Returns:
      list of strings.
    """
    return [
        "unknown argument: %s" % name
        for name in sorted(attributes)
        if name not in COMMON_ATTRIBUTES + _BUILD_ATTRIBUTES
    ]

def check_nightly(presets, nightly, baselines):
    """The presets that are measured as a whole, and their baselines.

    Args:
      presets: dict, by id.
      nightly: list of strings.
      baselines: list of strings, `<preset>=<baseline>`.

    Returns:
      list of strings.
    """
    problems = ["nightly names '%s', which is not among presets" % preset for preset in nightly if preset not in presets]
    problems += ["nightly names '%s' twice" % preset for preset in repeated(nightly)]
    for text in baselines:
        preset, _, name = text.partition("=")
        if not _is_made_of(name, _ID + ".-") or name[0] in ".-":
            problems.append("baselines: '%s' is not of the form <preset>=<baseline>" % text)
        elif preset not in nightly:
            problems.append("baselines names '%s', which is not among nightly" % preset)
    return problems + [
        "two baselines of the preset '%s'" % preset
        for preset in repeated([text.partition("=")[0] for text in baselines])
    ]

def check_suite(suite):
    """The arguments of iree_dispatch_benchmark_suite().

    Args:
      suite: struct of the arguments.

    Returns:
      list of strings.
    """
    problems = [
        "%s is missing" % argument
        for argument in ["model", "backend", "src", "lock", "compile_flags"]
        if not getattr(suite, argument)
    ]
    problems += check_ids([name for name in [suite.model, suite.backend] if name])
    problems += check_ids(suite.dispatches + suite.calls + suite.presets)
    problems += _check_data(suite)
    problems += _check_names(suite)
    problems += _check_devices(suite)
    problems += _check_paths(suite)
    problems += _check_values(suite)
    return problems

def _check_names(suite):
    # The results of dispatches and calls share a folder, the modules of dispatches and of the whole model another.
    problems = [
        "two dispatches or calls have the name '%s'" % name
        for name in repeated(suite.dispatches + suite.calls)
    ]
    problems += [
        "a dispatch cannot be named '%s': the suite itself has a target or a file of that name" % name
        for name in _RESERVED
        if name in suite.dispatches
    ]
    return problems

def _check_data(suite):
    problems = [
        "archives names '%s', which is not among dispatches" % name
        for name in suite.archives
        if name not in suite.dispatches
    ]
    problems += [
        "call_inputs: '%s' is not a name made of [A-Za-z0-9_.]" % name
        for name in suite.call_inputs
        if not _is_made_of(name, _ID + ".") or name.startswith(".")
    ]
    return problems + [
        "data '%s' is not a path inside the package: relative, without '.' and '..'" % path
        for path in suite.data
        if not is_inside(path)
    ]

def _check_devices(suite):
    problems = [
        "device '%s' is not of the form <id>=<uri>" % device
        for device in suite.devices
        if not _is_made_of(device.partition("=")[0], _ID + ".-") or not device.partition("=")[2]
    ]
    ids = [device.partition("=")[0] for device in suite.devices]
    problems += ["two devices have the id '%s'" % id for id in repeated(ids)]
    for argument in ["run_flags", "device_labels"]:
        problems += [
            "%s: '%s' is not of the form <id>=<value> with the id of a device (%s)" % (
                argument,
                element,
                ", ".join(ids) or "there is none",
            )
            for element in getattr(suite, argument)
            if "=" not in element or element.partition("=")[0] not in ids
        ]
    return problems

def _check_paths(suite):
    paths = [("parameters", parameter_path(parameter)) for parameter in suite.parameters]
    if suite.lock:
        paths.append(("lock", suite.lock))
    problems = []
    if suite.src.startswith("package:"):
        path = suite.src[len("package:"):]
        if "/" not in path or not is_inside(path):
            problems.append("src '%s' is not of the form package:<package>/<path>" % suite.src)
    elif suite.src:
        paths.append(("src", suite.src))
    problems += [
        "%s '%s' is not a path inside the package: relative, without '.' and '..'" % (argument, path)
        for argument, path in paths
        if not is_inside(path)
    ]
    if suite.src and not [suffix for suffix in [".mlir", ".mlirbc", ".onnx"] if suite.src.endswith(suffix)]:
        problems.append("src '%s' ends neither in .mlir, .mlirbc nor .onnx" % suite.src)
    if suite.import_flags and not suite.src.endswith(".onnx"):
        problems.append("import_flags are for an src that ends in .onnx")
    return problems

def _check_values(suite):
    problems = [
        "%s must be a whole number of at least 1, not %r" % (argument, getattr(suite, argument))
        for argument in ["repetitions", "batch_size", "timeout"]
        if not _is_positive(getattr(suite, argument)) and not (argument == "timeout" and suite.timeout == None)
    ]
    if suite.drift not in ["", "allow", "error"]:
        problems.append("drift must be \"allow\" or \"error\", not %r" % suite.drift)
    return problems

def _is_positive(value):
    return type(value) == "int" and value > 0

def _is_made_of(text, characters):
    return bool(text) and not [character for character in text.elems() if character not in characters]

def is_inside(path):
    """Whether a path is relative and stays in its folder, as the name of a target must.

    Args:
      path: string.

    Returns:
      bool.
    """
    return not [segment for segment in path.split("/") if segment in ["", ".", ".."]]

def parameter_path(parameter):
    """The path in `[scope=]path`. Like the tools of IREE, it takes what precedes the first `=` for the scope.

    Args:
      parameter: string.

    Returns:
      string.
    """
    scope, separator, path = parameter.partition("=")
    return path if separator else scope

def repeated(names):
    """The names that occur more than once, sorted.

    Args:
      names: list of strings.

    Returns:
      list of strings.
    """
    counts = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return sorted([name for name, count in counts.items() if count > 1])
