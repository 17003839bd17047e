"""The macros of the Bazel rules: which targets they create, and what they refuse."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bazel_macros import MacroError, Package

SUITE = "iree_dispatch_benchmark_suite"
SETUP = "iree_dispatch_benchmark_setup"

#: What every suite needs.
MLP: dict[str, Any] = {
    "name": "mlp_cpu",
    "model": "mlp",
    "backend": "cpu",
    "src": "models/mlp.mlir",
    "lock": "locks/mlp.json",
    "compile_flags": ["--iree-hal-target-device=local"],
}
OUTSIDE = "is not a path inside the package: relative, without '.' and '..'"
WHOLE: dict[str, Any] = {
    **MLP,
    "dispatches": ["matmul", "softmax"],
    "calls": ["B1"],
    "devices": ["host=local-task", "gpu.1=cuda://1"],
}


@pytest.fixture
def package() -> Package:
    return Package()


def refusal(package: Package, macro: str, **arguments: object) -> list[str]:
    """The lines of what a call ends with, without the first."""
    with pytest.raises(MacroError) as caught:
        package.call(macro, **arguments)
    first, *lines = str(caught.value).split("\n  ")
    assert first == f"{macro}({arguments['name']}):"
    return lines


def test_the_targets_of_a_suite(package: Package) -> None:
    package.call(SUITE, **WHOLE)
    tests = [f"mlp_cpu.{device}.{what}" for device in ("host", "gpu.1") for what in ("matmul", "softmax", "model.B1")]
    assert package.of_kind("iree_dispatch_extract") == ["mlp_cpu.dispatches"]
    assert package.of_kind("iree_dispatch_drift_test") == ["mlp_cpu.drift"]
    assert package.of_kind("iree_dispatch_module") == ["mlp_cpu.matmul", "mlp_cpu.softmax", "mlp_cpu.model"]
    assert package.of_kind("iree_dispatch_smoke_test") == [f"{test}.smoke" for test in tests]
    assert package.of_kind("iree_dispatch_benchmark_test") == tests
    assert package.of_kind("filegroup") == ["mlp_cpu", "mlp_cpu.sources", "mlp_cpu.built"]
    assert package.of_kind("test_suite") == ["mlp_cpu.smoke", "mlp_cpu.benchmarks"]
    assert len(package.targets) == 22


def test_groups_hold_what_they_say(package: Package) -> None:
    package.call(SUITE, **{**WHOLE, "parameters": ["w=a.irpa", "b.irpa", "v=a.irpa"], "data": ["c.npy"]})
    smoke, timed = (
        [":" + name for name in package.of_kind(f"iree_dispatch_{kind}_test")] for kind in ("smoke", "benchmark")
    )
    assert package.targets["mlp_cpu.smoke"].attributes["tests"] == smoke
    assert package.targets["mlp_cpu.benchmarks"].attributes["tests"] == timed
    modules = [":mlp_cpu.matmul", ":mlp_cpu.softmax", ":mlp_cpu.model"]
    assert package.targets["mlp_cpu"].attributes["srcs"] == modules
    sources = [":models/mlp.mlir", ":locks/mlp.json", ":a.irpa", ":b.irpa", ":c.npy"]
    assert package.targets["mlp_cpu.sources"].attributes["srcs"] == sources


def test_presets_that_are_measured_as_a_whole(package: Package) -> None:
    presets = {"night": ["mlp_cpu"], "fast": ["mlp_cpu"], "cpu": ["mlp_cpu"]}
    setup = {"manifest": "benchmarks.yaml", "models": {"mlp": ["mlp_cpu"]}, "presets": presets}
    package.call(SETUP, name="all", **setup, nightly=["fast", "night"], baselines=["night=main"])
    package.call(SUITE, **WHOLE)
    tests, saved = ["all-preset-fast.nightly", "all-preset-night.nightly"], "all-preset-night.baseline_save"
    assert package.of_kind("iree_dispatch_nightly_test") == tests
    assert package.of_kind("iree_dispatch_baseline") == [
        "all-preset-night.baseline_check",
        "all-preset-night.baseline_save",
        "all-preset-night.baseline_update",
    ]
    attributes = package.targets[tests[1]].attributes
    assert (attributes["preset"], attributes["timeout"], attributes["built"]) == (
        "night",
        "eternal",
        [":mlp_cpu.built"],
    )
    assert attributes["extracts"] == [":mlp_cpu.dispatches"]
    assert (attributes["update"], attributes["save"]) == ("//suites/mlp:all.update", f"//suites/mlp:{saved}")
    tags = {"manual", "exclusive", "external", "no-cache", "no-remote", "test-type=nightly", "nightly=night"}
    assert package.tags(tests[1]) == tags
    assert package.targets["mlp_cpu.built"].attributes["srcs"] == [":mlp_cpu", ":mlp_cpu.dispatches"]


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({"nightly": ["x"]}, ["nightly names 'x', which is not among presets"]),
        ({"nightly": ["p", "p"]}, ["nightly names 'p' twice"]),
        ({"baselines": ["p=main"]}, ["baselines names 'p', which is not among nightly"]),
        ({"nightly": ["p"], "baselines": ["p=a", "p=b"]}, ["two baselines of the preset 'p'"]),
        (
            {"nightly": ["p"], "baselines": ["p", "p=.x", "p=a/b"]},
            [f"baselines: '{text}' is not of the form <preset>=<baseline>" for text in ("p", "p=.x", "p=a/b")]
            + ["two baselines of the preset 'p'"],
        ),
    ],
)
def test_presets_that_cannot_be_measured_as_a_whole(
    package: Package, arguments: dict[str, Any], problems: list[str]
) -> None:
    setup = {"name": "all", "manifest": "benchmarks.yaml", "models": {"m": ["s"]}, "presets": {"p": ["s"]}}
    assert refusal(package, SETUP, **setup, **arguments) == problems


def test_nothing_joins_a_wildcard(package: Package) -> None:
    package.call(SETUP, name="all", manifest="benchmarks.yaml", models={"mlp": ["mlp_cpu"]}, presets={"none": []})
    package.call(SUITE, **{**WHOLE, "src": "mlp.onnx"})
    assert [name for name in package.targets if "manual" not in package.tags(name)] == []


def test_the_steps_get_what_the_suite_says(package: Package) -> None:
    data = {"data": ["data/ids.npy"], "archives": ["matmul"], "call_inputs": ["B1.0.npy"]}
    package.call(SUITE, **{**WHOLE, **data, "drift": "allow", "tools": "//tools:mine"})
    assert package.targets["mlp_cpu.dispatches"].attributes == {
        "name": "mlp_cpu.dispatches",
        "src": ":models/mlp.mlir",
        "archives": ["matmul"],
        "backend": "cpu",
        "call_inputs": ["B1.0.npy"],
        "calls": ["B1"],
        "compile_flags": ["--iree-hal-target-device=local"],
        "data": [":data/ids.npy"],
        "dispatches": ["matmul", "softmax"],
        "drift": "allow",
        "inputs": [],
        "lock": ":locks/mlp.json",
        "model": "mlp",
        "tags": ["manual"],
        "tools": "//tools:mine",
        "update": "",
    }
    matmul = package.targets["mlp_cpu.matmul"].attributes
    assert (matmul["extract"], matmul["dispatch"]) == (":mlp_cpu.dispatches", "matmul")
    assert package.targets["mlp_cpu.model"].attributes["dispatch"] == ""


def test_without_calls_there_is_no_whole_model(package: Package) -> None:
    package.call(SUITE, **{**WHOLE, "calls": []})
    assert package.of_kind("iree_dispatch_module") == ["mlp_cpu.matmul", "mlp_cpu.softmax"]
    assert package.targets["mlp_cpu"].attributes["srcs"] == [":mlp_cpu.matmul", ":mlp_cpu.softmax"]
    assert [test for test in package.of_kind("iree_dispatch_smoke_test") if "model" in test] == []


def test_drift_is_an_error_unless_allowed(package: Package) -> None:
    package.call(SUITE, **MLP)
    assert package.targets["mlp_cpu.dispatches"].attributes["drift"] == "error"
    assert "tools" not in package.targets["mlp_cpu.dispatches"].attributes


def test_messages_name_the_target_that_renews_where_there_is_one(package: Package) -> None:
    setup = {"name": "iree-dispatch-benchmarks", "manifest": "benchmarks.yaml", "models": {"mlp": ["mlp_cpu"]}}
    package.call(SETUP, **setup)
    package.call(SUITE, **MLP)
    update = package.targets["mlp_cpu.dispatches"].attributes["update"]
    assert package.targets[update].kind == "iree_dispatch_update"


def test_tags_say_what_a_test_is_and_how_it_may_run(package: Package) -> None:
    labels = {"labels": ["large", "a b"], "device_labels": ["gpu.1=requires-gpu-nvidia", "host=host=only"]}
    package.call(SUITE, **{**WHOLE, **labels, "presets": ["nightly", "weekly"], "tags": ["mine"]})
    common = {"manual", "mine", "model=mlp", "backend=cpu", "preset=nightly", "preset=weekly", "large", "a b"}
    host = common | {"driver=local-task", "device=host", "host=only"}
    gpu = common | {"driver=cuda", "device=gpu.1", "requires-gpu-nvidia"}
    smoke = {"no-remote-exec"}
    timed = {"exclusive", "external", "no-cache", "no-remote"}
    assert package.tags("mlp_cpu.host.matmul.smoke") == host | smoke | {"test-type=dispatch-smoke"}
    assert package.tags("mlp_cpu.host.matmul") == host | timed | {"test-type=dispatch-benchmark"}
    assert package.tags("mlp_cpu.gpu.1.model.B1.smoke") == gpu | smoke | {"test-type=model-smoke"}
    assert package.tags("mlp_cpu.drift") == common | {"test-type=drift"}
    assert package.tags("mlp_cpu.gpu.1.model.B1") == gpu | timed | {"test-type=model-benchmark"}


def test_a_device_gets_its_own_flags(package: Package) -> None:
    package.call(SUITE, **{**WHOLE, "run_flags": ["gpu.1=--a=$(b)", "host=--c", "gpu.1=--d=e"]})
    on_gpu = package.targets["mlp_cpu.gpu.1.matmul"].attributes
    assert (on_gpu["device"], on_gpu["device_id"]) == ("cuda://1", "gpu.1")
    assert on_gpu["run_flags"] == ["--a=$(b)", "--d=e"]
    assert package.targets["mlp_cpu.host.matmul.smoke"].attributes["run_flags"] == ["--c"]


def test_only_dispatches_are_batched_and_only_calls_have_parameters(package: Package) -> None:
    settings = {"batch_size": 4, "repetitions": 3, "min_time": "2s", "parameters": ["scope=p.irpa"]}
    package.call(SUITE, **{**WHOLE, **settings})
    dispatch = package.targets["mlp_cpu.host.matmul"].attributes
    call = package.targets["mlp_cpu.host.model.B1"].attributes
    assert (dispatch["batch_size"], dispatch["repetitions"], dispatch["min_time"]) == (4, 3, "2s")
    assert (call["batch_size"], call["repetitions"], call["min_time"]) == (1, 3, "2s")
    assert (dispatch["module"], call["module"], call["call"]) == (":mlp_cpu.matmul", ":mlp_cpu.model", "B1")
    assert (call["parameters"], call["parameter_files"]) == (["scope=p.irpa"], [":p.irpa"])
    assert "parameters" not in dispatch


@pytest.mark.parametrize(
    ("seconds", "category"),
    [
        (None, "long"),
        (1, "short"),
        (60, "short"),
        (61, "moderate"),
        (300, "moderate"),
        (900, "long"),
        (901, "eternal"),
        (9999, "eternal"),
    ],
)
def test_a_timeout_becomes_the_shortest_category_that_allows_it(
    package: Package, seconds: int | None, category: str
) -> None:
    package.call(SUITE, **WHOLE, timeout=seconds)
    for name in ("mlp_cpu.host.matmul", "mlp_cpu.host.model.B1.smoke"):
        assert package.targets[name].attributes["timeout"] == category


def test_a_suite_without_devices_has_no_tests(package: Package) -> None:
    """An empty list of tests and no tag to select by would be all tests of the package."""
    package.call(SUITE, **{**WHOLE, "devices": []})
    for name in ("mlp_cpu.smoke", "mlp_cpu.benchmarks"):
        assert package.targets[name].attributes["tests"] == []
        assert package.tags(name) == {"manual", "iree-dispatch-no-test"}


def test_the_suites_of_a_model_share_one_import(package: Package) -> None:
    onnx = {"src": "mlp.onnx", "import_flags": ["--opset-version=17"]}
    package.call(SUITE, **{**MLP, **onnx, "tools": ":mine"})
    package.call(SUITE, **{**MLP, **onnx, "tools": ":mine", "name": "mlp_gpu", "backend": "gpu"})
    assert package.of_kind("iree_dispatch_import") == ["mlp.imported"]
    imported = package.targets["mlp.imported"].attributes
    assert (imported["src"], imported["import_flags"]) == (":mlp.onnx", ["--opset-version=17"])
    assert imported["tools"] == ":mine"
    for name in ("mlp_cpu.dispatches", "mlp_gpu.dispatches"):
        assert package.targets[name].attributes["src"] == ":mlp.imported"


@pytest.mark.parametrize("other", [{"src": "b.onnx"}, {"import_flags": []}])
def test_suites_that_import_a_model_differently_are_refused(package: Package, other: dict[str, Any]) -> None:
    onnx = {**MLP, "src": "a.onnx", "import_flags": ["--opset-version=17"]}
    package.call(SUITE, **onnx)
    lines = refusal(package, SUITE, **{**onnx, **other, "name": "mlp_gpu", "backend": "gpu"})
    assert lines == ["src and import_flags differ from those of another suite of model mlp"]


@pytest.mark.parametrize("suffix", ["mlir", "onnx"])
def test_a_source_in_a_python_package(package: Package, suffix: str) -> None:
    package.call(SUITE, **{**MLP, "src": f"package:zoo/models/a b.{suffix}"})
    reader = package.targets["mlp_cpu.dispatches" if suffix == "mlir" else "mlp.imported"]
    assert reader.attributes["src"] == f"Label(@iree_tools//:packages/zoo/models/a b.{suffix})"
    assert package.targets["mlp_cpu.sources"].attributes["srcs"][0] == reader.attributes["src"]


def test_a_package_in_a_package_lies_in_its_folder(package: Package) -> None:
    package.call(SUITE, **{**MLP, "src": "package:zoo.small/a.mlir"})
    reader = package.targets["mlp_cpu.dispatches"]
    assert reader.attributes["src"] == "Label(@iree_tools//:packages/zoo/small/a.mlir)"


def test_attributes_of_all_targets(package: Package) -> None:
    package.call(SUITE, **{**WHOLE, "src": "mlp.onnx"}, visibility=["//visibility:private"], features=["-x"])
    groups = package.of_kind("filegroup") + package.of_kind("test_suite")
    for name, target in package.targets.items():
        assert target.attributes["visibility"] == ["//visibility:private"]
        assert ("features" in target.attributes) == (name not in groups)


def test_setup_creates_what_stands_for_several_suites(package: Package) -> None:
    models = {"mlp": ["mlp_cpu", "mlp_gpu"], "net": ["net_cpu"]}
    presets = {"nightly": ["mlp_gpu", "net_cpu"], "none": []}
    package.call(
        SETUP, name="all", manifest="benchmarks.yaml", models=models, packages=["zoo", "zoo.small"], presets=presets
    )
    aggregates = {
        "all": ["mlp_cpu", "mlp_gpu", "net_cpu"],
        "all-mlp": ["mlp_cpu", "mlp_gpu"],
        "all-net": ["net_cpu"],
        "all-preset-nightly": ["mlp_gpu", "net_cpu"],
        "all-preset-none": [],
    }
    assert package.of_kind("filegroup") == list(aggregates)
    for name, suites in aggregates.items():
        assert package.targets[name].attributes["srcs"] == [f":{suite}" for suite in suites]
        for kind in ("smoke", "benchmarks", "drift"):
            tests = package.targets[f"{name}.{kind}"]
            assert tests.attributes["tests"] == [f":{suite}.{kind}" for suite in suites]
            assert ("iree-dispatch-no-test" in tests.attributes["tags"]) == (not suites)
    update, test = package.targets["all.update"], package.targets["all.test"]
    assert (update.kind, test.kind) == ("iree_dispatch_update", "iree_dispatch_stale_test")
    assert update.attributes["manifest"] == test.attributes["manifest"] == ":benchmarks.yaml"
    assert update.attributes["sources"] == [":mlp_cpu.sources", ":mlp_gpu.sources", ":net_cpu.sources"]
    assert test.attributes["update"] == ":all.update"


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({"model": ""}, ["model is missing"]),
        ({"backend": ""}, ["backend is missing"]),
        ({"src": ""}, ["src is missing"]),
        ({"lock": ""}, ["lock is missing"]),
        ({"compile_flags": []}, ["compile_flags is missing"]),
        ({"speed": 1, "args": []}, ["unknown argument: args", "unknown argument: speed"]),
        ({"model": "a-b"}, ["'a-b' is not a name made of [A-Za-z0-9_]"]),
        ({"backend": "é"}, ["'é' is not a name made of [A-Za-z0-9_]"]),
        ({"dispatches": ["a.b"]}, ["'a.b' is not a name made of [A-Za-z0-9_]"]),
        ({"calls": [""]}, ["'' is not a name made of [A-Za-z0-9_]"]),
        ({"presets": ["$x"]}, ["'$x' is not a name made of [A-Za-z0-9_]"]),
        ({"dispatches": ["a", "b", "a"]}, ["two dispatches or calls have the name 'a'"]),
        ({"dispatches": ["a"], "calls": ["a"]}, ["two dispatches or calls have the name 'a'"]),
        (
            {"dispatches": ["model"]},
            ["a dispatch cannot be named 'model': the suite itself has a target or a file of that name"],
        ),
        (
            {"dispatches": ["drift"]},
            ["a dispatch cannot be named 'drift': the suite itself has a target or a file of that name"],
        ),
        ({"dispatches": ["a"], "archives": ["b"]}, ["archives names 'b', which is not among dispatches"]),
        ({"call_inputs": ["a/b"]}, ["call_inputs: 'a/b' is not a name made of [A-Za-z0-9_.]"]),
        ({"data": ["../a.npy"]}, [f"data '../a.npy' {OUTSIDE}"]),
        ({"devices": ["cuda"]}, ["device 'cuda' is not of the form <id>=<uri>"]),
        ({"devices": ["cuda="]}, ["device 'cuda=' is not of the form <id>=<uri>"]),
        ({"devices": ["=cuda"]}, ["device '=cuda' is not of the form <id>=<uri>"]),
        ({"devices": ["a/b=cuda"]}, ["device 'a/b=cuda' is not of the form <id>=<uri>"]),
        ({"devices": ["a=cuda", "a=hip"]}, ["two devices have the id 'a'"]),
        (
            {"devices": ["a=x", "b=y"], "run_flags": ["c=--f"]},
            ["run_flags: 'c=--f' is not of the form <id>=<value> with the id of a device (a, b)"],
        ),
        (
            {"devices": ["a=x"], "device_labels": ["a"]},
            ["device_labels: 'a' is not of the form <id>=<value> with the id of a device (a)"],
        ),
        (
            {"run_flags": ["a=--f"]},
            ["run_flags: 'a=--f' is not of the form <id>=<value> with the id of a device (there is none)"],
        ),
        ({"src": "/m.mlir"}, [f"src '/m.mlir' {OUTSIDE}"]),
        (
            {"src": "a/../m.mlir"},
            [f"src 'a/../m.mlir' {OUTSIDE}"],
        ),
        ({"src": "//a:m.mlir"}, [f"src '//a:m.mlir' {OUTSIDE}"]),
        ({"lock": "../m.json"}, [f"lock '../m.json' {OUTSIDE}"]),
        (
            {"parameters": ["a=/b.irpa"]},
            [f"parameters '/b.irpa' {OUTSIDE}"],
        ),
        ({"parameters": ["scope="]}, [f"parameters '' {OUTSIDE}"]),
        ({"src": "package:m.mlir"}, ["src 'package:m.mlir' is not of the form package:<package>/<path>"]),
        ({"src": "package:zoo/../m.mlir"}, ["src 'package:zoo/../m.mlir' is not of the form package:<package>/<path>"]),
        ({"src": "m.txt"}, ["src 'm.txt' ends neither in .mlir, .mlirbc nor .onnx"]),
        ({"import_flags": ["--x"]}, ["import_flags are for an src that ends in .onnx"]),
        ({"repetitions": 0}, ["repetitions must be a whole number of at least 1, not 0"]),
        ({"batch_size": "2"}, ['batch_size must be a whole number of at least 1, not "2"']),
        ({"timeout": -1}, ["timeout must be a whole number of at least 1, not -1"]),
        ({"timeout": True}, ["timeout must be a whole number of at least 1, not True"]),
        ({"drift": "yes"}, ['drift must be "allow" or "error", not "yes"']),
    ],
)
def test_arguments_of_a_suite_that_are_refused(
    package: Package, arguments: dict[str, Any], problems: list[str]
) -> None:
    assert refusal(package, SUITE, **{**MLP, **arguments}) == problems
    assert package.targets == {}


def test_all_problems_are_told_at_once(package: Package) -> None:
    lines = refusal(package, SUITE, name="x", model="a-b", devices=["cuda"], drift="no", speed=1)
    assert lines == [
        "backend is missing",
        "src is missing",
        "lock is missing",
        "compile_flags is missing",
        "'a-b' is not a name made of [A-Za-z0-9_]",
        "device 'cuda' is not of the form <id>=<uri>",
        'drift must be "allow" or "error", not "no"',
        "unknown argument: speed",
    ]


def test_two_suites_with_one_name_are_refused(package: Package) -> None:
    package.call(SUITE, **MLP)
    other = {**MLP, "model": "net", "lock": "locks/net.json"}
    assert refusal(package, SUITE, **other) == ["there is another suite of this name in the package"]


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({"manifest": ""}, ["manifest is missing"]),
        (
            {"manifest": "../b.yaml"},
            [f"manifest '../b.yaml' {OUTSIDE}"],
        ),
        ({"models": {"a-b": []}}, ["'a-b' is not a name made of [A-Za-z0-9_]"]),
        ({"presets": {"a b": []}}, ["'a b' is not a name made of [A-Za-z0-9_]"]),
        ({"packages": ["a/b"]}, ["'a/b' is not a name made of [A-Za-z0-9_]"]),
        ({"models": {"a": ["x"], "b": ["x"]}}, ["the suite 'x' is listed twice"]),
        ({"presets": {"p": ["y"]}}, ["preset p: no model has a suite 'y'"]),
        ({"speed": 1}, ["unknown argument: speed"]),
    ],
)
def test_arguments_of_setup_that_are_refused(package: Package, arguments: dict[str, Any], problems: list[str]) -> None:
    setup = {"name": "all", "manifest": "benchmarks.yaml", "models": {"a": ["x"]}}
    assert refusal(package, SETUP, **{**setup, **arguments}) == problems


def test_a_second_setup_of_one_name_is_refused(package: Package) -> None:
    package.call(SETUP, name="all", manifest="benchmarks.yaml")
    lines = refusal(package, SETUP, name="all", manifest="benchmarks.yaml")
    assert lines == ["there is another target of this name in the package"]


def test_the_macro_has_the_keywords_of_the_cmake_function(repository: Path) -> None:
    cmake = (repository / "genrules/cmake/iree_dispatch_benchmark_suite.cmake").read_text()
    function = cmake[cmake.index("function(iree_dispatch_benchmark_suite)") :]
    function = function[: function.index("endfunction")].replace("\\\n", "")
    keywords = re.findall(r'^    "([A-Z_;]+)"$', function, re.MULTILINE)
    macro = (repository / "genrules/bazel/private/suite.bzl").read_text()
    signature = macro[macro.index("def iree_dispatch_benchmark_suite(") : macro.index("**kwargs")]
    parameters = set(re.findall(r"^        (\w+)", signature, re.MULTILINE))
    assert parameters - {"tools", "tags"} == {word.lower() for words in keywords for word in words.split(";")}
