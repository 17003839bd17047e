"""What a manifest says of the data in buffers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dispatchgen.manifest.data_sections import fill_of, item_of, section_of
from dispatchgen.manifest.fills import BindingFill, DataSettings, File, Fill, Random, Recorded, Splat, Zeros
from dispatchgen.manifest.load import load_suite
from dispatchgen.manifest.suite import Model


@pytest.fixture
def model(tmp_path: Path) -> Callable[[str], Model]:
    """Reads a manifest with a model of that text."""
    for name in ("embed.mlir", "ids.npy", "sub/table.npy"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    def read(text: str) -> Model:
        path = tmp_path / "benchmarks.yaml"
        path.write_text(f"version: 1\nmodels:\n  embed:\n    source: embed.mlir\n{text}")
        (found,) = load_suite(path).models
        return found

    return read


def test_nothing_said_is_zeros(model: Callable[[str], Model]) -> None:
    assert model("    inputs: [4xi64]\n").data == DataSettings(Zeros(), ())


@pytest.mark.parametrize(
    ("text", "fill"),
    [
        ("zeros", Zeros()),
        ("1.5", Splat(1.5)),
        ("-3", Splat(-3)),
        ("random", Random()),
        ("{seed: 4}", Random(seed=4)),
        ("{random: [-1, 2]}", Random(-1, 2)),
        ("{random: [0, 0.5], seed: 9}", Random(0, 0.5, 9)),
        ("{file: ./sub/../ids.npy}", File("ids.npy")),
        ("recorded", Recorded()),
    ],
)
def test_fills(model: Callable[[str], Model], text: str, fill: Fill) -> None:
    default = "zeros" if isinstance(fill, File) else text
    data = model(f"    data: {{default: {default}, bindings: {{'gather_*': {{0: {text}, 12: zeros}}}}}}\n").data
    assert data.default == (Zeros() if isinstance(fill, File) else fill)
    assert section_of(data).settings == replace(
        data, bindings=tuple(replace(each, line=None) for each in data.bindings)
    )
    assert data.bindings == (BindingFill("gather_*", 0, fill, 5), BindingFill("gather_*", 12, Zeros(), 5))
    assert fill_of(item_of(fill)) == fill


def test_fills_of_inputs(model: Callable[[str], Model]) -> None:
    found = model(
        "    inputs:\n"
        "      - {type: 4xi64, data: {file: sub/table.npy}}\n"
        "      - {type: 4xi64, data: {random: [0, 9]}}\n"
        "      - {type: 4xi64, data: random}\n"
        "      - {type: 4xi64, data: zeros}\n"
        "      - {type: 4xi64, data: 7}\n"
        "      - 4xi64\n"
    )
    inputs = found.inputs[None]
    assert [each.fill for each in inputs] == [File("sub/table.npy"), Random(0, 9), Random(), Zeros(), None, None]
    assert [each.data for each in inputs] == [None, None, None, None, (7,), None]
    assert found.data_files == ("sub/table.npy",)


def test_inputs_of_functions_have_fills(model: Callable[[str], Model]) -> None:
    found = model("    inputs: {f: [{type: 4xi64, data: {file: ids.npy}}], g: [4xi64]}\n")
    assert {name: inputs[0].fill for name, inputs in found.inputs.items()} == {"f": File("ids.npy"), "g": None}
