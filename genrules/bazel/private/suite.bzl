# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The macro that benchmarks a model on a backend."""

load(":check.bzl", "check_attributes", "check_suite", "fail_with", "parameter_path")
load(":extract.bzl", "iree_dispatch_extract")
load(":groups.bzl", "create_filegroup", "create_test_suite")
load(":import.bzl", "iree_dispatch_import")
load(":module.bzl", "iree_dispatch_module")
load(":setup.bzl", "SETUP_NAME")
load(":tests.bzl", "iree_dispatch_benchmark_test", "iree_dispatch_drift_test", "iree_dispatch_smoke_test")

# Smoke tests may be answered from any cache, but run where the device is.
_SMOKE_TAGS = ["no-remote-exec"]

# Timed tests run each time they are asked for (external, no-cache), on this machine (no-remote), one at a time.
_TIMED_TAGS = ["exclusive", "external", "no-cache", "no-remote"]

# Seconds of Bazel's categories of timeouts but the longest.
_TIMEOUTS = [("short", 60), ("moderate", 300), ("long", 900)]

def iree_dispatch_benchmark_suite(
        name,
        model = "",
        backend = "",
        src = "",
        lock = "",
        import_flags = [],
        compile_flags = [],
        dispatches = [],
        calls = [],
        parameters = [],
        devices = [],
        run_flags = [],
        device_labels = [],
        labels = [],
        presets = [],
        min_time = "",
        repetitions = 1,
        batch_size = 1,
        timeout = None,
        drift = "",
        tools = None,
        tags = [],
        **kwargs):
    """Creates the targets and tests that benchmark the dispatches of one model on one backend.

    All of them are tagged `manual`: nothing joins `//...`.

      NAME                               all modules: of each dispatch, and of the whole model
      NAME.smoke                         all smoke tests
      NAME.benchmarks                    all timed tests
      NAME.<device>.<dispatch>.smoke     the benchmarks of a dispatch, each once
      NAME.<device>.<dispatch>           the same, timed
      NAME.<device>.model.<call>.smoke   the whole model, once
      NAME.<device>.model.<call>         the same, timed
      NAME.drift                         test that prints how the dispatches differ from the lock's, if that is allowed
      NAME.dispatches                    the benchmark modules, not compiled
      NAME.<dispatch>, NAME.model        one module
      NAME.sources                       the files that the suite reads: program, lock, parameters
      <model>.imported                   the imported program, for .onnx sources

    Args:
      name: Name of the suite, `<model>_<backend>`.
      model: Id of the model, `[A-Za-z0-9_]+`.
      backend: Id of the backend, `[A-Za-z0-9_]+`.
      src: The model's program: a `.mlir`, `.mlirbc` or `.onnx` file of the package, or `package:<package>/<path>` for a
        file that an installed Python package ships.
      lock: The model's lock file.
      import_flags: Flags of the importer, for `.onnx` sources.
      compile_flags: All flags of iree-compile but input, output and phase.
      dispatches: Names of all dispatches that the lock lists for this backend.
      calls: Names of all calls of the whole model that the lock lists.
      parameters: `[scope=]path` of parameter archives, for the whole model.
      devices: `<id>=<uri>` of each device to run on. None: the benchmarks are compiled, and nothing is run.
      run_flags: `<id>=<flag>` of iree-benchmark-module on that device.
      device_labels: `<id>=<tag>` of the tests on that device.
      labels: Tags of all tests.
      presets: Ids of the presets that select the suite.
      min_time: `--benchmark_min_time=` of the timed tests. Default: the benchmark library's own.
      repetitions: `--benchmark_repetitions=` of the timed tests.
      batch_size: `--batch_size=` of the timed tests of dispatches.
      timeout: Seconds that a test may take; it gets the shortest of Bazel's timeouts that allows them. Default: `long`.
      drift: `allow` or `error`: what the build does where the dispatches are not those that the lock lists. Default:
        `error`. The flag `--@dispatchgen//:drift` overrides it.
      tools: An iree_dispatch_tools target. Default: that of the flag `--@dispatchgen//:tools`.
      tags: Tags of all targets with actions.
      **kwargs: Attributes of all targets, such as `visibility` and `testonly`.
    """
    suite = struct(
        name = name,
        model = model,
        backend = backend,
        src = src,
        lock = lock,
        import_flags = import_flags,
        compile_flags = compile_flags,
        dispatches = dispatches,
        calls = calls,
        parameters = parameters,
        devices = devices,
        run_flags = run_flags,
        device_labels = device_labels,
        labels = labels,
        presets = presets,
        min_time = min_time,
        repetitions = repetitions,
        batch_size = batch_size,
        timeout = timeout,
        drift = drift,
        # The attribute of the targets that start from files, where it has a value.
        tools = {"tools": tools} if tools else {},
        tags = ["manual"] + tags,
        attributes = kwargs,
    )
    problems = check_suite(suite) + check_attributes(kwargs)
    if native.existing_rule(name + ".dispatches"):
        problems.append("there is another suite of this name in the package")
    imported = native.existing_rule(model + ".imported")
    if imported and (imported.get("src_as_written") != src or list(imported.get("import_flags", ())) != import_flags):
        problems.append("src and import_flags differ from those of another suite of model " + model)
    fail_with("iree_dispatch_benchmark_suite", name, problems)

    _create_modules(suite)
    smoke_tests = []
    timed_tests = []
    for device in devices:
        smoke, timed = _create_device_tests(suite, device)
        smoke_tests += smoke
        timed_tests += timed
    create_test_suite(name + ".smoke", smoke_tests, kwargs)
    create_test_suite(name + ".benchmarks", timed_tests, kwargs)
    create_filegroup(name + ".sources", [_source(src), ":" + lock] + _parameter_files(suite), kwargs)

