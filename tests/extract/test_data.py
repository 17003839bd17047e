"""What bindings and inputs hold: fills, inputs and kernels put together, on modules by the real compiler."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import support
from configured import Configured
from dispatchgen.buffers.encoding import Numbers
from dispatchgen.errors import DataError
from dispatchgen.extract.data import DataPlan
from dispatchgen.extract.extraction import Extraction, extract
from dispatchgen.extract.program import Program
from dispatchgen.extract.schema import Call
from dispatchgen.extract.sizes import Sizes
from dispatchgen.iree import ir
from dispatchgen.manifest.data_sections import FillItem, FillSection
from dispatchgen.manifest.fills import BindingFill, DataSettings, File, Fill, Random, Recorded, Splat, Zeros

#: What binds what in the only dispatch of `embed.mlir`.
_TABLE, _IDS, _RESULT = range(3)
_FILES = {
    "ids.npy": np.array([[3, 999, 0, 7]]),
    "wrong.npy": np.array([[3, 1000, 0, 7]]),
    "other.npy": np.array([3, 9, 0, 7]),
    "table.npy": np.ones((1000, 256), "f4"),
}


def embed(name: str, *lengths: int, ids: str = "", fills: dict[int, FillItem] | None = None) -> Call:
    """A call of `embed.mlir`: `ids` are behind the type of the input, or its name in `fills` stands for them."""
    dims = "x".join(map(str, lengths))
    inputs = (f"{dims}xi64" + (f"={ids}" if ids else f"=@{name}.input0.bin" if fills else ""), "1000x256xf32")
    return Call(name=name, function="main", shape=name, symbols={}, inputs=inputs, fills=fills or {})


def read(path: str) -> Numbers:
    """The files that tests name."""
    if path not in _FILES:
        raise ValueError("there is none")
    return _FILES[path]


def plan(*bindings: BindingFill, default: Fill | None = None) -> DataPlan:
    return DataPlan(DataSettings(default or Zeros(), bindings), read)


@pytest.fixture(scope="module")
def program(configured: Configured, models_dir: Path) -> Iterator[Program]:
    with ir.read_module(configured.module(models_dir / "embed.mlir")) as module:
        yield Program(module)


def words(program: Program, data: DataPlan, *calls: Call) -> list[tuple[str, ...]]:
    """What the bindings hold at each of the calls."""
    (dispatch,) = extract(program, calls, "cpu", data=data).lock.dispatches
    return [benchmark.data for benchmark in dispatch.benchmarks]


def numbers(found: Extraction, binding: int, benchmark: int = 0) -> list[int]:
    """The integers that a binding holds."""
    (dispatch,) = found.lock.dispatches
    each = dispatch.benchmarks[benchmark]
    content = found.held.bindings[dispatch.name][each.name][binding]
    return [int(number) for number in np.frombuffer(content.data(each.bindings[binding]), "<i8")]


def test_nothing_said_is_zeros(program: Program) -> None:
    found = extract(program, [embed("a", 1, 4)], "cpu", data=plan())
    (dispatch,) = found.lock.dispatches
    assert (dispatch.archive, [each.data for each in dispatch.benchmarks]) == (False, [()])
    assert found.archive(dispatch) is None


def test_the_default_is_of_what_is_only_read(program: Program) -> None:
    (held,) = words(program, plan(default=Random(seed=2)), embed("a", 1, 4))
    assert held == ("random f32, seed 2", "random positions from 0 to 999, seed 2", "zeros")


def test_bindings_by_name_operation_and_pattern(program: Program) -> None:
    for text in ("elementwise_broadcast_Dx256_i64xf32", "main_dispatch_0", "elementwise_*"):
        data = plan(BindingFill(text, _IDS, Splat(7)), BindingFill(text, _RESULT, Splat(1.5)), default=Random())
        assert words(program, data, embed("a", 1, 4)) == [("random f32, seed 0", "7 everywhere", "1.5 everywhere")]


def test_the_last_of_several_counts(program: Program) -> None:
    data = plan(BindingFill("*", _IDS, Splat(7)), BindingFill("elementwise_*", _IDS, Splat(8)))
    assert words(program, data, embed("a", 1, 4)) == [("zeros", "8 everywhere", "zeros")]


def test_fills_that_name_nothing_are_told(program: Program) -> None:
    missing = BindingFill("matmul_*", 0, Random())
    found = extract(program, [embed("a", 1, 4)], "cpu", data=plan(missing, BindingFill("*", 0, Random())))
    assert found.held.unused == (missing,)


def test_bindings_that_read_an_input_hold_what_it_holds(program: Program) -> None:
    calls = [embed("a", 1, 4, fills={0: "random"}), embed("b", 2, 64, fills={0: "random"})]
    found = extract(program, calls, "cpu", data=plan(default=Splat(1.5)))
    (dispatch,) = found.lock.dispatches
    ids = "input 0: random positions from 0 to 999, seed 0"
    assert [each.data for each in dispatch.benchmarks] == 2 * [("1.5 everywhere", ids, "zeros")]
    assert found.held.files.keys() == {"a.input0.bin", "b.input0.bin"}
    long = found.held.files["b.input0.bin"]
    assert len(long) == 2 * 64 * 8
    assert numbers(found, _IDS, 1) == list(np.frombuffer(long, "<i8"))
    assert long.startswith(found.held.files["a.input0.bin"]), "all shapes share the beginning"
    assert all(0 <= number < 1000 for number in numbers(found, _IDS, 1))
    assert len(set(numbers(found, _IDS, 1))) > 100


def test_values_of_inputs(program: Program) -> None:
    calls = [embed("a", 1, 4, ids="1 2 3 4"), embed("b", 2, 4, ids="5")]
    found = extract(program, calls, "cpu", data=plan())
    (dispatch,) = found.lock.dispatches
    held = [each.data[_IDS] for each in dispatch.benchmarks]
    assert held == ["input 0: as given", "input 0: 5 everywhere"]
    assert [numbers(found, _IDS, i) for i in range(2)] == [[1, 2, 3, 4], 8 * [5]]


def test_zeros_of_an_input_are_not_the_default(program: Program) -> None:
    assert words(program, plan(default=Random()), embed("a", 1, 4, fills={0: "zeros"})) == [
        ("random f32, seed 0", "input 0: zeros", "zeros")
    ]


def test_files(program: Program) -> None:
    for data, call in (
        (plan(BindingFill("*", _IDS, File("ids.npy"))), embed("a", 1, 4)),
        (plan(), embed("a", 1, 4, fills={0: FillSection(file="ids.npy")})),
    ):
        found = extract(program, [call], "cpu", data=data)
        assert numbers(found, _IDS) == [3, 999, 0, 7]
        assert found.lock.dispatches[0].benchmarks[0].data[_IDS].endswith("ids.npy")


@pytest.mark.parametrize(
    ("data", "calls", "message"),
    [
        (
            plan(BindingFill("*", _IDS, File("wrong.npy"))),
            [embed("a", 1, 4)],
            "wrong.npy: element 1 is 1000, the kernel needs positions from 0 to 999",
        ),
        (
            plan(),
            [embed("a", 1, 4, fills={0: FillSection(file="wrong.npy")})],
            "input 0: wrong.npy: element 1 is 1000, the kernel needs positions from 0 to 999",
        ),
        (plan(), [embed("a", 1, 4, ids="1 2 3 1000")], "input 0: element 3 is 1000, the kernel needs"),
        (plan(), [embed("a", 1, 4, ids="-1")], "input 0: -1 is out of bounds: the kernel needs"),
        (plan(), [embed("a", 1, 4, fills={0: FillSection(file="other.npy")})], "its shape is 4; 1x4 is needed"),
        (plan(), [embed("a", 1, 4, fills={0: FillSection(file="none.npy")})], "none.npy: there is none"),
        (plan(BindingFill("*", _IDS, File("ids.npy"))), [embed("a", 2, 4)], "it has 32 bytes; the binding has 64"),
        (plan(BindingFill("*", _TABLE, File("ids.npy"))), [embed("a", 1, 4)], "its elements are int64; f32 needs"),
        (plan(BindingFill("*", _IDS, Random(0, 1000))), [embed("a", 1, 4)], "1000 is out of bounds"),
        (plan(BindingFill("*", 3, Random())), [embed("a", 1, 4)], "has no binding 3: it has 3"),
    ],
)
def test_what_does_not_fit_is_refused(program: Program, data: DataPlan, calls: list[Call], message: str) -> None:
    with pytest.raises(DataError, match=message):
        extract(program, calls, "cpu", data=data)


def test_all_that_is_wrong_is_told_at_once(program: Program) -> None:
    data = plan(BindingFill("*", _IDS, Splat(-5)), BindingFill("*", 7, Zeros()))
    with pytest.raises(DataError) as raised:
        extract(program, [embed("a", 1, 4, ids="-1")], "cpu", data=data)
    assert len(raised.value.problems) == 3


def test_what_was_recorded_is_held(program: Program) -> None:
    ids = np.array([5, 6, 7, 8], "<i8").tobytes()
    asked: list[tuple[str, str, int]] = []

    def recorded(executable: str, export: str, sizes: Sizes, binding: int) -> bytes | None:
        asked.append((executable, export, binding))
        return ids if binding == _IDS and sizes.bindings[_IDS] == 32 else None

    data = DataPlan(DataSettings(Recorded()), read, recorded)
    held = words(program, data, embed("a", 1, 4), embed("b", 1, 5))
    assert held == [
        ("zeros (no recording holds it)", "recorded", "zeros"),
        2 * ("zeros (no recording holds it)",) + ("zeros",),
    ]
    assert asked[0] == ("main_dispatch_0", "main_dispatch_0_elementwise_broadcast_Dx256_i64xf32", _TABLE)


def test_functions_of_any_size_find_what_fits_all_sizes(program: Program) -> None:
    """A file of a constant size, and positions in a table of a constant size."""
    symbols = {"B": 1, "S": 4}
    call = embed("a", 1, 4).model_copy(update={"symbols": symbols, "symbolic": ("BxSxi64", "1000x256xf32")})
    data = plan(BindingFill("*", _TABLE, File("table.npy")), BindingFill("*", _IDS, Random()))
    (dispatch,) = extract(program, [call], "cpu", data=data).lock.dispatches
    held = ("table.npy", "random positions from 0 to 999, seed 0", "zeros")
    assert [each.data for each in dispatch.benchmarks] == [held]
    assert [each.data for each in dispatch.parameterized] == [held]


@pytest.mark.parametrize("data", [DataSettings(Recorded()), DataSettings(Zeros(), (BindingFill("*", 1, Recorded()),))])
def test_what_was_recorded_is_checked(program: Program, data: DataSettings) -> None:
    def recorded(executable: str, export: str, sizes: Sizes, binding: int) -> bytes | None:  # noqa: ARG001
        return np.array([5, 6, 1000, 8], "<i8").tobytes() if binding == _IDS else None

    message = "binding 1 of elementwise_broadcast_Dx256_i64xf32__a: recorded: element 2 is 1000, the kernel needs pos"
    with pytest.raises(DataError, match=message):
        extract(program, [embed("a", 1, 4)], "cpu", data=DataPlan(data, read, recorded))


def run(configured: Configured, found: Extraction, folder: Path) -> list[str]:
    """Compiles and runs the only benchmark module; returns the names of what ran."""
    ((name, text),) = found.modules()
    (folder / f"{name}.mlir").write_text(text)
    command: list[str | Path] = [
        configured.tools.benchmark_module,
        f"--module={configured.compiled(folder / f'{name}.mlir')}",
    ]
    command += ["--device=local-sync", "--benchmark_min_time=1x", f"--benchmark_out={folder / 'out.json'}"]
    (dispatch,) = found.lock.dispatches
    archive = found.archive(dispatch)
    if archive is not None:
        (folder / "data.irpa").write_bytes(archive)
        command.append(f"--parameters=data={folder / 'data.irpa'}")
    subprocess.run(command, check=True, capture_output=True, timeout=support.TIMEOUT)
    rows = json.loads((folder / "out.json").read_text())["benchmarks"]
    assert not any(row.get("error_occurred") for row in rows)
    return [row["name"].split("/")[0].removeprefix("BM_") for row in rows]


@pytest.mark.parametrize("data", [plan(), plan(default=Random()), plan(BindingFill("*", _IDS, Splat(999)))])
def test_gathers_run(data: DataPlan, program: Program, configured: Configured, tmp_path: Path) -> None:
    found = extract(program, [embed("a", 1, 4), embed("b", 2, 64)], "cpu", data=data)
    assert run(configured, found, tmp_path) == [each.name for each in found.lock.dispatches[0].benchmarks]


def check_other_sizes(program: Program, ids: int) -> None:
    """What functions of any size find of data that the only listed shape has: nothing that a smaller table lacks."""
    call = Call(
        name="a",
        function="main",
        shape="a",
        symbols={"I": 4, "V": 10},
        inputs=("4xi64=@ids", "10x8xf32"),
        symbolic=("Ixi64", "Vx8xf32"),
    )
    zeros = "zeros (the data fit listed shapes only)"
    for data, fill, held, elsewhere in (
        (plan(default=Random()), None, "random positions from 0 to 9, seed 0", zeros),
        (plan(BindingFill("*", ids, File("other.npy"))), None, "other.npy", zeros),
        (plan(BindingFill("*", ids, Splat(3))), None, "3 everywhere", zeros),
        (plan(), FillSection(file="other.npy"), "input 0: other.npy", zeros),
        (plan(), FillSection(random=[0, 5]), "input 0: random i64 from 0 to 5, seed 0", zeros),
        (plan(BindingFill("*", ids, Zeros())), None, "zeros", "zeros"),
    ):
        found = extract(program, [call.model_copy(update={"fills": {0: fill} if fill else {}})], "cpu", data=data)
        (dispatch,) = found.lock.dispatches
        ((benchmark,), (function,)) = dispatch.benchmarks, dispatch.parameterized
        assert [(each or 3 * ("zeros",))[ids] for each in (benchmark.data, function.data)] == [held, elsewhere]
        # The table may be any floats at any size.
        assert [text for text in benchmark.data if "f32" in text] == [text for text in function.data if "f32" in text]


def test_positions_are_bounded_by_the_shape(configured: Configured, models_dir: Path, tmp_path: Path) -> None:
    """Where the gathered dim is dynamic, each shape has positions of its own, and a region of its own."""
    sizes = {"small": (40, 5), "same": (30, 5), "large": (300, 200)}
    calls = [
        Call(name=name, function="main", shape=name, symbols={}, inputs=(f"{ids}xi64", f"{rows}x8xf32"))
        for name, (ids, rows) in sizes.items()
    ]
    with ir.read_module(configured.module(models_dir / "table.mlir")) as module:
        found = extract(Program(module), calls, "cpu", data=plan(default=Random()))
        (dispatch,) = found.lock.dispatches
        binding = next(i for i, text in enumerate(dispatch.benchmarks[0].data) if "positions" in text)
        held = [numbers(found, binding, i) for i in range(3)]
        assert set(held[0]) == set(held[1]) == set(range(5))
        assert held[0][:30] == held[1]
        assert 150 < max(held[2]) < 200
        check_other_sizes(Program(module), binding)
        assert run(configured, found, tmp_path) == [each.name for each in dispatch.benchmarks]
