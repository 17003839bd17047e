"""From YAML to a suite."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dispatchgen.errors import ManifestError
from dispatchgen.manifest import document, load_suite
from dispatchgen.manifest.suite import Backend, Device, Input, RunSettings, Shape, Source, Suite

LoadText = Callable[[str], Suite]


def test_smallest_manifest(load_text: LoadText) -> None:
    suite = load_text("version: 1\nmodels:\n  mlp: {source: m.mlir}\n")
    assert suite.backends == (
        Backend(
            "cpu",
            "cpu",
            "local",
            "llvm-cpu",
            ("--iree-llvmcpu-target-cpu=generic",),
            (Device("local-sync", "local-sync"),),
        ),
    )
    (model,) = suite.models
    assert (model.name, model.id, model.line) == ("mlp", "mlp", 3)
    assert model.source == Source("m.mlir", "mlir")
    assert model.inputs == {}
    assert model.shapes == (Shape("static"),)
    assert model.backends == ("cpu",)
    assert model.compile_flags == {"cpu": ()}
    assert model.run == RunSettings()
    assert model.drift == "error"


_FULL = """
version: 1
bindings: fused
drift: allow
run: {min_time: 0.5s, repetitions: 3, rounds: 5, precision: 0.5%, batch_size: 8}
backends:
  my cpu:
    target_device: local
    local_backend: vmvx
    compile_flags: [--iree-opt-level=O3]
    devices: [local-sync, local-task]
    labels: [host]
  gpu:
    target_device: vulkan
    devices:
      vulkan://0: {run_flags: [--vulkan_debug_verbosity=1], labels: [requires-gpu-vulkan]}
      second: {uri: "vulkan://1"}
  cross: {target_device: hip, compile_flags: [--iree-rocm-target=gfx942]}
models:
  encoder $(x):
    source: ./sub/../m.onnx
    import_flags: [--opset-version=17]
    parameters: [w.irpa, scope=w.irpa]
    inputs:
      encode: [BxSxi64, "2xi64=B S"]
      decode: [{type: Bxf32, data: 1.5}]
    shapes:
      - {B: 1, S: 128, label: the paper}
      - {B: [1, 8], S: [1, 2]}
      - zip: {B: [16, 32], S: [64, 32]}
    backends: [gpu, my_cpu]
    compile_flags: [-O1]
    backend_flags: {gpu: [--iree-vulkan-target=rdna3]}
    labels: [large]
    bindings: isolated
    drift: error
    run: {min_time: 100x, batch_size: auto}
  code: {source: sub/n.mlirbc, entry: main, inputs: [f32], shapes: {label: only}}
presets:
  nightly: {labels: [large, host]}
  one: {models: [code], backends: [cross]}
