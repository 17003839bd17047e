# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Puts substitutes in place of dispatches, in benchmark modules and in the whole program."""

load(":compile.bzl", "configure", "with_files")
load(":providers.bzl", "IreeDispatchExtractInfo", "IreeDispatchSubstitutionInfo", "module_folder")
load(":substitution_object.bzl", "MAKE_OBJECT_ATTR", "add_objects")

# Where iree-compile looks for objects, from the folder of a substitution: the folder that all substitutions lie in.
_SEARCH_PATH = "--iree-hal-executable-object-search-path=.."

def _substitution_impl(ctx):
    original = ctx.attr.extract[IreeDispatchExtractInfo]
    targets = _targets(ctx, original)
    folder = _folder(original, ctx.attr.substitution)
    files = {target.label.name: target.files.to_list()[0] for target in ctx.attr.srcs}
    objects = add_objects(ctx, folder, targets, files)
    step = struct(
        title = folder,
        original = original,
        checked = bool([flag for flag in ctx.attr.flags if flag.startswith("--tolerance=")]),
    )
    tuned = [target for target in targets if target.kind == "tuning_spec"]
    outputs = []
    if tuned:
        spec = files[tuned[0].path]
        dispatches = [target.dispatch for target in tuned]
        outputs += _substitute(ctx, step, "tuning_spec", _tune(ctx, step, spec), tuned[0].path, dispatches)
    for target in targets:
        if target.kind in ["kernel", "object"]:
            outputs += _substitute(ctx, step, "object", objects[target.path], target.path, [target.dispatch])
        elif target.kind != "tuning_spec":
            outputs += _substitute(ctx, step, target.kind, files[target.path], target.path, [target.dispatch])
    executables = [output.executable for output in outputs]
    return [
        DefaultInfo(files = depset([file for output in outputs for file in output.files])),
        _extract_info(
            original,
            substitution = ctx.attr.substitution,
            configured = _substitute_model(ctx, original, ctx.attr.substitution, executables),
            objects = objects.values(),
            modules = {output.dispatch: output.module for output in outputs},
            checks = {output.dispatch: output.check for output in outputs if output.check},
        ),
        IreeDispatchSubstitutionInfo(
            executables = executables,
            objects = objects.values(),
            original = original,
        ),
    ]

def _combination_impl(ctx):
    members = [target[IreeDispatchSubstitutionInfo] for target in ctx.attr.substitutions]
    original = members[0].original
    objects = [file for member in members for file in member.objects]
    configured = _substitute_model(
        ctx,
        original,
        ctx.attr.combination,
        [file for member in members for file in member.executables],
    )
    return [
        DefaultInfo(files = depset([configured])),
        _extract_info(original, ctx.attr.combination, configured, objects),
    ]

def _folder(original, substitution):
    return module_folder(original) + "/substitutions/" + substitution

def _targets(ctx, original):
    """The attribute `substitutes`, taken apart."""
    targets = []
    for text in ctx.attr.substitutes:
        dispatch, kind, path = text.split("=", 2)
        if dispatch not in original.modules:
            fail("%s: %s has no dispatch '%s'; it has: %s" % (
                ctx.label,
                ctx.attr.extract.label,
                dispatch,
                ", ".join(sorted(original.modules)),
            ))
        targets.append(struct(dispatch = dispatch, kind = kind, path = path))
    return targets

def _tune(ctx, step, spec):
    """Adds the action that configures the model with a tuning spec. Returns the configured module."""
    original = step.original
    tuned = ctx.actions.declare_file(step.title + "/tuned.mlir")
    flag = "--iree-codegen-tuning-spec-path="

    # Of two flags of one name the last counts.
    configure(
        ctx,
        tools = original.tools,
        flags = original.compile_flags + [flag + spec.path],
        files = dict(original.flag_files, **{spec.path: spec}),
        src = original.src,
        output = tuned,
        progress_message = "Configuring %s" % step.title,
    )
    return tuned

def _substitute(ctx, step, kind, substitute, given, dispatches):
    """Adds the action that writes the modules of dispatches that one file substitutes.

    Args:
      ctx: of the rule.
      step: struct: title, original, checked.
      kind: source, configuration, object or tuning_spec.
      substitute: File.
      given: string, the user's file in the package.
      dispatches: list of strings.

    Returns:
      list of structs, those of _declare().
    """
    original = step.original
    tools = original.tools
    results = [_declare(ctx, step, dispatch) for dispatch in dispatches]
    args = ctx.actions.args()
    args.add("substitute")
    args.add("--name", ctx.attr.substitution)
    args.add("--kind", kind)
    args.add("--substitute", substitute)
    args.add("--given", given)
    args.add("--dispatches", original.index.dirname)
    args.add_all(dispatches, before_each = "--dispatch")
    args.add("--output", results[0].module.dirname)
    args.add("--iree-compile", tools.compile.executable)
    args.add_all(ctx.attr.flags)
    args.add("--")
    args.add_all(with_files(original.compile_flags, original.flag_files))
    modules = [original.modules[dispatch] for dispatch in dispatches]
    ctx.actions.run(
        executable = tools.dispatchgen,
        arguments = [args],
        inputs = depset(
            [substitute, original.index] + modules + original.flag_files.values(),
            transitive = [tools.dispatchgen_files, tools.substitute_files, tools.compile_files],
        ),
        outputs = [file for result in results for file in result.files],
        tools = [tools.dispatchgen, tools.compile],
        env = {},
        mnemonic = "IreeDispatchSubstitute",
        progress_message = "Substituting %s in %s" % (", ".join(dispatches), step.title),
    )
    return results

