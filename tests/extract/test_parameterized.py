"""Functions that take sizes, against evaluation of the program and against recorded runs of the benchmark modules."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from configured import Configured, dynamic_model
from dispatchgen.extract.calls import calls_of
from dispatchgen.extract.data import DataPlan
from dispatchgen.extract.extraction import Extraction, extract
from dispatchgen.extract.parameterized import AnySize, any_size
from dispatchgen.extract.parameterized_shapes import ModuleShapes
from dispatchgen.extract.program import Program
from dispatchgen.extract.recorded import Recorded
from dispatchgen.extract.schema import Benchmark, Call, Dispatch
from dispatchgen.extract.sizes import sizes_of
from dispatchgen.iree import ir
from dispatchgen.manifest.fills import DataSettings, Random
from dispatchgen.manifest.inputs import parse_input
from dispatchgen.manifest.suite import Input, Model, Shape, Source
from recording import RecordedDispatch, record
from support import REPOSITORY, TIMEOUT

pytestmark = pytest.mark.main_path

Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Case:
    """A program with its inputs, the shapes that are listed, and others within their limits."""

    program: str
    inputs: Sequence[str]
    listed: Sequence[Sizes]
    others: Sequence[Sizes]
    parameterized: Mapping[str, int]  #: How many functions each dispatch has.


CASES = [
    Case(
        "mlp",
        ["Bx64xf32", "64x128xf32", "128x32xf32"],
        [{"B": 1}, {"B": 42}],
        [{"B": 7}, {"B": 41}],
        {"matmul_Dx128x64_f32": 1, "matmul_Dx32x128_f32": 1},
    ),
    Case(
        "multi",
        ["BxSx32xf32", "BxTx32xf32", "Nxf32"],
        [{"B": 2, "S": 24, "T": 40, "N": 57}, {"B": 1, "S": 300, "T": 9, "N": 3}],
        [{"B": 1, "S": 33, "T": 21, "N": 48}, {"B": 2, "S": 20, "T": 11, "N": 1}],
        {"matmul_like_DxDxDx32_f32": 1, "elementwise_broadcast_DxD_f32": 1},
    ),
    Case(
        "ctrl",
        ["Px64xf32", "Qx64xf32", "index=N"],
        [{"P": 130, "Q": 7, "N": 3}, {"P": 5, "Q": 9, "N": 1}],
        [{"P": 129, "Q": 8, "N": 2}, {"P": 4, "Q": 3, "N": 1}],
        {"matmul_Dx64x64_f32": 2, "elementwise_D_f32": 1, "elementwise_broadcast_D_f32": 0},
    ),
    Case(
        "assume",
        ["BxSx64xf32", "64x128xf32"],
        [{"B": 3, "S": 48}, {"B": 8, "S": 256}],
        [{"B": 5, "S": 112}, {"B": 1, "S": 16}],
        {"matmul_like_Dx128x64_f32": 1},
    ),
    Case(
        "torchsym",
        ["BxSx64xf32", "64x128xf32"],
        [{"B": 3, "S": 48}, {"B": 8, "S": 256}],
        [{"B": 5, "S": 112}],
        {"matmul_Dx128x64_f32": 1},
    ),
    Case(
        "merge",
        ["Ax256xf32", "Ax256xf32", "index=K", "index=L"],
        [{"A": 6, "K": 64, "L": 128}],
        [{"A": 5, "K": 60, "L": 100}],
        {"elementwise_Dx64_f32": 2},
    ),
]


def calls_at(program: Program, case: Case, shapes: Sequence[Sizes]) -> tuple[Call, ...]:
    """The calls of a case's program at these shapes."""
    shapes_ = tuple(Shape("_".join(f"{k}{v}" for k, v in each.items()), each) for each in shapes)
    inputs: dict[str | None, tuple[Input, ...]] = {None: tuple(parse_input(text) for text in case.inputs)}
    return calls_of(program, Model("m", "m", Source("m.mlir", "mlir"), inputs=inputs, shapes=shapes_))


@dataclass(frozen=True)
class Extracted:
    """A program that is open, with what is extracted at the listed shapes."""

    case: Case
    program: Program
    calls: tuple[Call, ...]
    extraction: Extraction

    @property
    def dispatches(self) -> Sequence[Dispatch]:
        return self.extraction.lock.dispatches

    @property
    def functions(self) -> Mapping[str, AnySize]:
        return any_size(self.program, self.calls, self.dispatches)

    def ran(self, sizes: Sizes) -> dict[str, list[Benchmark]]:
        """What evaluation finds at other sizes, by the dispatch's name."""
        calls = calls_at(self.program, self.case, [sizes])
        found = extract(self.program, calls, "cpu", self.extraction.lock).lock
        return {each.name: list(each.benchmarks) for each in found.dispatches}


