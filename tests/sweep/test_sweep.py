"""Sweeps of small models with the real compiler and runtime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import iree.compiler
import pytest
from rich.console import Console

from dispatchgen.errors import CheckFailed, DispatchgenError, ModelError, SubstitutionError
from dispatchgen.manifest import load_suite
from dispatchgen.manifest.select import select
from dispatchgen.observer import Show
from dispatchgen.sweep.compiled import Compiled, Compiler
from dispatchgen.sweep.schema import Curve, Sweep
from dispatchgen.sweep.sweep import Options, run_sweep
from dispatchgen.sweep.table import render

MATMUL = "matmul_Dx128x64_f32"


@dataclass
class Log:
    """An observer that keeps what it is told."""

    shown: list[str] = field(default_factory=list)

    @contextmanager
    def stage(self, title: str) -> Iterator[Show]:
        def show(done: int, total: int | None, what: str) -> None:
            self.shown.append(f"{title} {done}/{total} {what}")

        yield show

    def say(self, text: str) -> None:
        self.shown.append(text)


def sweep_of(
    folder: Path,
    model: str,
    dispatch: str,
    dims: Sequence[str],
    backend: str = "cpu",
    log: Log | None = None,
    **options: Any,
) -> Sweep:
    """Sweeps a dispatch of a model of the suite in `folder`."""
    suite = select(load_suite(folder), [model], [backend])
    device = suite.backends[0].devices[0]
    return run_sweep(suite, device, Options([dispatch], dims, **options), log or Log())


def printed(sweep: Sweep) -> str:
    """The tables."""
    stream = StringIO()
    Console(width=200, file=stream).print(render(sweep))
    return stream.getvalue()


def only_curve(sweep: Sweep) -> Curve:
    (curve,) = sweep.curves
    return curve


def test_a_dispatch_at_each_size(suite_dir: Path) -> None:
    log = Log()
    sweep = sweep_of(suite_dir, "mlp", MATMUL, ["B=1,64,65"], log=log)
    curve = only_curve(sweep)
    assert (curve.dispatch, curve.left_out, sweep.rejected) == (MATMUL, (), ())
    assert [point.symbols for point in curve.points] == [{"B": 1}, {"B": 64}, {"B": 65}]
    assert [point.workload for point in curve.points] == [(1,), (64,), (65,)]
    assert [point.bindings for point in curve.points] == [(4 * 64 * b, 4 * 64 * 128, 4 * 128 * b) for b in (1, 64, 65)]
    assert [point.workgroups for point in curve.points] == [(2, 1, 1), (2, 1, 1), (4, 1, 1)]
    for point in curve.points:
        assert point.failure is None and point.timing is not None and point.timing.seconds > 0
        assert point.bytes_per_second == pytest.approx(point.bytes / point.timing.seconds)
        assert (point.call, point.count, point.variant) == (f"B{point.symbols['B']}", 1, 0)
        assert set(point.data) == {"zeros"}
    assert log.shown[-3:] == [f"measuring {i}/3 {MATMUL} at B{b}" for i, b in enumerate((1, 64, 65))]


@pytest.mark.parametrize("backend", ["vmvx", pytest.param("vulkan", marks=pytest.mark.lavapipe)])
def test_other_backends(suite_dir: Path, backend: str) -> None:
    sweep = sweep_of(suite_dir, "mlp", "*", ["B=1,65"], backend, data="random")
    assert [curve.operation for curve in sweep.curves] == ["matmul_Dx128x64_f32", "matmul_Dx32x128_f32"]
    for curve in sweep.curves:
        assert [point.failure for point in curve.points] == [None, None]
        assert all(point.data == ("random f32, seed 0", "random f32, seed 0", "zeros") for point in curve.points)


def test_an_executable_is_compiled_once(suite_dir: Path) -> None:
    def compiled() -> dict[Path, int]:
        files = (suite_dir / ".dispatchgen" / "sweep").glob("*/*")
        return {path: path.stat().st_mtime_ns for path in files}

    sweep_of(suite_dir, "mlp", MATMUL, ["B=1"])
    before = compiled()
    sweep_of(suite_dir, "mlp", MATMUL, ["B=2..64:x2"], data="random")
    assert compiled() == before
    sweep_of(suite_dir, "mlp", "matmul_Dx32x128_f32", ["B=1"])
    assert compiled().items() >= before.items()


def test_a_file_that_a_flag_names_changes(suite_dir: Path) -> None:
    linker = suite_dir / "ld.sh"
    linked = Path(iree.compiler.__file__).parent / "_mlir_libs" / "iree-lld"
    linker.write_text(f'#!/bin/sh\nexec "{linked}" "$@"\n')
    linker.chmod(0o755)
    curve = only_curve(sweep_of(suite_dir, "linked", MATMUL, ["B=1"]))
    assert curve.points[0].timing is not None
    linker.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(ModelError, match="failed to link"):
        sweep_of(suite_dir, "linked", MATMUL, ["B=1"])


def test_points_that_the_program_rejects(suite_dir: Path) -> None:
    sweep = sweep_of(suite_dir, "assume", "*", ["B=8,9", "S=16,24"])
    assert [point.symbols for point in only_curve(sweep).points] == [{"B": 8, "S": 16}]
    reasons = {(each.symbols["B"], each.symbols["S"]): each.reason for each in sweep.rejected}
    assert reasons.keys() == {(8, 24), (9, 16), (9, 24)}
    assert "dim 0 of input 0 is 9" in reasons[9, 16] and "1 to 8" in reasons[9, 16]
    assert "dim 1 of input 0 is 24" in reasons[8, 24] and "a multiple of 16" in reasons[8, 24]


def test_other_symbols_have_the_first_of_chosen_sizes(suite_dir: Path) -> None:
    sweep = sweep_of(suite_dir, "chosen", "*", ["A=2,3"])
    assert (sweep.dims, sweep.fixed) == ({"A": (2, 3)}, {"B": 16})
    with pytest.raises(DispatchgenError, match="has no symbol `Z`"):
        sweep_of(suite_dir, "chosen", "*", ["Z=1"])


def test_all_points_are_rejected(suite_dir: Path) -> None:
    with pytest.raises(DispatchgenError) as error:
        sweep_of(suite_dir, "assume", "*", ["B=9..30"])
    messages = [problem.message for problem in error.value.problems]
    assert "dim 0 of input 0 is 9" in messages[0]
    assert messages[5:] == ["17 more of these"]


def test_points_at_which_it_does_not_run(suite_dir: Path) -> None:
    sweep = sweep_of(suite_dir, "ctrl", "elementwise_D_f32", ["I=0..2"])
    curve = only_curve(sweep)
    assert [(each.symbols["I"], each.reason) for each in curve.left_out] == [
        (0, "it does not run at any of the shapes")
    ]
    assert [(point.symbols["I"], point.count) for point in curve.points] == [(1, 1), (2, 2)]
    first, second = curve.points
    assert first.timing == second.timing, "equal sizes are measured once"
    assert sweep.fixed == {"N": 5, "M": 9}


def test_several_sizes_at_one_point(suite_dir: Path) -> None:
    curve = only_curve(sweep_of(suite_dir, "ctrl", "matmul*", ["N=100,130"]))
    found = [(point.symbols["N"], point.variant, point.workload, point.count) for point in curve.points]
    assert found == [(100, 0, (100,), 1), (100, 1, (9,), 1), (130, 0, (130,), 2), (130, 1, (9,), 1)]


def test_random_positions_are_in_bounds(suite_dir: Path) -> None:
    curve = only_curve(sweep_of(suite_dir, "embed", "*", ["S=1..1024:x4"], data="random"))
    assert {point.data for point in curve.points} == {
        ("random f32, seed 0", "random positions from 0 to 999, seed 0", "zeros")
    }
    assert not any(point.failure for point in curve.points)


def test_data_of_the_manifest(suite_dir: Path) -> None:
    sweep = sweep_of(suite_dir, "filled", "*", ["S=8,16"], data="manifest")
    fitting, other = only_curve(sweep).points
    assert fitting.data == ("0.5 everywhere", "input 0: positions.npy", "zeros")
    unfit = "zeros (positions.npy: its shape is 2x8; 2x16 is needed)"
    assert other.data == ("0.5 everywhere", f"input 0: {unfit}", "zeros")
    assert fitting.timing is not None and other.timing is not None
    assert "at other points they differ" in printed(sweep)


def test_a_size_that_cannot_be_run(suite_dir: Path) -> None:
    curve = only_curve(sweep_of(suite_dir, "mlp", MATMUL, ["B=4,100000000000000"]))
    small, large = curve.points
    assert small.timing is not None
    assert large.timing is None and large.failure is not None and "iree-benchmark-executable" in large.failure


def test_a_dispatch_that_does_not_compile(suite_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_ = Compiler.compile

    def fails_for_one(compiler: Compiler, text: str) -> Compiled:
        if "128x32" in text:
            raise ModelError("it does not compile")
        return compile_(compiler, text)

    monkeypatch.setattr(Compiler, "compile", fails_for_one)
    sweep = sweep_of(suite_dir, "mlp", "*", ["B=1"])
    first, second = sweep.curves
    assert first.failure is None and first.points[0].timing is not None
    assert (second.failure, second.points) == ("it does not compile", ())
    assert "failed: it does not compile" in printed(sweep)
    with pytest.raises(ModelError, match="it does not compile"):
        sweep_of(suite_dir, "mlp", "matmul_Dx32x128_f32", ["B=1"])


def test_a_budget_is_shared(suite_dir: Path) -> None:
    sweep = sweep_of(suite_dir, "mlp", "*", ["B=1,2"], budget=0.1, run_settings={"repetitions": 2, "batch_size": 3})
    settings = sweep.settings
    assert (settings.min_time, settings.repetitions, settings.batch_size, settings.rounds) == ("0.0125s", 2, 3, 1)
    for curve in sweep.curves:
        assert all(point.timing is not None and list(map(len, point.timing.real)) == [2] for point in curve.points)


def test_a_device_that_is_not_there(suite_dir: Path) -> None:
    with pytest.raises(CheckFailed, match=r"device cuda \(cuda\) is absent: "):
        sweep_of(suite_dir, "mlp", MATMUL, ["B=1"], "cuda")


def test_a_dispatch_that_is_not_there(suite_dir: Path) -> None:
    with pytest.raises(SubstitutionError, match="there is no dispatch `matmul_Dx128x64_f16`"):
        sweep_of(suite_dir, "mlp", "matmul_Dx128x64_f16", ["B=1"])