def _declare(ctx, step, dispatch):
    """Declares what is written of a dispatch.

    Args:
      ctx: of the rule.
      step: struct: title, original, checked.
      dispatch: string.

    Returns:
      struct(dispatch, module, executable, check, files): Files; `check`: struct(module, spec) or None; `files`: all of them.
    """
    suffixes = ["mlir", "executable.mlir", "json"] + (["check.mlir", "check.json"] if step.checked else [])
    files = {
        suffix: ctx.actions.declare_file("%s/dispatches/%s.%s" % (step.title, dispatch, suffix))
        for suffix in suffixes
    }
    return struct(
        dispatch = dispatch,
        module = files["mlir"],
        executable = files["executable.mlir"],
        check = struct(module = files["check.mlir"], spec = files["check.json"]) if step.checked else None,
        files = files.values(),
    )

def _substitute_model(ctx, original, substitution, executables):
    """Adds the action that puts executables into the whole program. Returns the program."""
    tools = original.tools
    title = _folder(original, substitution)
    configured = ctx.actions.declare_file(title + "/configured.mlir")
    args = ctx.actions.args()
    args.add("substitute-model")
    args.add(original.configured)
    args.add("--index", original.index)
    args.add("--output", configured)
    args.add_all(executables)
    ctx.actions.run(
        executable = tools.dispatchgen,
        arguments = [args],
        inputs = depset([original.configured, original.index] + executables, transitive = [tools.dispatchgen_files]),
        outputs = [configured],
        tools = [tools.dispatchgen],
        env = {},
        mnemonic = "IreeDispatchSubstituteModel",
        progress_message = "Substituting in the program of %s" % title,
    )
    return configured

def _extract_info(original, substitution, configured, objects, modules = {}, checks = {}):
    """What is compiled of a substitution or combination: as that of the suite, with less."""
    compiled = dict(modules)
    compiled.update({dispatch + ".check": check.module for dispatch, check in checks.items()})
    linked = [flag for flag in original.compile_flags if "llvm-cpu" in flag] and objects
    return IreeDispatchExtractInfo(
        archives = original.archives,
        backend = original.backend,
        call_inputs = original.call_inputs,
        calls = original.calls,
        checks = {dispatch + ".check": check.spec for dispatch, check in checks.items()},
        compile_flags = original.compile_flags + ([_SEARCH_PATH] if linked else []),
        compile_inputs = objects if linked else [],
        configured = configured,
        drift = original.drift,
        flag_files = original.flag_files,
        index = original.index,
        model = original.model,
        modules = compiled,
        src = original.src,
        substitution = substitution,
        tools = original.tools,
    )

iree_dispatch_substitution = rule(
    implementation = _substitution_impl,
    doc = """Writes the benchmark modules of dispatches with a substitute in each, and the whole program with all of them.

`<model>/<backend>/substitutions/<substitution>/` is laid out like `<model>/<backend>/`: `dispatches/<dispatch>.mlir`, and
`configured.mlir`. Before anything is compiled, each substitute is checked against what it replaces.
""",
    attrs = {
        "command": attr.string_list(
            doc = "What makes the object of a file of the kind `kernel`: the program, a file of the package or found on " +
                  "the PATH of actions, and its arguments, in which `{source}` and `{output}` are the files.",
        ),
        "extract": attr.label(
            doc = "The iree_dispatch_extract target.",
            mandatory = True,
            providers = [IreeDispatchExtractInfo],
        ),
        "flags": attr.string_list(
            doc = "Flags of `dispatchgen substitute`. With `--tolerance=` there are modules that compare outputs.",
        ),
        "inputs": attr.label_list(
            doc = "Files of the package that `command` reads besides, its program among them.",
            allow_files = True,
        ),
        "object_suffix": attr.string(
            doc = "How the names of objects end that `command` makes: `o`, `spv`, `ptx` or `hsaco`.",
        ),
        "srcs": attr.label_list(
            doc = "The files that `substitutes` names.",
            allow_files = True,
            mandatory = True,
        ),
        "substitutes": attr.string_list(
            doc = "`<dispatch>=<kind>=<path in the package>`; kinds are source, configuration, object, kernel, tuning_spec.",
            mandatory = True,
        ),
        "substitution": attr.string(
            doc = "Id of the substitution.",
            mandatory = True,
        ),
        "_make_object": MAKE_OBJECT_ATTR,
    },
    provides = [IreeDispatchExtractInfo, IreeDispatchSubstitutionInfo],
)

iree_dispatch_combination = rule(
    implementation = _combination_impl,
    doc = "Writes the whole program with several substitutions, `<model>/<backend>/substitutions/<combination>/configured.mlir`.",
    attrs = {
        "combination": attr.string(
            doc = "Id of the combination.",
            mandatory = True,
        ),
        "substitutions": attr.label_list(
            doc = "The iree_dispatch_substitution targets, of one suite.",
            mandatory = True,
            providers = [IreeDispatchSubstitutionInfo],
        ),
    },
    provides = [IreeDispatchExtractInfo],
)