def open_case(case: Case, configured: Configured, source: Path) -> Iterator[Extracted]:
    with ir.read_module(configured.module(source)) as module:
        program = Program(module)
        calls = calls_at(program, case, case.listed)
        yield Extracted(case, program, calls, extract(program, calls, "cpu"))


@pytest.fixture(params=CASES, ids=lambda case: case.program)
def extracted(request: pytest.FixtureRequest, configured: Configured, models_dir: Path) -> Iterator[Extracted]:
    if request.param.program == "ctrl" and configured.tools.version < (3, 13):
        pytest.skip("IREE 3.12 itself cannot run this program: OUT_OF_RANGE in hal.device.queue.execute")
    yield from open_case(request.param, configured, models_dir / f"{request.param.program}.mlir")


def test_dispatches_say_what_functions_they_have(extracted: Extracted) -> None:
    assert {each.name: len(each.parameterized) for each in extracted.dispatches} == extracted.case.parameterized
    symbols = tuple(extracted.case.listed[0])
    for dispatch in extracted.dispatches:
        assert all(each.symbols == symbols for each in dispatch.parameterized)
        counter = "its sizes depend on the mutable global @counter"
        assert dispatch.unparameterized == (None if dispatch.parameterized else counter)


def test_functions_give_what_evaluation_gives(extracted: Extracted) -> None:
    for sizes in (*extracted.case.listed, *extracted.case.others):
        ran = extracted.ran(sizes)
        for name, found in extracted.functions.items():
            if found.functions:
                given = {each.function.sizes(sizes) for each in found.functions}
                # A function is also of a place that does not run, or has nothing to write, at these sizes.
                assert {sizes_of(each) for each in ran.get(name, ())} <= given
                assert len(given) <= len(found.functions)


def test_modules_run_them_as_the_listed_functions(extracted: Extracted, configured: Configured, tmp_path: Path) -> None:
    """At listed shapes; at others, with the constants and lengths that evaluation finds."""
    others = [extracted.ran(sizes) for sizes in extracted.case.others]
    for dispatch, module in compiled(extracted, configured):
        at = Recorder(configured, dispatch, module, tmp_path)
        for benchmark in dispatch.benchmarks:
            listed = at.run(benchmark.name)
            assert [listed.lengths, listed.constants] == [benchmark.bindings, tuple(v for _, v in benchmark.constants)]
            for call in extracted.calls:
                assert call.name not in benchmark.counts or listed in at.sizes(call.symbols)
        for sizes, ran in zip(extracted.case.others, others, strict=True):
            found = {(each.constants, each.lengths) for each in at.sizes(sizes)}
            assert {(tuple(v for _, v in each.constants), each.bindings) for each in ran[dispatch.name]} <= found


def compiled(extracted: Extracted, configured: Configured) -> Iterator[tuple[Dispatch, Path]]:
    """The dispatches that have functions which take sizes, with their compiled benchmark modules."""
    texts = dict(extracted.extraction.modules())
    for dispatch in extracted.dispatches:
        if dispatch.parameterized:
            module = configured.folder / f"{extracted.case.program}.{dispatch.name}.mlir"
            module.write_text(texts[dispatch.name])
            yield dispatch, configured.compiled(module)


@dataclass(frozen=True)
class Recorder:
    """Runs the functions of a benchmark module under recording."""

    configured: Configured
    dispatch: Dispatch
    module: Path
    folder: Path

    def run(self, function: str, *sizes: int) -> RecordedDispatch:
        """What a function dispatches."""
        inputs = ["1", *map(str, sizes)]
        (found,) = record(self.configured.tools, self.module, function, inputs, self.folder / "run.ireereplay")
        return found

    def sizes(self, sizes: Sizes) -> list[RecordedDispatch]:
        """What the functions that take sizes dispatch."""
        functions = self.dispatch.parameterized
        return [self.run(each.name, *(sizes[symbol] for symbol in each.symbols)) for each in functions]


