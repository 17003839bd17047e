"""Oracle: evaluation equals recordings for real models with dynamic sizes, and no dispatch of them is skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from configured import Configured, dynamic_model
from dispatchgen.extract.extraction import extract
from dispatchgen.extract.program import Program
from dispatchgen.extract.schema import Call
from dispatchgen.iree import ir
from hollow import hollow
from oracle import assert_same

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Model:
    """A model that a package ships."""

    file: str  #: In the folder of packages.
    function: str
    calls: Sequence[Sequence[str]]  #: The inputs of each.
    executables: int
    dispatches: Sequence[int]  #: How many run in each call.


_PADDLE = "Model from PaddlePaddle.$async"
_STATE = "1x1x128xf32"
MODELS = {
    "recogniser": Model(
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
        _PADDLE,
        [["1x3x48x320xf32"], ["5x3x48x1016xf32"]],
        67,
        (98, 98),
    ),
    "angle classifier": Model(
        "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
        "paddle-onnx$async",
        [["1x3x48x192xf32"], ["6x3x32x100xf32"]],
        59,
        (76, 76),
    ),
    # It resizes images: sizes go through floating-point numbers.
    "text detector": Model(
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
        _PADDLE,
        [["1x3x96x160xf32"], ["2x3x320x64xf32"]],
        81,
        (99, 99),
    ),
    # A loop over the windows of a recording.
    "voice activity": Model(
        "silero_vad/data/silero_vad_16k_sequence.onnx",
        "main_graph$async",
        [["1x576xf32", _STATE, _STATE], ["7x576xf32", _STATE, _STATE]],
        23,
        (23, 83),
    ),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_real_model(model: Model, configured: Configured, tmp_path: Path) -> None:
    module = configured.module(dynamic_model(model.file, configured.folder))
    hollow(module, tmp_path / "hollow.mlir")
    compiled = configured.compiled(tmp_path / "hollow.mlir")
    ran = []
    for inputs in model.calls:
        recorded = assert_same(configured, module, model.function, inputs, tmp_path, compiled=compiled)
        ran.append(Counter(each.export for each in recorded))
    assert [counts.total() for counts in ran] == list(model.dispatches)

    names = [f"call{i}" for i in range(len(model.calls))]
    calls = [
        Call(name=name, function=model.function, shape=name, symbols={}, inputs=tuple(inputs))
        for name, inputs in zip(names, model.calls, strict=True)
    ]
    with ir.read_module(module) as operation:
        found = extract(Program(operation), calls, "cpu", None).lock
    # The text angle classifier has a dispatch whose outputs are empty for small images.
    assert {each.reason for each in found.skipped} <= {"its outputs have no elements"}
    idle = {(each.export, call) for each in found.skipped for call in each.calls}
    assert len(found.dispatches) == model.executables
    for dispatch in found.dispatches:
        for name, counts in zip(names, ran, strict=True):
            expected = 0 if (dispatch.export, name) in idle else counts[dispatch.export]
            assert sum(each.counts.get(name) or 0 for each in dispatch.benchmarks) == expected
