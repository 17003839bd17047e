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

# Kinds of substitutes of which a module does not tell whether the whole program should differ: the compiler's own code as an
# object is linked otherwise there.
_OBJECTS = ["kernel", "object"]

def create_substitutions(name, suite):
    """Creates the targets from substitutes to compiled modules.

    Args:
      name: Prefix of the names, that of the suite.
      suite: struct of the macro's arguments.

    Returns:
      list of structs, of each substitution and combination: `id`; `dispatches` and `checked`, those that have a module and a
      module that compares outputs; `label` of all modules.
    """
    created = [
        _create_substitution("%s.substitutions.%s" % (name, substitution.id), suite, substitution)
        for substitution in parse_substitutions(suite)
    ]
    by_id = {substitution.id: substitution for substitution in created}
    return created + [
        _create_combination("%s.substitutions.%s" % (name, combination.id), suite, combination, by_id)
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
        _create_module(name, suite, dispatch + ".check", flags = _unlinked_flags(substitution.flags))
    changed = [substitute.dispatch for substitute in substitution.substitutes if substitute.kind not in _OBJECTS]
    programs = _create_program(name, suite, substitution.flags, [":%s.%s" % (name, dispatch) for dispatch in changed])
    modules = dispatches + [dispatch + ".check" for dispatch in checked] + programs
    create_filegroup(name, [":%s.%s" % (name, module) for module in modules], suite.attributes)
    return struct(
        id = substitution.id,
        changed = changed,
        checked = checked,
        dispatches = dispatches,
        flags = substitution.flags,
        label = ":" + name,
    )

def _create_combination(name, suite, combination, by_id):
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
        for dispatch in by_id[id].changed
    ]
    flags = [flag for id in combination.members for flag in by_id[id].flags]
    programs = _create_program(name, suite, flags, changes)
    create_filegroup(name, [":%s.%s" % (name, program) for program in programs], suite.attributes)
    return struct(id = combination.id, dispatches = [], checked = [], label = ":" + name)

def _create_program(name, suite, flags, changes):
    """Creates the target that compiles the whole program, where there are calls of it.

    Args:
      name: of the substitution or combination.
      suite: struct of the macro's arguments.
      flags: list of strings, of `dispatchgen substitute` for its substitutions.
      changes: labels of the modules that tell whether the program should differ from the compiler's own.

    Returns:
      list of strings: what follows the name in that of the target.
    """
    if not suite.calls:
        return []
    _create_module(
        name,
        suite,
        "",
        changes = changes,
        flags = _unlinked_flags(flags),
        original = ":%s.model" % suite.name,
    )
    return ["model"]

def _unlinked_flags(flags):
    """Flags of modules that hold executables of two targets: IREE would link all into one library for the first of them."""
    return ["--iree-hal-link-executables=false"] if "--allow-other-target" in flags else []

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
    paths = list(substitution.inputs)
    if "/" in program and not program.startswith("/"):
        paths.append("/".join([part for part in program.split("/") if part not in ["", "."]]))
    return sorted({":" + path: None for path in paths})
