"""Cold benchmarks: each run uses the next copy of what its bindings hold."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import support
from configured import Configured
from dispatchgen.buffers.contents import ZEROS, Content, Given
from dispatchgen.extract.data import DataPlan
from dispatchgen.extract.extraction import extract
from dispatchgen.extract.layout import layout_of
from dispatchgen.extract.program import Program
from dispatchgen.extract.rotation import Rotation, rotations_of
from dispatchgen.extract.rotation_emit import pool_operations
from dispatchgen.extract.schema import BackendDispatches, Benchmark, Call, Dispatch
from dispatchgen.iree.ir import read_module
from dispatchgen.manifest.fills import DataSettings, Random
from support import IreeTools

#: Looks elements up; the indices of both shapes lie behind each other in memory if they are the same data.
_PROGRAM = """\
func.func @main(%table: tensor<16xf32>, %ids: tensor<?xi32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %ids, %c0 : tensor<?xi32>
  %empty = tensor.empty(%size) : tensor<?xf32>
  %result = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]
  } ins(%ids : tensor<?xi32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%id: i32, %out: f32):
    %position = arith.index_cast %id : i32 to index
    %found = tensor.extract %table[%position] : tensor<16xf32>
    %twice = arith.addf %found, %found : f32
    linalg.yield %twice : f32
  } -> tensor<?xf32>
  return %result : tensor<?xf32>
}
"""
_TARGETS = {
    "llvm-cpu": ["--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic"],
    "vmvx": ["--iree-hal-local-target-device-backends=vmvx"],
    "vulkan": [],
}
#: Bytes of the bindings of the shape N100: the table, the indices and the result, each a multiple of 256 bytes.
_ONE = 256 + 512 + 512
_COPIES = 5


def _benchmark(name: str, *bindings: int) -> Benchmark:
    return Benchmark(name=name, workload=(), constants=(), bindings=bindings, counts={})


@given(
    lengths=st.lists(st.lists(st.integers(0, 5000), min_size=3, max_size=3), min_size=1, max_size=4),
    held=st.lists(st.sampled_from([ZEROS, Content(given=Given("a", "a", b"a"))]), min_size=3, max_size=3),
    memory=st.integers(1, 60_000),
)
def test_copies_are_disjoint_and_all_used_before_one_is_used_again(
    lengths: list[list[int]], held: list[Content], memory: int
) -> None:
    benchmarks = [_benchmark(f"b{index}", *each) for index, each in enumerate(lengths)]
    layout = layout_of([False, False, True], benchmarks, {each.name: held for each in benchmarks})
    rotations = rotations_of(layout, benchmarks, memory)
    pools = {pool.key: pool for pool in rotations.pools}
    assert len(pools) == len(rotations.pools)
    for benchmark in benchmarks:
        rotation = rotations.of_benchmarks.get(benchmark.name)
        if rotation is None:
            assert sum(-(-length // 256) * 256 for length in benchmark.bindings) >= memory or not any(
                benchmark.bindings
            )
            continue
        of_copy = sum(rotation.strides)
        assert (rotation.copies - 1) * of_copy < memory <= rotation.copies * of_copy
        for ordinal, length in enumerate(benchmark.bindings):
            pool, stride = pools[rotation.pools[ordinal]], rotation.strides[ordinal]
            assert length <= stride < length + 256
            assert rotation.starts[ordinal] + rotation.copies * stride <= pool.size
            # As in the buffer: what lies a page behind a place that was written is slow to read.
            assert rotation.starts[ordinal] == pool.start == layout.offsets_of(benchmark)[ordinal] % 4096
            assert pool.region == layout.regions_of(benchmark)[ordinal]
            if held[ordinal] != ZEROS:
                assert pool.stride == stride  # bytes are where copies begin; zeros are everywhere
    made = pool_operations("@device", rotations.pools)
    assert all(f"%size_{pool.key} = arith.constant {pool.size} : index" in made for pool in rotations.pools)
    # No binding has more than the memory and one copy of the largest benchmark.
    if all(content == ZEROS for content in held):
        assert rotations.size <= 3 * (memory + max(map(max, lengths)) + 256 + 4096)


@given(copies=st.integers(2, 3000))
def test_each_copy_has_its_turn_and_none_follows_its_neighbour(copies: int) -> None:
    step = Rotation(copies, (), (), ()).step
    assert len({index * step % copies for index in range(copies)}) == copies
    assert copies < 8 or 1 < step < copies - 1


@dataclass(frozen=True)
class _Cold:
    """A benchmark module with cold benchmarks, compiled, and a function to look into it."""

    lock: BackendDispatches
    offsets: Mapping[str, Sequence[int]]  #: Of the bindings in the buffer, by benchmark.
    module: Path
    archive: Path
    devices: Sequence[str]
    program: Path

    def copies(self, function: str, calls: Sequence[int], binding: int, device: str) -> bytes:
        """What the copies of a binding hold after calls of a function with these batch sizes."""
        command: list[str | Path] = [self.program, f"--module={self.module}", f"--device={device}"]
        command += [f"--parameters=data={self.archive}", f"--function=look_{function}_{binding}"]
        command += [*(f"--input={batch}" for batch in calls), f"--output=@{self.module.with_suffix('.bin')}"]
        subprocess.run(command, check=True, capture_output=True, timeout=support.TIMEOUT)
        return self.module.with_suffix(".bin").read_bytes()


def _look(function: str, pool: str, binding: int) -> str:
    """A function that calls a benchmark function twice and returns the copies of a binding."""
    return f"""\
