"""Substitutions in build files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.errors import ManifestError, SubstitutionError
from dispatchgen.lock.make import settings_digest
from dispatchgen.manifest.suite import Model, Selector, Suite
from dispatchgen.render.arguments import Arguments, suite_calls
from dispatchgen.render.bazel import render_bazel
from dispatchgen.render.cmake import render_cmake
from dispatchgen.render.quote import cmake_argument
from rendered import GPU, HOST, KERNEL, LOCKS, MODEL_A, lock_of

#: Without substitutions.
_MODEL = replace(MODEL_A, substitutions=(), combinations=(), flag_files={}, line=7)
_KEYWORDS = {
    *("inputs", "substitutes", "object_commands", "object_suffix", "substitute_inputs", "substitute_flags"),
    "combinations",
}


def _suite(model: Model) -> Suite:
    return Suite(Path("benchmarks.yaml"), (HOST, GPU), (model,))


def _keywords(model: Model, backend: str) -> Mapping[str, object]:
    """The keywords of substitutions in a model's call."""
    (call,) = (call for call in suite_calls(_suite(model), LOCKS) if call.backend.id == backend)
    return {keyword: value for keyword, value in call.arguments.items() if keyword in _KEYWORDS}


def test_all_keywords() -> None:
    assert _keywords(MODEL_A, "host") == {
        "inputs": ("spec.mlir", "x y.mlir"),
        "substitutes": [
            "a_tuned=a_1=tuning_spec=spec.mlir",
            "by_hand=z_2=kernel=k/a.c",
            "folder=a_1=object=f/a_1.o",
            "folder=z_2=configuration=f/configured_z_2.mlir",
        ],
        "object_commands": [
            *("by_hand=clang", "by_hand=-De=my_kernel", "by_hand={source}", "by_hand=-o", "by_hand={output}"),
        ],
        "object_suffix": "o",
        "substitute_inputs": ["by_hand=k/a.h", "by_hand=k/b.h"],
        "substitute_flags": [
            "by_hand=--entry=my_kernel",
            "by_hand=--workgroups=(w0) -> (w0, 1, 1)",
            "by_hand=--allow-other-target",
            "by_hand=--tolerance=1e-05",
        ],
        "combinations": ["both=a_tuned", "both=by_hand"],
    }


def test_what_a_backend_does_not_use_is_left_out() -> None:
    assert _keywords(MODEL_A, "gpu") == {
        "substitutes": ["a_tuned=a_1=tuning_spec=spec.mlir", "shader=a_1=object=k=1.spv"]
    }
    assert _keywords(_MODEL, "host") == {}


def test_the_suffix_of_objects_is_the_backends() -> None:
    command = ("cc", "{source}", "{output}")
    kernel = replace(KERNEL, file="k.rs", backends=("gpu",), command=command)
    assert _keywords(replace(_MODEL, substitutions=(kernel,)), "gpu")["object_suffix"] == "spv"


def test_substitutions_that_do_not_fit_the_locks_are_all_named() -> None:
    models = [
        replace(_MODEL, name=name, id=name, substitutions=(replace(KERNEL, selectors=(Selector("no"),), line=line),))
        for name, line in (("a", 3), ("b", 5))
    ]
    locks = {name: lock_of(name, "host", "gpu") for name in ("a", "b")}
    for render in (render_cmake, render_bazel):
        with pytest.raises(SubstitutionError) as raised:
            render(Suite(Path("benchmarks.yaml"), (HOST, GPU), tuple(models)), locks)
        assert [str(problem).splitlines()[:2] for problem in raised.value.problems] == [
            [
                f"error: substitution `by hand` of model `{name}` on backend `Host CPU`: there is no dispatch `no`",
                f"  at benchmarks.yaml:{line}",
            ]
            for name, line in (("a", 3), ("b", 5))
        ]


def test_the_lock_does_not_depend_on_substitutions() -> None:
    assert settings_digest(MODEL_A, HOST) == settings_digest(_MODEL, HOST)


