# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The macro for what the suites of a manifest share."""

load(":check.bzl", "check_attributes", "check_ids", "check_nightly", "fail_with", "is_inside", "repeated")
load(":groups.bzl", "create_filegroup", "create_test_suite")
load(":nightly.bzl", "iree_dispatch_baseline", "iree_dispatch_nightly_test")
load(":suite_tests.bzl", "TIMED_TAGS")
load(":update.bzl", "iree_dispatch_stale_test", "iree_dispatch_update")

# What `dispatchgen generate --bazel` names the target of all suites.
SETUP_NAME = "iree-dispatch-benchmarks"

# What `dispatchgen generate` writes.
_BUILD_FILES = ["BUILD", "BUILD.bazel", "CMakeLists.txt", "iree_runtime_plugin.cmake"]

def iree_dispatch_benchmark_setup(
        name,
        manifest = "",
        models = {},
        packages = [],
        presets = {},
        nightly = [],
        baselines = [],
        tools = None,
        **kwargs):
    """Creates the targets that stand for several suites, all tagged `manual`.

      NAME                   the modules of all suites
      NAME-<model>           the model on all its backends
      NAME-preset-<preset>   all suites that the preset selects
      NAME.update            to be run: renews the lock files and build files
      NAME.test              test that fails where lock files or build files are stale

    Each of the first three has test suites beside it, `.smoke`, `.benchmarks` (timed) and `.drift`. Presets that are measured
    as a whole, in `nightly`, have these targets besides:

      NAME-preset-<preset>.nightly          test: measures it, compares it with its baseline and reports
      NAME-preset-<preset>.baseline_check   to be run: compares what was measured last with the baseline
      NAME-preset-<preset>.baseline_save    to be run: makes it the baseline, in the source tree
      NAME-preset-<preset>.baseline_update  to be run: takes into the baseline what is new or faster

    Args:
      name: Prefix of the names, `iree-dispatch-benchmarks`.
      manifest: The manifest that the suites come from.
      models: Id of each model -> names of its suites.
      packages: Python packages that sources of the form `package:<package>/<path>` lie in.
      presets: Id of each preset -> names of the suites that it selects.
      nightly: Ids of the presets that are measured as a whole, by `dispatchgen nightly`.
      baselines: `<preset>=<baseline>` of those that are compared with a baseline.
      tools: An iree_dispatch_tools target. Default: that of the flag `--@dispatchgen//:tools`.
      **kwargs: Attributes of all targets, such as `visibility` and `testonly`.
    """
    suites = [suite for model in models for suite in models[model]]
    problems = [] if manifest else ["manifest is missing"]
    if manifest and not is_inside(manifest):
        problems.append("manifest '%s' is not a path inside the package: relative, without '.' and '..'" % manifest)
    problems += check_ids(models.keys() + presets.keys())
    problems += check_ids([part for package in packages for part in package.split(".")])
    problems += ["the suite '%s' is listed twice" % suite for suite in repeated(suites)]
    for preset in presets:
        problems += [
            "preset %s: no model has a suite '%s'" % (preset, suite)
            for suite in presets[preset]
            if suite not in suites
        ]
    problems += check_nightly(presets, nightly, baselines)
    problems += check_attributes(kwargs)
    if native.existing_rule(name):
        problems.append("there is another target of this name in the package")
    fail_with("iree_dispatch_benchmark_setup", name, problems)

    _create_update(name, manifest, suites, {"tools": tools} if tools else {}, kwargs)
    _create_aggregate(name, suites, kwargs)
    for model in models:
        _create_aggregate("%s-%s" % (name, model), models[model], kwargs)
    for preset in presets:
        _create_aggregate("%s-preset-%s" % (name, preset), presets[preset], kwargs)
    for preset in nightly:
        names = [text.partition("=")[2] for text in baselines if text.partition("=")[0] == preset]
        baseline = names[0] if names else ""
        _create_nightly(name, manifest, suites, struct(id = preset, suites = presets[preset], baseline = baseline), kwargs)

def _create_update(name, manifest, suites, tools, attributes):
    common = dict(
        attributes,
        manifest = ":" + manifest,
        sources = [":%s.sources" % suite for suite in suites],
        tags = ["manual"],
        **tools
    )
    iree_dispatch_update(
        name = name + ".update",
        **common
    )
    iree_dispatch_stale_test(
        name = name + ".test",
        timeout = "short",
        build_files = native.glob(_BUILD_FILES, allow_empty = True),
        update = ":%s.update" % name,
        **common
    )

def _create_aggregate(name, suites, attributes):
    create_filegroup(name, [":" + suite for suite in suites], attributes)
    for tests in ["smoke", "benchmarks", "drift"]:
        create_test_suite("%s.%s" % (name, tests), [":%s.%s" % (suite, tests) for suite in suites], attributes)

def _create_nightly(name, manifest, suites, preset, attributes):
    """The targets of a preset, struct(id, suites, baseline), that is measured as a whole."""
    target = "%s-preset-%s" % (name, preset.id)
    iree_dispatch_nightly_test(
        name = target + ".nightly",
        # The longest that there is; a budget above it needs --test_timeout.
        timeout = "eternal",
        baselines = native.glob(["baselines/%s/*.json" % preset.baseline], allow_empty = True) if preset.baseline else [],
        built = [":%s.built" % suite for suite in preset.suites],
        extracts = [":%s.dispatches" % suite for suite in preset.suites],
        manifest = ":" + manifest,
        preset = preset.id,
        sources = [":%s.sources" % suite for suite in suites],
        tags = ["manual", "test-type=nightly", "nightly=" + preset.id] + TIMED_TAGS,
        save = _label(target + ".baseline_save") if preset.baseline else "",
        update = _label(name + ".update"),
        **attributes
    )
    if preset.baseline:
        for command in ["check", "save", "update"]:
            iree_dispatch_baseline(
                name = "%s.baseline_%s" % (target, command),
                baseline = preset.baseline,
                command = command,
                manifest = ":" + manifest,
                nightly = ":%s.nightly" % target,
                preset = preset.id,
                tags = ["manual"],
                **dict(attributes, testonly = True)  # as the test is
            )

def _label(name):
    """How the command line names a target of the package."""
    return "//%s:%s" % (native.package_name(), name)