util.func public @look_{function}_{binding}(%first: i32, %second: i32) -> !hal.buffer_view
    attributes {{iree.abi.stub}} {{
  util.call @{function}(%first) : (i32) -> ()
  util.call @{function}(%second) : (i32) -> ()
  %buffer = util.global.load @__copies_{pool} : !hal.buffer
  %start = arith.constant 0 : index
  %length = hal.buffer.length<%buffer : !hal.buffer> : index
  %type = hal.element_type<i8> : i32
  %encoding = hal.encoding_type<dense_row_major> : i32
  %view = hal.buffer_view.create buffer(%buffer : !hal.buffer)[%start, %length] shape([%length]) type(%type)
    encoding(%encoding) : !hal.buffer_view
  util.return %view : !hal.buffer_view
}}"""


def _offsets(text: str) -> Mapping[str, Sequence[int]]:
    """Where the bindings of each warm function are in the buffer."""
    functions = re.findall(r"util.func public @(\w+)\((.*?)\n  }", text, re.DOTALL)
    return {
        name: [int(each) for each in re.findall(r"%offset\d = arith.constant (\d+)", body)] for name, body in functions
    }


def _call(size: int) -> Call:
    inputs = ("16xf32", f"{size}xi32")
    return Call(name=f"N{size}", function="main", shape=f"N{size}", symbols={"N": size}, inputs=inputs)


@pytest.fixture(scope="module", params=["llvm-cpu", "vmvx", pytest.param("vulkan", marks=pytest.mark.lavapipe)])
def cold(request: pytest.FixtureRequest, iree_tools: IreeTools, tmp_path_factory: pytest.TempPathFactory) -> _Cold:
    """Two shapes of a program with random data, on each backend."""
    folder = tmp_path_factory.mktemp("cold")
    devices = ["vulkan"] if request.param == "vulkan" else ["local-sync", "local-task"]
    flags = [f"--iree-hal-target-device={'vulkan' if request.param == 'vulkan' else 'local'}"]
    flags += [*_TARGETS[request.param], "--iree-scheduling-optimize-bindings=false"]
    source, configured = folder / "program.mlir", folder / "configured.mlir"
    source.write_text(_PROGRAM)
    command: list[str | Path] = [iree_tools.compile, *flags, source, "-o", configured]
    subprocess.run([*command, "--compile-to=executable-configurations"], check=True, timeout=support.TIMEOUT)
    with read_module(configured) as module:
        found = extract(
            Program(module),
            [_call(100), _call(300)],
            "cpu",
            data=DataPlan(DataSettings(Random())),
            cold_memory=_ONE * _COPIES,
        )
        (text,) = dict(found.modules()).values()
        archive = found.archive(found.lock.dispatches[0])
    assert archive is not None
    (folder / "data.irpa").write_bytes(archive)
    looks = []
    for function, body in re.findall(r"util.func public @(\w+__cold)\((.*?)\n  }", text, re.DOTALL):
        pools = re.findall(r"util.global.load @__copies_(\w+)", body)
        looks += [_look(function, pool, binding) for binding, pool in enumerate(pools)]
    benchmark = folder / "benchmark.mlir"
    benchmark.write_text("\n".join([text.rstrip().removesuffix("}"), *looks, "}\n"]))
    command = [iree_tools.compile, *flags, "--compile-from=executable-configurations", benchmark]
    subprocess.run([*command, "-o", benchmark.with_suffix(".vmfb")], check=True, timeout=support.TIMEOUT)
    return _Cold(
        found.lock, _offsets(text), benchmark.with_suffix(".vmfb"), folder / "data.irpa", devices, iree_tools.run_module
    )


@pytest.mark.parametrize(("size", "copies"), [(100, _COPIES), (300, 3)])
def test_dispatches_run_on_copy_after_copy(cold: _Cold, size: int, copies: int) -> None:
    dispatch = cold.lock.dispatches[0]
    (benchmark,) = [each for each in dispatch.benchmarks if each.bindings.count(size * 4) == 2]
    assert benchmark.cold is not None
    of_table, of_result = benchmark.bindings.index(64), dispatch.written.index(True)
    (of_ids,) = {0, 1, 2} - {of_table, of_result}
    stride = -(-size * 4 // 256) * 256
    for device in cold.devices:
        held = [
            cold.copies(benchmark.cold, [2, 1], binding, device)[cold.offsets[benchmark.name][binding] % 4096 :]
            for binding in range(3)
        ]
        table, ids = held[of_table][:64], held[of_ids][: size * 4]
        assert all(held[of_table][copy * 256 :][:64] == table for copy in range(copies))
        assert all(held[of_ids][copy * stride :][: size * 4] == ids for copy in range(copies))
        positions = np.frombuffer(ids, np.int32)
        assert positions.min() >= 0 and positions.max() < 16 and len(set(positions)) > 8
        expected = (np.frombuffer(table, np.float32)[positions] * np.float32(2)).tobytes()
        used = {index * Rotation(copies, (), (), ()).step % copies for index in range(3)}
        for copy in range(copies):
            found = held[of_result][copy * stride :][: size * 4]
            assert found == (expected if copy in used else bytes(size * 4))


def test_all_functions_are_measured_by_a_plain_run(cold: _Cold, iree_tools: IreeTools) -> None:
    """As the tests of CMake and Bazel run modules."""
    command: list[str | Path] = [iree_tools.benchmark_module, f"--module={cold.module}", "--batch_size=4"]
    command += [f"--device={cold.devices[0]}", f"--parameters=data={cold.archive}"]
    command += ["--benchmark_min_time=3x", "--benchmark_format=json"]
    result = subprocess.run(command, check=True, capture_output=True, text=True, timeout=support.TIMEOUT)
    names = [each["name"].removeprefix("BM_").split("/")[0] for each in json.loads(result.stdout)["benchmarks"]]
    assert sorted(names) == sorted(cold.lock.dispatches[0].functions)


@pytest.fixture(scope="module")
def lookup(configured: Configured) -> Path:
    """The configured module of the program."""
    source = configured.folder / "lookup.mlir"
    source.write_text(_PROGRAM)
    return configured.module(source)


def _extracted(lookup: Path, memory: int | None) -> tuple[Dispatch, str]:
    """The dispatch at one shape, and its module."""
    with read_module(lookup) as module:
        found = extract(Program(module), [_call(64)], "cpu", cold_memory=memory)
        return found.lock.dispatches[0], dict(found.modules())[found.lock.dispatches[0].name]


def test_bindings_that_are_larger_than_the_memory_have_no_copies(lookup: Path) -> None:
    dispatch, text = _extracted(lookup, 256)
    (benchmark,) = dispatch.benchmarks
    assert benchmark.cold == f"{benchmark.name}__cold"
    assert "__copies" not in text
    warm, cold = (text.split(f"@{name}(")[1].split("\n  }\n")[0] for name in dispatch.functions)
    assert warm == cold


def test_names_of_cold_functions_are_free(lookup: Path) -> None:
    calls = [_call(64).model_copy(update={"name": "a", "shape": "a"}), _call(65).model_copy(update={"name": "a__cold"})]
    with read_module(lookup) as module:
        lock = extract(Program(module), calls, "cpu", cold_memory=1 << 20).lock
    (dispatch,) = lock.dispatches
    assert dispatch.functions == [f"{dispatch.name}__{end}" for end in ("a", "a__cold", "a__cold_2", "a__cold__cold")]


def test_all_else_of_a_module_stays_as_it_is(lookup: Path) -> None:
    dispatch, text = _extracted(lookup, None)
    with_cold, cold_text = _extracted(lookup, 1 << 20)
    benchmarks = tuple(each.model_copy(update={"cold": None}) for each in with_cold.benchmarks)
    assert dispatch == with_cold.model_copy(update={"benchmarks": benchmarks})
    assert "__cold" not in text and "__cop" not in text
    lines = iter(cold_text.splitlines())
    assert all(line in lines for line in text.splitlines())  # in their order