@pytest.mark.parametrize("extracted", [CASES[3]], indirect=True, ids=["assume"])
def test_what_is_not_allowed_is_refused(extracted: Extracted, configured: Configured) -> None:
    ((dispatch, module),) = compiled(extracted, configured)

    def refusal(batch: int, length: int) -> str:
        command: list[str | Path] = [configured.tools.run_module, f"--module={module}", "--device=local-sync"]
        command += [
            f"--function={dispatch.parameterized[0].name}",
            "--input=1",
            f"--input={batch}",
            f"--input={length}",
        ]
        result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
        assert result.returncode != 0
        return result.stderr

    beyond = f"OUT_OF_RANGE; {dispatch.name}: "
    assert f"{beyond}B is not between 0 and 8, the largest size that is listed" in refusal(9, 16)
    assert f"{beyond}B is not between 0 and 8, the largest size that is listed" in refusal(-1, 16)
    assert f"{beyond}S is not between 0 and 256, the largest size that is listed" in refusal(1, 272)
    assert "dim 0 of input 0 is not what the program assumes: 1 to 8" in refusal(0, 16)
    assert "dim 1 of input 0 is not what the program assumes: 16 to 4096, a multiple of 16" in refusal(1, 24)


@pytest.mark.parametrize("extracted", [CASES[1]], indirect=True, ids=["multi"])
def test_sizes_beyond_the_buffer_are_refused(extracted: Extracted, configured: Configured, tmp_path: Path) -> None:
    dispatch, module = next(compiled(extracted, configured))
    with pytest.raises(subprocess.CalledProcessError) as raised:
        Recorder(configured, dispatch, module, tmp_path).run(dispatch.parameterized[0].name, 2, 300, 9, 3)
    text = raised.value.stderr.decode()
    assert f"OUT_OF_RANGE; {dispatch.name}: binding 0 takes more than 38400 bytes, the most that a listed shape" in text


@pytest.mark.parametrize("extracted", [CASES[2]], indirect=True, ids=["ctrl"])
def test_modules_tell_what_they_have(extracted: Extracted, configured: Configured) -> None:
    dispatch, module = next(compiled(extracted, configured))
    shapes = ModuleShapes.model_validate(query(module))
    assert [(each.name, each.label, each.symbols) for each in shapes.functions] == [
        (f"{dispatch.name}__{label}", label, {"P": sizes["P"], "Q": sizes["Q"]})
        for sizes in extracted.case.listed
        for label in ("P{P}_Q{Q}_N{N}".format(**sizes), "P{P}_Q{Q}_N{N}_2".format(**sizes))
    ]
    assert (shapes.version, shapes.dispatch, shapes.unparameterized) == (1, dispatch.name, None)
    assert [(each.name, each.symbols, each.limits) for each in shapes.parameterized] == [
        (f"{dispatch.name}__dims", ("P", "Q", "N"), {"P": 130}),
        (f"{dispatch.name}__dims_2", ("P", "Q", "N"), {"Q": 9}),
    ]
    assert shapes.capacities == (130 * 64 * 4, 64 * 64 * 4, 130 * 64 * 4)


