# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The arguments of the macro that say of substitutions, and what may be wrong with them."""

load(":check.bzl", "check_ids", "is_inside", "repeated")

_KINDS = ["configuration", "kernel", "object", "source", "tuning_spec"]

def parse_substitutions(suite):
    """The substitutions of a suite, from arguments that check_substitutions() accepts.

    Args:
      suite: struct of the arguments.

    Returns:
      list of struct(id, substitutes, command, inputs, flags): `substitutes` are struct(dispatch, kind, path).
    """
    return [
        struct(
            id = id,
            substitutes = [substitute for substitute in _substitutes(suite) if substitute.id == id],
            command = _of(id, suite.object_commands),
            inputs = _of(id, suite.substitute_inputs),
            flags = _of(id, suite.substitute_flags),
        )
        for id in _unique([substitute.id for substitute in _substitutes(suite)])
    ]

def parse_combinations(suite):
    """The combinations of a suite.

    Args:
      suite: struct of the arguments.

    Returns:
      list of struct(id, members): `members` are ids of substitutions.
    """
    ids = _unique([text.partition("=")[0] for text in suite.combinations])
    return [struct(id = id, members = _of(id, suite.combinations)) for id in ids]

def check_substitutions(suite):
    """The arguments of iree_dispatch_benchmark_suite() that say of substitutions.

    Args:
      suite: struct of the arguments.

    Returns:
      list of strings.
    """
    problems = [
        "inputs '%s' is not a path inside the package: relative, without '.' and '..'" % path
        for path in suite.inputs
        if not is_inside(path)
    ]
    problems += _check_substitutes(suite)
    ids = _unique([substitute.id for substitute in _substitutes(suite)])
    for argument in ["object_commands", "substitute_inputs", "substitute_flags"]:
        problems += [
            "%s: '%s' is not of the form <id>=<value> with the id of a substitution (%s)" % (
                argument,
                text,
                ", ".join(ids) or "there is none",
            )
            for text in getattr(suite, argument)
            if "=" not in text or text.partition("=")[0] not in ids
        ]
    problems += [
        "substitute_inputs '%s' is not a path inside the package: relative, without '.' and '..'" % text.partition("=")[2]
        for text in suite.substitute_inputs
        if not is_inside(text.partition("=")[2])
    ]
    return problems + _check_kernels(suite) + _check_combinations(suite, ids)

def _check_substitutes(suite):
    problems = [
        "substitutes: '%s' is not of the form <substitution>=<dispatch>=<kind>=<file>" % text
        for text in suite.substitutes
        if len(text.split("=", 3)) < 4
    ]
    substitutes = _substitutes(suite)
    problems += check_ids(_unique([substitute.id for substitute in substitutes]))
    for substitute in substitutes:
        if substitute.dispatch not in suite.dispatches:
            problems.append("substitution %s: the suite has no dispatch '%s'" % (substitute.id, substitute.dispatch))
        if substitute.kind not in _KINDS:
            problems.append("substitution %s: '%s' is none of the kinds: %s" % (
                substitute.id,
                substitute.kind,
                ", ".join(_KINDS),
            ))
        if not is_inside(substitute.path):
            problems.append("substitution %s: '%s' is not a path inside the package: relative, without '.' and '..'" % (
                substitute.id,
                substitute.path,
            ))
    pairs = ["%s has two substitutes for '%s'" % (substitute.id, substitute.dispatch) for substitute in substitutes]
    return problems + ["substitution " + pair for pair in repeated(pairs)]

def _check_kernels(suite):
    with_kernels = _unique([substitute.id for substitute in _substitutes(suite) if substitute.kind == "kernel"])
    problems = [
        "substitution %s: object_commands has no command that makes objects of its kernels" % id
        for id in with_kernels
        if not _of(id, suite.object_commands)
    ]
    for id in with_kernels:
        kernels = _unique([each.path for each in _substitutes(suite) if each.id == id and each.kind == "kernel"])
        if len(kernels) > 1:
            problems.append("substitution %s: there is one object of a command, not several: %s" % (id, ", ".join(kernels)))
    if with_kernels and not suite.object_suffix:
        problems.append("object_suffix is missing")
    return problems

def _check_combinations(suite, ids):
    problems = [
        "combinations: '%s' is not of the form <id>=<substitution> with the id of a substitution (%s)" % (
            text,
            ", ".join(ids) or "there is none",
        )
        for text in suite.combinations
        if text.partition("=")[2] not in ids
    ]
    dispatches = {
        id: [substitute.dispatch for substitute in _substitutes(suite) if substitute.id == id]
        for id in ids
    }
    for combination in parse_combinations(suite):
        problems += check_ids([combination.id])
        if combination.id in ids:
            problems.append("a combination and a substitution have the id '%s'" % combination.id)
        replaced = [dispatch for id in combination.members for dispatch in dispatches.get(id, [])]
        problems += [
            "combination %s: two of its substitutions replace '%s'" % (combination.id, dispatch)
            for dispatch in repeated(replaced)
        ]
    return problems

def _substitutes(suite):
    """`substitutes`, each taken apart, but what is not of the form."""
    parts = [text.split("=", 3) for text in suite.substitutes]
    return [
        struct(
            id = part[0],
            dispatch = part[1],
            kind = part[2],
            path = part[3],
        )
        for part in parts
        if len(part) == 4
    ]

def _of(id, texts):
    """Those of a list of `<id>=<value>` that are of the id, without the prefix."""
    return [text.partition("=")[2] for text in texts if text.partition("=")[0] == id]

def _unique(texts):
    return {text: None for text in texts}.keys()
