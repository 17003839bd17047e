# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The targets of a suite's substitutions."""

load(":groups.bzl", "create_filegroup")
load(":module.bzl", "iree_dispatch_module")
load(":substitution.bzl", "iree_dispatch_combination", "iree_dispatch_substitution")
load(":substitution_check.bzl", "parse_combinations", "parse_substitutions")

def create_substitutions(name, suite):
    """Creates the targets from substitutes to compiled modules.

    Args:
      name: Prefix of the names, that of the suite.
      suite: struct of the macro's arguments.

    Returns:
      list of struct(id, dispatches, checked, label): of each substitution and combination, the dispatches that have a module
      and a module that compares outputs, and the label of all modules.
    """
    created = [
        _create_substitution("%s.substitutions.%s" % (name, substitution.id), suite, substitution)
        for substitution in parse_substitutions(suite)
    ]
    dispatches = {substitution.id: substitution.dispatches for substitution in created}
    return created + [
        _create_combination("%s.substitutions.%s" % (name, combination.id), suite, combination, dispatches)
        for combination in parse_combinations(suite)
    ]

def substitution_files(suite):
    """The labels of the files that substitutions are made of, and of those that compile flags name.

    Args:
      suite: struct of the macro's arguments.

    Returns:
      list of strings.
    """
    files = {":" + path: None for path in suite.inputs}
    for substitution in parse_substitutions(suite):
        files.update({":" + substitute.path: None for substitute in substitution.substitutes})
        files.update({path: None for path in _command_inputs(substitution)})
    return sorted(files)

def _create_substitution(name, suite, substitution):
    dispatches = [substitute.dispatch for substitute in substitution.substitutes]
    is_checked = [flag for flag in substitution.flags if flag.startswith("--tolerance=")]
    checked = dispatches if is_checked else []
    iree_dispatch_substitution(
        name = name + ".dispatches",
        srcs = {":" + substitute.path: None for substitute in substitution.substitutes}.keys(),
        command = substitution.command,
        extract = ":%s.dispatches" % suite.name,
        flags = substitution.flags,
        inputs = _command_inputs(substitution),
        object_suffix = suite.object_suffix,
        substitutes = [
            "%s=%s=%s" % (substitute.dispatch, substitute.kind, substitute.path)
            for substitute in substitution.substitutes
        ],
        substitution = substitution.id,
        tags = suite.tags,
        **suite.attributes
    )
    for dispatch in dispatches:
        _create_module(name, suite, dispatch, original = ":%s.%s" % (suite.name, dispatch))
    for dispatch in checked:
        _create_module(name, suite, dispatch + ".check")
    _create_program(name, suite, [":%s.%s" % (name, dispatch) for dispatch in dispatches])
    modules = dispatches + [dispatch + ".check" for dispatch in checked] + ["model"]
    create_filegroup(name, [":%s.%s" % (name, module) for module in modules], suite.attributes)
    return struct(id = substitution.id, dispatches = dispatches, checked = checked, label = ":" + name)

def _create_combination(name, suite, combination, dispatches):
    members = ["%s.substitutions.%s" % (suite.name, id) for id in combination.members]
    iree_dispatch_combination(
        name = name + ".dispatches",
        combination = combination.id,
        substitutions = [":%s.dispatches" % member for member in members],
        tags = suite.tags,
        **suite.attributes
    )
    changes = [
        ":%s.substitutions.%s.%s" % (suite.name, id, dispatch)
        for id in combination.members
        for dispatch in dispatches[id]
    ]
    _create_program(name, suite, changes)
    create_filegroup(name, [":%s.model" % name], suite.attributes)
    return struct(id = combination.id, dispatches = [], checked = [], label = ":" + name)

def _create_program(name, suite, changes):
    _create_module(name, suite, "", original = ":%s.model" % suite.name, changes = changes)

def _create_module(name, suite, dispatch, **kwargs):
    """Creates the target that compiles a module of a substitution; without a dispatch, the whole program."""
    iree_dispatch_module(
        name = "%s.%s" % (name, dispatch or "model"),
        dispatch = dispatch,
        extract = ":%s.dispatches" % name,
        tags = suite.tags,
        **dict(suite.attributes, **kwargs)
    )

def _command_inputs(substitution):
    """The labels of what a command reads besides its source; its program, where that is a file of the package."""
    program = substitution.command[0] if substitution.command else ""
    paths = substitution.inputs + ([program] if "/" in program and not program.startswith("/") else [])
    return sorted({":" + path: None for path in paths})