def query(module: Path) -> dict[str, object]:
    """What `@__shapes` of a module returns, read as the documentation says."""
    page = (REPOSITORY / "docs" / "any-size.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    path = 'Path("matmul_Dx512x784_f32.vmfb")'
    assert path in snippet
    names: dict[str, object] = {}
    exec(snippet.replace(path, f"Path({str(module)!r})"), names)
    found: dict[str, object] = json.loads(str(names["text"]))
    return found


def test_modules_of_data_tell_it_too(configured: Configured, models_dir: Path) -> None:
    for extracted in open_case(CASES[0], configured, models_dir / "mlp.mlir"):
        plan = DataPlan(DataSettings(Random()))
        found = extract(extracted.program, extracted.calls, "cpu", extracted.extraction.lock, data=plan)
        name, text = next(found.modules())
        archive = found.archive(found.lock.dispatches[0])
        assert archive is not None
        source = configured.folder / f"random.{name}.mlir"
        source.write_text(text)
        module = configured.compiled(source)
        module.with_suffix(".irpa").write_bytes(archive)
        assert query(module)["dispatch"] == name


def test_a_function_that_evaluation_does_not_bear_out_is_refused(configured: Configured, models_dir: Path) -> None:
    """At one of two calls there are other sizes than the function's."""
    for extracted in open_case(CASES[0], configured, models_dir / "mlp.mlir"):
        dispatch = extracted.dispatches[0]
        other = dispatch.model_copy(update={"benchmarks": dispatch.benchmarks[:1]})
        found = any_size(extracted.program, extracted.calls, [other])[dispatch.name]
        reason = "its arithmetic gives other sizes than evaluation of the program does"
        assert (list(found.functions), found.reason) == ([], reason)


def test_calls_with_nothing_to_write_show_nothing(configured: Configured, models_dir: Path) -> None:
    case = replace(CASES[0], listed=[{"B": 0}, {"B": 42}])
    for extracted in open_case(case, configured, models_dir / "mlp.mlir"):
        assert {each.name: len(each.parameterized) for each in extracted.dispatches} == case.parameterized


def test_modules_of_profiles_alone_say_so(configured: Configured, models_dir: Path) -> None:
    for extracted in open_case(CASES[0], configured, models_dir / "mlp.mlir"):
        first = extracted.dispatches[0]
        counts = {(first.executable, first.export): {sizes_of(first.benchmarks[0]): 3}}
        profile = Call(name="day", function="", shape="day", symbols={}, inputs=(), profile="day.json")
        found = extract(extracted.program, [profile], "cpu", recorded={"day": Recorded(counts)})
        (dispatch,) = found.lock.dispatches
        assert dispatch.unparameterized == "its sizes are those of profiles, and no shape is listed"
        ((_, text),) = found.modules()
        assert "\\22parameterized\\22:[]" in text or '\\"parameterized\\":[]' in text


def test_a_plain_run_leaves_them_out(configured: Configured, models_dir: Path) -> None:
    for extracted in open_case(CASES[0], configured, models_dir / "mlp.mlir"):
        _, module = next(compiled(extracted, configured))
        command: list[str | Path] = [configured.tools.benchmark_module, f"--module={module}", "--device=local-sync"]
        command += ["--benchmark_min_time=1x", "--benchmark_format=json"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=True)
        names = [each["name"] for each in json.loads(result.stdout)["benchmarks"]]
        assert [name.split("/")[0] for name in names] == ["BM_matmul_Dx128x64_f32__B1", "BM_matmul_Dx128x64_f32__B42"]


@pytest.mark.parametrize("extracted", [CASES[1]], indirect=True, ids=["multi"])
def test_a_shape_that_gives_no_other_sizes_changes_no_module(extracted: Extracted) -> None:
    """Or all would be compiled again for it."""
    more = [{**extracted.case.listed[0], "T": 5}, *extracted.case.listed]
    calls = calls_at(extracted.program, extracted.case, more)
    after = dict(extract(extracted.program, calls, "cpu", extracted.extraction.lock).modules())
    before = dict(extracted.extraction.modules())
    assert {name for name, text in after.items() if text != before[name]} == {"matmul_like_DxDxDx32_f32"}


def test_static_dispatches_have_none(configured: Configured, models_dir: Path) -> None:
    case = Case("mlp", ["4x64xf32", "64x128xf32", "128x32xf32"], [{}], [], {})
    for extracted in open_case(case, configured, models_dir / "mlp.mlir"):
        assert extracted.functions == {}
        assert all("__shapes" not in text for _, text in extracted.extraction.modules())


@pytest.mark.slow
def test_magika(configured: Configured, magika: Path, tmp_path: Path) -> None:
    case = Case("magika", ["Nx2048xi32"], [{"N": 1}, {"N": 6}], [], {})
    for extracted in open_case(case, configured, magika):
        assert [len(each.parameterized) for each in extracted.dispatches] == [1] * 13
        test_functions_give_what_evaluation_gives(extracted)
        test_modules_run_them_as_the_listed_functions(extracted, configured, tmp_path)


@pytest.mark.slow
def test_a_model_with_sizes_of_many_kinds(configured: Configured) -> None:
    """The text-angle classifier: 59 dispatches, of heights and widths that strided convolutions halve."""
    source = dynamic_model("rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx", configured.folder)
    listed = [{"N": 1, "H": 48, "W": 192}, {"N": 6, "H": 32, "W": 100}]
    case = Case("classifier", ["Nx3xHxWxf32"], listed, [{"N": 3, "H": 40, "W": 150}], {})
    for extracted in open_case(case, configured, source):
        assert sum(bool(each.parameterized) for each in extracted.dispatches) == 59
        test_functions_give_what_evaluation_gives(extracted)
