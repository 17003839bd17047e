"""Substitutions in the macros of the Bazel rules: which targets they create, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from bazel_macros import MacroError, Package

SUITE = "iree_dispatch_benchmark_suite"
OUTSIDE = "is not a path inside the package: relative, without '.' and '..'"
MLP: dict[str, Any] = {
    "name": "mlp_cpu",
    "model": "mlp",
    "backend": "cpu",
    "src": "models/mlp.mlir",
    "lock": "locks/mlp.json",
    "compile_flags": ["--iree-codegen-tuning-spec-path=spec.mlir"],
    "inputs": ["spec.mlir"],
    "dispatches": ["matmul", "softmax"],
    "calls": ["B1"],
    "devices": ["host=local-task"],
    "run_flags": ["host=--x=1"],
    "labels": ["large"],
    "batch_size": 4,
}
#: A kernel whose outputs are compared, an edited source and a tuning spec of all dispatches.
SUBSTITUTES: dict[str, Any] = {
    "substitutes": [
        "edited=softmax=source=kernels/softmax=2.mlir",
        "fast=matmul=kernel=kernels/mm.c",
        "tuned=matmul=tuning_spec=spec.mlir",
        "tuned=softmax=tuning_spec=spec.mlir",
    ],
    "object_commands": ["fast=./tools/cc", "fast=-DX=1", "fast={source}", "fast={output}"],
    "object_suffix": "o",
    "substitute_inputs": ["fast=kernels/mm.h"],
    "substitute_flags": ["fast=--tolerance=0.1", "fast=--entry=mm", "edited=--allow-other-target"],
    "combinations": ["best=fast", "best=edited"],
}
FAST, BEST = "mlp_cpu.substitutions.fast", "mlp_cpu.substitutions.best"


@pytest.fixture
def package() -> Package:
    package = Package()
    package.call(SUITE, **MLP, **SUBSTITUTES)
    return package


def test_a_substitution_has_a_module_per_dispatch_and_one_of_the_whole_model(package: Package) -> None:
    substitutions = {
        "mlp_cpu.substitutions.edited": ["softmax", "model"],
        FAST: ["matmul", "matmul.check", "model"],
        "mlp_cpu.substitutions.tuned": ["matmul", "softmax", "model"],
        BEST: ["model"],
    }
    for name, modules in substitutions.items():
        assert package.targets[name].attributes["srcs"] == [f":{name}.{module}" for module in modules]
        for module in modules:
            attributes = package.targets[f"{name}.{module}"].attributes
            assert attributes["extract"] == f":{name}.dispatches"
            assert attributes["dispatch"] == ("" if module == "model" else module)
    assert package.of_kind("iree_dispatch_substitution") == [f"{name}.dispatches" for name in [*substitutions][:-1]]
    assert package.of_kind("iree_dispatch_combination") == [f"{BEST}.dispatches"]
    own = [f":mlp_cpu.{module}" for module in ("matmul", "softmax", "model")]
    assert package.targets["mlp_cpu"].attributes["srcs"] == [*own, *(f":{name}" for name in substitutions)]


def test_the_steps_get_what_the_suite_says(package: Package) -> None:
    assert package.targets[f"{FAST}.dispatches"].attributes == {
        "name": f"{FAST}.dispatches",
        "srcs": [":kernels/mm.c"],
        "command": ["./tools/cc", "-DX=1", "{source}", "{output}"],
        "extract": ":mlp_cpu.dispatches",
        "flags": ["--tolerance=0.1", "--entry=mm"],
        "inputs": [":kernels/mm.h", ":tools/cc"],
        "object_suffix": "o",
        "substitutes": ["matmul=kernel=kernels/mm.c"],
        "substitution": "fast",
        "tags": ["manual"],
    }
    edited = package.targets["mlp_cpu.substitutions.edited.dispatches"].attributes
    assert (edited["srcs"], edited["substitutes"]) == (
        [":kernels/softmax=2.mlir"],
        ["softmax=source=kernels/softmax=2.mlir"],
    )
    assert package.targets["mlp_cpu.substitutions.tuned.dispatches"].attributes["srcs"] == [":spec.mlir"]
    assert package.targets["mlp_cpu.dispatches"].attributes["inputs"] == [":spec.mlir"]
    assert package.targets[f"{BEST}.dispatches"].attributes["substitutions"] == [
        f":{FAST}.dispatches",
        ":mlp_cpu.substitutions.edited.dispatches",
    ]


def test_modules_know_what_they_are_compared_with(package: Package) -> None:
    assert package.targets[f"{FAST}.matmul"].attributes["original"] == ":mlp_cpu.matmul"
    assert "original" not in package.targets[f"{FAST}.matmul.check"].attributes
    model = package.targets[f"{BEST}.model"].attributes
    assert model["original"] == ":mlp_cpu.model"
    assert model["changes"] == [":mlp_cpu.substitutions.edited.softmax"], "that of the object does not tell"


def test_modules_with_executables_of_two_targets_are_not_linked(package: Package) -> None:
    names = [name for name, target in package.targets.items() if target.attributes.get("flags", ())]
    flags = {name: package.targets[name].attributes["flags"] for name in names if not name.endswith(".dispatches")}
    unlinked = ["--iree-hal-link-executables=false"]
    assert flags == dict.fromkeys(["mlp_cpu.substitutions.edited.model", f"{BEST}.model"], unlinked)


def test_the_tests_of_a_substitution_join_those_of_the_suite(package: Package) -> None:
    prefix = "mlp_cpu.host.substitutions"
    timed = [f"{prefix}.fast.matmul", f"{prefix}.fast.model.B1", f"{prefix}.best.model.B1"]
    assert {f":{name}" for name in timed} <= {*package.targets["mlp_cpu.benchmarks"].attributes["tests"]}
    smoke = [f":{name}.smoke" for name in timed] + [f":{prefix}.fast.matmul.check"]
    assert {*smoke} <= {*package.targets["mlp_cpu.smoke"].attributes["tests"]}
    assert package.of_kind("iree_dispatch_check_test") == [f"{prefix}.fast.matmul.check"]
    check = package.targets[f"{prefix}.fast.matmul.check"].attributes
    assert (check["module"], check["device"]) == (f":{FAST}.matmul.check", "local-task")
    assert check["run_flags"] == ["--x=1"]
    of_all = {"manual", "model=mlp", "backend=cpu", "driver=local-task", "device=host", "large", "substitution=fast"}
    assert package.tags(f"{prefix}.fast.matmul.check") == of_all | {"test-type=substitution-check", "no-remote-exec"}
    assert package.tags(f"{prefix}.fast.matmul.smoke") == of_all | {"test-type=dispatch-smoke", "no-remote-exec"}
    assert "test-type=model-benchmark" in package.tags(f"{prefix}.fast.model.B1")
    batches = [package.targets[name].attributes["batch_size"] for name in timed]
    assert batches == [4, 1, 1]
    assert not [tag for tag in package.tags("mlp_cpu.host.matmul") if tag.startswith("substitution=")]


def test_sources_are_all_files_that_the_suite_reads(package: Package) -> None:
    assert package.targets["mlp_cpu.sources"].attributes["srcs"] == [
        ":models/mlp.mlir",
        ":locks/mlp.json",
        ":kernels/mm.c",
        ":kernels/mm.h",
        ":kernels/softmax=2.mlir",
        ":spec.mlir",
        ":tools/cc",
    ]


def test_nothing_joins_a_wildcard(package: Package) -> None:
    assert [name for name in package.targets if "manual" not in package.tags(name)] == []


def test_attributes_of_all_targets() -> None:
    package = Package()
    package.call(SUITE, **MLP, **SUBSTITUTES, visibility=["//visibility:private"], features=["-x"])
    groups = package.of_kind("filegroup") + package.of_kind("test_suite")
    for name, target in package.targets.items():
        assert target.attributes["visibility"] == ["//visibility:private"]
        assert ("features" in target.attributes) == (name not in groups)


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({"inputs": ["../a"]}, [f"inputs '../a' {OUTSIDE}"]),
        (
            {"substitutes": ["a=matmul=source"]},
            ["substitutes: 'a=matmul=source' is not of the form <substitution>=<dispatch>=<kind>=<file>"],
        ),
        ({"substitutes": ["a-b=matmul=source=x"]}, ["'a-b' is not a name made of [A-Za-z0-9_]"]),
        ({"substitutes": ["a=mm=source=x"]}, ["substitution a: the suite has no dispatch 'mm'"]),
        (
            {"substitutes": ["a=matmul=text=x"]},
            ["substitution a: 'text' is none of the kinds: configuration, kernel, object, source, tuning_spec"],
        ),
        ({"substitutes": ["a=matmul=source=/x"]}, [f"substitution a: '/x' {OUTSIDE}"]),
        (
            {"substitutes": ["a=matmul=source=x", "a=matmul=source=y"]},
            ["substitution a has two substitutes for 'matmul'"],
        ),
        (
            {"substitute_flags": ["a=--x"]},
            ["substitute_flags: 'a=--x' is not of the form <id>=<value> with the id of a substitution (there is none)"],
        ),
        (
            {"substitutes": ["a=matmul=object=x.o"], "substitute_inputs": ["a=../b"]},
            [f"substitute_inputs '../b' {OUTSIDE}"],
        ),
        (
            {"substitutes": ["a=matmul=kernel=x.c"]},
            [
                "substitution a: object_commands has no command that makes objects of its kernels",
                "object_suffix is missing",
            ],
        ),
        (
            {
                "substitutes": ["a=matmul=kernel=x.c", "a=softmax=kernel=y.c"],
                "object_commands": ["a=cc"],
                "object_suffix": "o",
            },
            ["substitution a: there is one object of a command, not several: x.c, y.c"],
        ),
        (
            {"substitutes": ["a=matmul=source=x"], "combinations": ["c=b"]},
            ["combinations: 'c=b' is not of the form <id>=<substitution> with the id of a substitution (a)"],
        ),
        (
            {"substitutes": ["a=matmul=source=x"], "combinations": ["a=a"]},
            ["a combination and a substitution have the id 'a'"],
        ),
        (
            {"substitutes": ["a=matmul=source=x", "b=matmul=source=y"], "combinations": ["c=a", "c=b"]},
            ["combination c: two of its substitutions replace 'matmul'"],
        ),
        (
            {"dispatches": ["configured", "substitutions"]},
            [
                f"a dispatch cannot be named '{name}': the suite itself has a target or a file of that name"
                for name in ("configured", "substitutions")
            ],
        ),
    ],
)
def test_arguments_that_are_refused(arguments: dict[str, Any], problems: list[str]) -> None:
    package = Package()
    with pytest.raises(MacroError) as caught:
        package.call(SUITE, **{**MLP, **arguments})
    assert str(caught.value).split("\n  ")[1:] == problems
    assert package.targets == {}