def _create_modules(suite):
    """The steps from the program to the compiled modules."""
    update = SETUP_NAME + ".update"
    iree_dispatch_extract(
        name = suite.name + ".dispatches",
        src = _program(suite),
        backend = suite.backend,
        calls = suite.calls,
        compile_flags = suite.compile_flags,
        dispatches = suite.dispatches,
        drift = suite.drift or "error",
        lock = ":" + suite.lock,
        model = suite.model,
        tags = suite.tags,
        update = update if native.existing_rule(update) else "",
        **dict(suite.attributes, **suite.tools)
    )
    iree_dispatch_drift_test(
        name = suite.name + ".drift",
        extract = ":%s.dispatches" % suite.name,
        tags = suite.tags + ["test-type=drift"] + _labels(suite),
        timeout = "short",
        **suite.attributes
    )
    for dispatch in suite.dispatches + [""]:
        iree_dispatch_module(
            name = "%s.%s" % (suite.name, dispatch or "model"),
            dispatch = dispatch,
            extract = ":%s.dispatches" % suite.name,
            tags = suite.tags,
            **suite.attributes
        )
    modules = [":%s.%s" % (suite.name, module) for module in suite.dispatches + ["model"]]
    create_filegroup(suite.name, modules, suite.attributes)

def _program(suite):
    """The label of the program to compile; that of an .onnx source is imported, once for all backends of the model."""
    if not suite.src.endswith(".onnx"):
        return _source(suite.src)
    name = suite.model + ".imported"
    if not native.existing_rule(name):
        iree_dispatch_import(
            name = name,
            src = _source(suite.src),
            import_flags = suite.import_flags,
            model = suite.model,
            src_as_written = suite.src,
            tags = suite.tags,
            **dict(suite.attributes, **suite.tools)
        )
    return ":" + name

def _source(src):
    """The label of a file of the package or of a Python package."""
    if src.startswith("package:"):
        # Laid out as Python looks for it: a folder for each part of a dotted name.
        package, _, path = src[len("package:"):].partition("/")
        return Label("@iree_tools//:packages/%s/%s" % (package.replace(".", "/"), path))
    return ":" + src

def _parameter_files(suite):
    files = {":" + parameter_path(parameter): None for parameter in suite.parameters}
    return sorted(files)

def _create_device_tests(suite, device):
    """The tests on a device, `<id>=<uri>`. Returns the labels of the smoke tests and of the timed ones."""
    id, _, uri = device.partition("=")
    common = dict(
        suite.attributes,
        device = uri,
        device_id = id,
        run_flags = _of_device(id, suite.run_flags),
        timeout = _timeout_category(suite.timeout),
    )
    tags = suite.tags + ["driver=" + uri.partition("://")[0], "device=" + id] + _labels(suite)
    tags += _of_device(id, suite.device_labels)
    smoke_tests = []
    timed_tests = []
    for dispatch in suite.dispatches:
        name = "%s.%s.%s" % (suite.name, id, dispatch)
        attributes = dict(common, module = ":%s.%s" % (suite.name, dispatch))
        _create_tests(suite, name, "dispatch", tags, attributes, suite.batch_size)
        smoke_tests.append(":%s.smoke" % name)
        timed_tests.append(":" + name)
    for call in suite.calls:
        name = "%s.%s.model.%s" % (suite.name, id, call)
        attributes = dict(
            common,
            call = call,
            module = ":%s.model" % suite.name,
            parameter_files = _parameter_files(suite),
            parameters = suite.parameters,
        )
        _create_tests(suite, name, "model", tags, attributes, 1)
        smoke_tests.append(":%s.smoke" % name)
        timed_tests.append(":" + name)
    return smoke_tests, timed_tests

def _create_tests(suite, name, kind, tags, attributes, batch_size):
    iree_dispatch_smoke_test(
        name = name + ".smoke",
        tags = tags + ["test-type=%s-smoke" % kind] + _SMOKE_TAGS,
        **attributes
    )
    iree_dispatch_benchmark_test(
        name = name,
        batch_size = batch_size,
        min_time = suite.min_time,
        repetitions = suite.repetitions,
        tags = tags + ["test-type=%s-benchmark" % kind] + _TIMED_TAGS,
        **attributes
    )

def _labels(suite):
    """The tags of all tests."""
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