def _refused(render: Any, **changes: Any) -> list[str]:
    """What a build system cannot carry of a substitution, with the reason."""
    model = replace(_MODEL, substitutions=(replace(KERNEL, **changes),))
    with pytest.raises(ManifestError) as raised:
        render(_suite(model), LOCKS)
    assert all(problem.place.line == 7 for problem in raised.value.problems if problem.place)
    return [
        problem.message.partition("cannot carry ")[2].replace(" of model 'Model A' on backend 'Host CPU'", "")
        for problem in raised.value.problems
    ]


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        (
            {"file": "a:b.c", "inputs": ("x|y", "k[.h")},
            [
                "'a:b.c': it holds ':', which build systems cannot have in the path of a file",
                "'k[.h': it holds a square bracket without its match, for which CMake's lists have no escape",
                "'x|y': it holds '|', which build systems cannot have in the path of a file",
            ],
        ),
        (
            {"command": ("cc", "&&", "{source}", "OUTPUT", "a\\", "MODEL", "{output}")},
            [
                "'&&': it is an operator of the shell, which CMake passes on as one",
                "'OUTPUT': it is a keyword of CMake's commands",
                "'a\\\\': it ends with a backslash, for which CMake's lists have no escape",
                "'MODEL': it is a keyword of the CMake rule",
            ],
        ),
    ],
)
def test_what_cmake_cannot_carry(changes: dict[str, Any], problems: list[str]) -> None:
    assert _refused(render_cmake, **changes) == problems


def test_a_substitute_may_have_a_name_that_no_file_of_a_build_can_have() -> None:
    kernel = replace(KERNEL, file="#1/a<b$(c d).c")
    text = render_cmake(_suite(replace(_MODEL, substitutions=(kernel,))), LOCKS)
    assert f"    {cmake_argument(f'by_hand=z_2=kernel={kernel.file}')}\n" in text


def test_what_bazel_cannot_carry() -> None:
    assert _refused(render_bazel, file="../k.c", inputs=("a//b", "x:y"), command=("a\nb", "&&", "OUTPUT")) == [
        "'../k.c': it leaves the suite's folder, and a target lies in its package",
        "'a//b': it has an empty segment or '.', which the name of a target cannot have",
        "'x:y': it holds ':', which the name of a target cannot have",
        "'by_hand=a\\nb': it holds the control character '\\n', which cannot be passed to a command",
    ]


_TEXTS = st.text(min_size=1, max_size=12) | st.text(alphabet="=$<>{}\\\"';[]@ é.a/", min_size=1, max_size=12)


def _read_bazel(text: str) -> Arguments:
    """The keywords of the call for the backend `host`."""
    calls: list[Arguments] = []
    namespace = {
        "load": lambda *_: None,
        "iree_dispatch_benchmark_setup": lambda **_: None,
        "iree_dispatch_benchmark_suite": lambda **keywords: calls.append(keywords),
    }
    exec(text, namespace)
    (call,) = (call for call in calls if call["backend"] == "host")
    return call


@given(_TEXTS, st.lists(_TEXTS, max_size=3), st.lists(_TEXTS, max_size=2))
def test_any_file_and_argument_arrives_or_is_refused(file: str, command: Sequence[str], inputs: Sequence[str]) -> None:
    kernel = replace(KERNEL, file=file, command=("cc", *command), inputs=tuple(inputs), entry="e")
    suite = _suite(replace(_MODEL, substitutions=(kernel,)))
    expected: dict[str, list[tuple[str, ...]]] = {
        "substitutes": [("by_hand", "z_2", "kernel", file)],
        "object_commands": [("by_hand", argument.replace("{entry}", "e")) for argument in ("cc", *command)],
        "substitute_inputs": [("by_hand", path) for path in sorted(set(inputs))],
    }
    try:
        bazel = _read_bazel(render_bazel(suite, LOCKS))
    except ManifestError:
        pass
    else:
        for keyword, values in expected.items():
            read = bazel.get(keyword, [])
            assert isinstance(read, list)
            assert [tuple(text.split("=", len(value) - 1)) for text, value in zip(read, values, strict=True)] == values
    try:
        cmake = render_cmake(suite, LOCKS)
    except ManifestError:
        pass
    else:
        for values in expected.values():
            assert all(f"\n    {cmake_argument('='.join(value))}\n" in cmake for value in values)
