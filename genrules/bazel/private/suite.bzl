# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The macro that benchmarks a model on a backend."""

load(":check.bzl", "check_attributes", "check_suite", "fail_with")
load(":extract.bzl", "iree_dispatch_extract")
load(":groups.bzl", "create_filegroup", "create_test_suite")
load(":import.bzl", "iree_dispatch_import")
load(":module.bzl", "iree_dispatch_module")
load(":setup.bzl", "SETUP_NAME")
load(":substitution_check.bzl", "check_substitutions")
load(":substitution_suite.bzl", "create_substitutions", "substitution_files")
load(":suite_tests.bzl", "create_device_tests", "parameter_files", "suite_labels")
load(":tests.bzl", "iree_dispatch_drift_test")

def iree_dispatch_benchmark_suite(
        name,
        model = "",
        backend = "",
        src = "",
        lock = "",
        import_flags = [],
        compile_flags = [],
        inputs = [],
        data = [],
        dispatches = [],
        archives = [],
        calls = [],
        call_inputs = [],
        substitutes = [],
        object_commands = [],
        object_suffix = "",
        substitute_inputs = [],
        substitute_flags = [],
        combinations = [],
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
      NAME.<device>.substitutions.<substitution>.<dispatch>[.smoke], NAME.<device>.substitutions.<substitution>.model.<call>[.smoke]
                                         the same of the modules of a substitution, and of the whole model with a combination
      NAME.<device>.substitutions.<substitution>.<dispatch>.check
                                         whether the substitute writes what the dispatch writes, where that is checked
      NAME.drift                         test that prints how the dispatches differ from the lock's, if that is allowed
      NAME.dispatches                    the benchmark modules, not compiled
      NAME.<dispatch>, NAME.model        one module; of the whole model where there are calls of it
      NAME.substitutions.<substitution>  all modules of a substitution or combination
      NAME.substitutions.<substitution>.<dispatch>, NAME.substitutions.<substitution>.model
                                         one module
      NAME.sources                       the files that the suite reads: program, lock, parameters, data, substitutes
      NAME.built                         all that is built of the suite, for programs that measure it as a whole
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
      inputs: Files that `compile_flags` name, as `--<flag>=<file>`.
      data: Files that the contents of buffers are taken from, which extraction reads.
      dispatches: Names of all dispatches that the lock lists for this backend.
      archives: Names of those whose data lie beside the benchmark module.
      calls: Names of all calls of the whole model that the lock lists.
      call_inputs: Names of the files with inputs of these calls.
      substitutes: `<substitution>=<dispatch>=<kind>=<file>` of each dispatch that a substitution replaces. Kinds are `source`,
        `configuration`, `object`, `kernel` (what a command makes an object of) and `tuning_spec`.
      object_commands: `<substitution>=<argument>` of the command that makes the object of a kernel, the program first;
        `{source}` and `{output}` in them are the files.
      object_suffix: How the names of these objects end.
      substitute_inputs: `<substitution>=<file>` that the command reads besides.
      substitute_flags: `<substitution>=<flag>` of `dispatchgen substitute`.
      combinations: `<combination>=<substitution>` of each substitution that is in the combination's whole program.
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
        inputs = inputs,
        data = data,
        dispatches = dispatches,
        archives = archives,
        calls = calls,
        call_inputs = call_inputs,
        substitutes = substitutes,
        object_commands = object_commands,
        object_suffix = object_suffix,
        substitute_inputs = substitute_inputs,
        substitute_flags = substitute_flags,
        combinations = combinations,
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
    problems = check_suite(suite) + check_substitutions(suite) + check_attributes(kwargs)
    if native.existing_rule(name + ".dispatches"):
        problems.append("there is another suite of this name in the package")
    imported = native.existing_rule(model + ".imported")
    if imported and (imported.get("src_as_written") != src or list(imported.get("import_flags", ())) != import_flags):
        problems.append("src and import_flags differ from those of another suite of model " + model)
    fail_with("iree_dispatch_benchmark_suite", name, problems)

    substitutions = create_substitutions(name, suite)
    _create_modules(suite, substitutions)
    tests = [create_device_tests(name, suite, device, substitutions) for device in devices]
    create_test_suite(name + ".smoke", [test for of_device in tests for test in of_device.smoke], kwargs)
    create_test_suite(name + ".benchmarks", [test for of_device in tests for test in of_device.timed], kwargs)
    files = {file: None for file in parameter_files(suite) + substitution_files(suite) + _labels(suite.data)}
    create_filegroup(name + ".sources", [_source(src), ":" + lock] + sorted(files), kwargs)
    extracted = [":%s.dispatches" % name] + [substitution.label + ".dispatches" for substitution in substitutions]
    create_filegroup(name + ".built", [":" + name] + extracted, kwargs)

def _create_modules(suite, substitutions):
    """The steps from the program to the compiled modules."""
    update = SETUP_NAME + ".update"
    iree_dispatch_extract(
        name = suite.name + ".dispatches",
        src = _program(suite),
        archives = suite.archives,
        backend = suite.backend,
        call_inputs = suite.call_inputs,
        calls = suite.calls,
        compile_flags = suite.compile_flags,
        data = _labels(suite.data),
        dispatches = suite.dispatches,
        inputs = _labels(suite.inputs),
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
        tags = suite.tags + ["test-type=drift"] + suite_labels(suite),
        timeout = "short",
        **suite.attributes
    )
    programs = ["model"] if suite.calls else []  # nothing runs the whole model otherwise
    for dispatch in suite.dispatches + ([""] if programs else []):
        iree_dispatch_module(
            name = "%s.%s" % (suite.name, dispatch or "model"),
            dispatch = dispatch,
            extract = ":%s.dispatches" % suite.name,
            tags = suite.tags,
            **suite.attributes
        )
    modules = [":%s.%s" % (suite.name, module) for module in suite.dispatches + programs]
    modules += [substitution.label for substitution in substitutions]
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

def _labels(paths):
    """The labels of files of the package."""
    return [":" + path for path in paths]

def _source(src):
    """The label of a file of the package or of a Python package."""
    if src.startswith("package:"):
        # Laid out as Python looks for it: a folder for each part of a dotted name.
        package, _, path = src[len("package:"):].partition("/")
        return Label("@iree_tools//:packages/%s/%s" % (package.replace(".", "/"), path))
    return ":" + src