"""


def test_everything(load_text: LoadText) -> None:
    suite = load_text(_FULL)
    assert [(backend.name, backend.id) for backend in suite.backends] == [
        ("my cpu", "my_cpu"),
        ("gpu", "gpu"),
        ("cross", "cross"),
    ]
    assert suite.backend("gpu").devices == (
        Device("vulkan_0", "vulkan://0", ("--vulkan_debug_verbosity=1",), ("requires-gpu-vulkan",)),
        Device("second", "vulkan://1"),
    )
    assert suite.backend("cross").devices == ()
    encoder, code = suite.models
    assert encoder.id == "encoder___x_"
    assert encoder.source == Source("m.onnx", "onnx")
    assert encoder.parameters == ("w.irpa", "scope=w.irpa")
    assert encoder.inputs == {
        "encode": (Input("i64", ("B", "S")), Input("i64", (2,), ("B", "S"))),
        "decode": (Input("f32", ("B",), (1.5,)),),
    }
    assert encoder.shapes == (
        Shape("the_paper", {"B": 1, "S": 128}),
        Shape("B1_S1", {"B": 1, "S": 1}),
        Shape("B1_S2", {"B": 1, "S": 2}),
        Shape("B8_S1", {"B": 8, "S": 1}),
        Shape("B8_S2", {"B": 8, "S": 2}),
        Shape("B16_S64", {"B": 16, "S": 64}),
        Shape("B32_S32", {"B": 32, "S": 32}),
    )
    assert encoder.backends == ("gpu", "my_cpu")
    assert encoder.compile_flags == {"gpu": ("-O1", "--iree-vulkan-target=rdna3"), "my_cpu": ("-O1",)}
    assert encoder.bindings == "isolated"
    assert (encoder.drift, code.drift) == ("error", "allow")
    assert encoder.run == RunSettings(5, 0.005, "100x", 3, "auto")
    assert code.inputs == {None: (Input("f32", None),)}
    assert code.shapes == (Shape("only"),)
    assert code.bindings == "fused"
    assert code.run == RunSettings(5, 0.005, "0.5s", 3, 8)
    nightly, one = suite.presets
    assert [nightly.selects(encoder, suite.backend(name)) for name in encoder.backends] == [True, True]
    assert [one.selects(code, suite.backend(name)) for name in code.backends] == [False, False, True]


def test_the_way_the_manifest_is_named_does_not_matter(load_text: LoadText, tmp_path: Path) -> None:
    suite = load_text("version: 1\nmodels: {m: {source: m.mlir}}\n")
    assert suite == load_suite(tmp_path / "benchmarks.yaml")
    assert suite.manifest == tmp_path / "benchmarks.yaml"


def test_anchors_and_merges(load_text: LoadText) -> None:
    suite = load_text(
        "version: 1\nmodels:\n  a: &a {source: m.mlir, labels: [x]}\n"
        "  b:\n    <<: *a\n    labels: [y]\n  c: {<<: [*a]}\n"
    )
    assert [(model.source.path, model.labels) for model in suite.models] == [
        ("m.mlir", ("x",)),
        ("m.mlir", ("y",)),
        ("m.mlir", ("x",)),
    ]


def test_places_of_merged_and_nested_values(load_text: LoadText, tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as raised:
        load_text("version: 1\nmodels:\n  a: &a\n    source: m.mlir\n    label: [x]\n  b: {<<: *a}\n")
    places = [(str(problem.place), problem.hint) for problem in raised.value.problems]
    file = tmp_path / "benchmarks.yaml"
    assert places == [(f"{file}:5:5 (models.{name}.label)", "`labels`") for name in ("a", "b")]


def test_a_byte_order_mark_and_crlf(load_text: LoadText) -> None:
    assert load_text("\ufeffversion: 1\r\nmodels:\r\n  m: {source: m.mlir}\r\n").models[0].line == 3


def test_paths_outside_when_allowed(tmp_path: Path) -> None:
    inside = tmp_path / "suite"
    inside.mkdir()
    (tmp_path / "m.mlir").touch()
    manifest = inside / "benchmarks.yaml"
    text = (
        f"version: 1\nallow_outside: true\nmodels: {{a: {{source: ../m.mlir}}, b: {{source: '{tmp_path}/m.mlir'}}}}\n"
    )
    manifest.write_text(text)
    assert [model.source.path for model in load_suite(manifest).models] == ["../m.mlir", f"{tmp_path}/m.mlir"]


def test_source_in_a_package_runs_none_of_its_code(
    load_text: LoadText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "outer" / "inner"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("raise SystemExit('imported')\n")
    (package / "model.onnx").touch()
    monkeypatch.syspath_prepend(tmp_path / "site")
    suite = load_text("version: 1\nmodels: {m: {source: {package: outer.inner, path: model.onnx}}}\n")
    assert suite.models[0].source == Source("model.onnx", "onnx", "outer.inner")


def test_huge_manifest_is_refused_unread(tmp_path: Path) -> None:
    manifest = tmp_path / "benchmarks.yaml"
    with manifest.open("wb") as stream:
        stream.truncate(100_000_000)
    tracemalloc.start()
    with pytest.raises(ManifestError, match="too large: 100 MB; at most 8 MiB"):
        load_suite(manifest)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000


def test_missing_manifest(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.yaml", tmp_path / "none" / "x.yaml"):
        with pytest.raises(ManifestError, match="there is no manifest"):
            load_suite(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_manifest_that_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ManifestError, match="not a regular file"):
        load_suite(tmp_path / "pipe")


@pytest.mark.parametrize("kind", ['"\\ud800"', "!!binary aGk=", "!x y", "9" * 5000, "0x" + "f" * 5000, "2" * 30])
def test_odd_scalars_are_refused(load_text: LoadText, kind: str) -> None:
    with pytest.raises(ManifestError):
        load_text(f"version: 1\nmodels: {{m: {{source: m.mlir, shapes: {{B: {kind}}}}}}}\n")


@pytest.mark.parametrize("text", ["[" * 5000, "- " * 5000 + "a", "{a: " * 5000, "[" * 200 + "]" * 200])
def test_deep_nesting(load_text: LoadText, text: str) -> None:
    with pytest.raises(ManifestError):
        load_text(text)


def test_endless_merge(load_text: LoadText) -> None:
    with pytest.raises(ManifestError, match="nested too deeply"):
        load_text("version: 1\nmodels: &m\n  <<: *m\n")


def test_bomb_of_merges(load_text: LoadText) -> None:
    lines = ["version: 1", "a0: &a0 {}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 12)]
    with pytest.raises(ManifestError, match="too large"):
        load_text("\n".join(lines))


def test_many_shapes_of_all_models(load_text: LoadText) -> None:
    sizes = list(range(100))
    model = f"{{source: m.mlir, inputs: [AxBxf32], shapes: {{A: {sizes}, B: {sizes}}}}}"
    with pytest.raises(ManifestError, match="at most 100000 in all models together"):
        load_text("version: 1\nmodels:\n" + "".join(f"  m{n}: {model}\n" for n in range(11)))


@pytest.mark.parametrize("loader", [getattr(yaml, "CSafeLoader", yaml.SafeLoader), yaml.SafeLoader])
def test_both_loaders_give_the_same(load_text: LoadText, loader: type, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load_text(_FULL)
    monkeypatch.setattr(document, "_Loader", loader)
    assert load_text(_FULL) == expected


def test_pure_loader_on_deep_nesting(load_text: LoadText, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "_Loader", yaml.SafeLoader)
    with pytest.raises(ManifestError, match="nested too deeply"):
        load_text("[" * 5000 + "]" * 5000)


def test_a_thousand_models_do_not_take_much_memory(load_text: LoadText) -> None:
    entry = "source: m.mlir\n    inputs: [Bx64xf32, 64x64xf32]\n    shapes: {B: [1, 8, 16]}\n    labels: [large]\n"
    text = "version: 1\nmodels:\n" + "".join(f"  m{n}:\n    {entry}" for n in range(1000))
    tracemalloc.start()
    suite = load_text(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(suite.models) == 1000
    assert suite.models[999].line == 3 + 999 * 5
    assert peak < 60_000_000


_FIXTURE_ONCE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@_FIXTURE_ONCE
@given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20))
@example("$(touch x)", "`touch x`", '";${x}\n')
def test_any_text_is_a_name(load_text: LoadText, model: str, backend: str, preset: str) -> None:
    data = {
        "version": 1,
        "backends": {backend: {"target_device": "vulkan"}},
        "models": {model: {"source": "m.mlir", "backends": [backend], "backend_flags": {backend: []}}},
        "presets": {preset: {"models": [model], "backends": [backend]}},
    }
    try:
        suite = load_text(yaml.safe_dump(data))
    except ManifestError as error:
        assert all(problem.place is not None for problem in error.problems)
        assert str(error).replace("\n", "").isprintable()
    else:
        assert suite.models[0].name == model
        assert suite.presets[0].selects(suite.models[0], suite.backends[0])


_KEYS = [
    "version",
    "models",
    "backends",
    "source",
    "inputs",
    "shapes",
    "zip",
    "label",
    "auto",
    "from",
    "top",
    "devices",
    "type",
    "data",
    "B",
    "run",
]
_SCALARS = st.one_of(
    st.sampled_from(
        ["m.mlir", "Bxf32", "B", "vulkan", "local", "llvm-cpu", "--x", "0.5s", 1, 0, -1, 1.5, True, None, "", 2**70]
    ),
    st.text(max_size=5),
    st.integers(),
    st.floats(),
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
_MODEL_KEYS = [
    "source",
    "inputs",
    "shapes",
    "overrides",
    "backends",
    "run",
    "labels",
    "entry",
    "compile_flags",
    "parameters",
]
_MANIFESTS = st.fixed_dictionaries(
    {
        "version": st.just(1),
        "models": st.dictionaries(st.text(max_size=3), st.dictionaries(st.sampled_from(_MODEL_KEYS), _VALUES)),
    },
    optional={"backends": _VALUES, "presets": _VALUES, "run": _VALUES, "bindings": _VALUES},
)


@_FIXTURE_ONCE
@given(_VALUES | _MANIFESTS)
def test_any_data_is_a_suite_or_refused(load_text: LoadText, data: object) -> None:
    try:
        load_text(yaml.safe_dump(data))
    except ManifestError as error:
        assert error.problems
        assert str(error).replace("\n", "").isprintable()


@_FIXTURE_ONCE
@given(st.binary(max_size=60) | st.text(alphabet=" \n\t-:[]{}&a*!|>'\"%@`#,?<~10x.", max_size=60).map(str.encode))
def test_any_bytes_are_a_suite_or_refused(tmp_path: Path, data: bytes) -> None:
    manifest = tmp_path / "benchmarks.yaml"
    manifest.write_bytes(data)
    with pytest.raises(ManifestError):
        load_suite(manifest)
