# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The tests that the macro creates."""

load(":check.bzl", "parameter_path")
load(":tests.bzl", "iree_dispatch_benchmark_test", "iree_dispatch_check_test", "iree_dispatch_smoke_test")

# Smoke tests may be answered from any cache, but run where the device is.
_SMOKE_TAGS = ["no-remote-exec"]

# Timed tests run each time they are asked for (external, no-cache), on this machine (no-remote), one at a time.
TIMED_TAGS = ["exclusive", "external", "no-cache", "no-remote"]

# Seconds of Bazel's categories of timeouts but the longest.
_TIMEOUTS = [("short", 60), ("moderate", 300), ("long", 900)]

def create_device_tests(name, suite, device, substitutions):
    """Creates the tests on a device.

    Args:
      name: Prefix of the names, that of the suite.
      suite: struct of the macro's arguments.
      device: string, `<id>=<uri>`.
      substitutions: list of structs, those and the combinations of create_substitutions().

    Returns:
      struct(smoke, timed): lists of labels.
    """
    id, _, uri = device.partition("=")
    tests = struct(smoke = [], timed = [])
    on_device = struct(
        prefix = "%s.%s." % (name, id),
        suite = suite,
        id = id,
        attributes = dict(
            suite.attributes,
            device = uri,
            run_flags = _of_device(id, suite.run_flags),
            timeout = _timeout_category(suite.timeout),
        ),
        tags = suite.tags + ["driver=" + uri.partition("://")[0], "device=" + id] + suite_labels(suite) +
               _of_device(id, suite.device_labels),
    )
    _create_module_tests(tests, on_device, "", suite.dispatches, [])
    for substitution in substitutions:
        infix = "substitutions.%s." % substitution.id
        tags = ["substitution=" + substitution.id]
        _create_module_tests(tests, on_device, infix, substitution.dispatches, tags)
        for dispatch in substitution.checked:
            module = infix + dispatch + ".check"
            iree_dispatch_check_test(
                name = on_device.prefix + module,
                module = ":%s.%s" % (suite.name, module),
                tags = on_device.tags + tags + ["test-type=substitution-check"] + _SMOKE_TAGS,
                **on_device.attributes
            )
            tests.smoke.append(":" + on_device.prefix + module)
    return tests

def _create_module_tests(tests, on_device, infix, dispatches, tags):
    """Creates the tests of dispatches and calls. `infix`: of the modules' names, for a substitution."""
    suite = on_device.suite
    for dispatch in dispatches:
        attributes = {"module": ":%s.%s%s" % (suite.name, infix, dispatch)}
        _create_tests(tests, on_device, infix + dispatch, "dispatch", tags, attributes, suite.batch_size)
    for call in suite.calls:
        attributes = {
            "call": call,
            "module": ":%s.%smodel" % (suite.name, infix),
            "parameter_files": parameter_files(suite),
            "parameters": suite.parameters,
        }
        _create_tests(tests, on_device, "%smodel.%s" % (infix, call), "model", tags, attributes, 1)

def _create_tests(tests, on_device, name, kind, tags, attributes, batch_size):
    suite = on_device.suite
    name = on_device.prefix + name
    tags = on_device.tags + tags
    common = dict(
        on_device.attributes,
        device_id = on_device.id,
        **attributes
    )
    iree_dispatch_smoke_test(
        name = name + ".smoke",
        tags = tags + ["test-type=%s-smoke" % kind] + _SMOKE_TAGS,
        **common
    )
    iree_dispatch_benchmark_test(
        name = name,
        batch_size = batch_size,
        min_time = suite.min_time,
        repetitions = suite.repetitions,
        tags = tags + ["test-type=%s-benchmark" % kind] + TIMED_TAGS,
        **common
    )
    tests.smoke.append(":%s.smoke" % name)
    tests.timed.append(":" + name)

def parameter_files(suite):
    """The labels of the parameter archives.

    Args:
      suite: struct of the macro's arguments.

    Returns:
      list of strings.
    """
    files = {":" + parameter_path(parameter): None for parameter in suite.parameters}
    return sorted(files)

def suite_labels(suite):
    """The tags of all tests.

    Args:
      suite: struct of the macro's arguments.

    Returns:
      list of strings.
    """
    presets = ["preset=" + preset for preset in suite.presets]
    return ["model=" + suite.model, "backend=" + suite.backend] + presets + suite.labels

def _of_device(id, elements):
    """Those of a list of `<id>=<value>` that are of the device, without the prefix."""
    return [element.partition("=")[2] for element in elements if element.partition("=")[0] == id]

def _timeout_category(seconds):
    if seconds == None:
        return "long"
    for category, limit in _TIMEOUTS:
        if seconds <= limit:
            return category
    return "eternal"
