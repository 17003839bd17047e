"""Making, renewing and checking locks, with the real compiler."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import pytest

from dispatchgen.errors import DispatchgenError
from dispatchgen.iree.tools import Tools, find_tools
from dispatchgen.lock.compare import stale_parts
from dispatchgen.lock.make import made_from, make_lock, settings_digest
from dispatchgen.lock.schema import Lock
from dispatchgen.lock.store import lock_text, read_lock
from dispatchgen.lock.update import Change, check_locks, coverage, update_locks
from dispatchgen.manifest.fills import File, Random, Recorded, Splat, Zeros
from dispatchgen.manifest.suite import Backend, Device, Input, Model, RunSettings, Shape, Source, Suite

CPU = Backend("cpu", "cpu", "local", "llvm-cpu", ("--iree-llvmcpu-target-cpu=generic",))
VMVX = Backend("vmvx", "vmvx", "local", "vmvx")

#: Two layers; the inserted one has other types, so that none of their contents depends on it.
LAYERS = """
func.func @main(%x: tensor<?x64xf32>, %w0: tensor<64x128xf32>, %w1: tensor<128x32xf32>) -> tensor<?x32xf32> {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x64xf32>
  {inserted}
  %e0 = tensor.empty(%b) : tensor<?x128xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x128xf32>) -> tensor<?x128xf32>
  %h = linalg.matmul ins({x}, %w0 : tensor<?x64xf32>, tensor<64x128xf32>)
      outs(%i0 : tensor<?x128xf32>) -> tensor<?x128xf32>
  %e1 = tensor.empty(%b) : tensor<?x32xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = linalg.matmul ins(%h, %w1 : tensor<?x128xf32>, tensor<128x32xf32>)
      outs(%i1 : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}}
"""
INSERTED = """%we = arith.constant dense<0.5> : tensor<64x64xf32>
  %ee = tensor.empty(%b) : tensor<?x64xf32>
  %ie = linalg.fill ins(%zero : f32) outs(%ee : tensor<?x64xf32>) -> tensor<?x64xf32>
  %g = linalg.matmul ins(%x, %we : tensor<?x64xf32>, tensor<64x64xf32>)
      outs(%ie : tensor<?x64xf32>) -> tensor<?x64xf32>"""
PLAIN = LAYERS.format(inserted="", x="%x")
LONGER = LAYERS.format(inserted=INSERTED, x="%g")


@pytest.fixture(scope="module")
def tools() -> Tools:
    return find_tools()


def make_model(name: str = "m", **fields: Any) -> Model:
    data: dict[str, Any] = {
        "source": Source(f"{name}.mlir", "mlir"),
        "inputs": {None: (Input("f32", ("B", 64)), Input("f32", (64, 128)), Input("f32", (128, 32)))},
        "shapes": (Shape("B1", {"B": 1}), Shape("B8", {"B": 8})),
        "backends": ("cpu",),
        "compile_flags": {"cpu": (), "vmvx": ()},
        **fields,
    }
    return Model(name, name, **data)


def make_suite(root: Path, *models: Model) -> Suite:
    return Suite(root / "benchmarks.yaml", (CPU, VMVX), models)


def update(tools: Tools, suite: Suite, **options: Any) -> dict[str, tuple[Change, Lock | None]]:
    return {each.model.id: (each.change, each.lock) for each in update_locks(tools, suite, suite.models, **options)}


def names(lock: Lock, backend: str = "cpu") -> list[str]:
    return [dispatch.name for dispatch in lock.backends[backend].dispatches]


def test_a_lock_lists_what_the_program_dispatches(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text(PLAIN)
    model = make_model(backends=("cpu", "vmvx"))
    lock = make_lock(tools, make_suite(tmp_path, model), model)
    assert [call.name for call in lock.calls] == ["B1", "B8"]
    assert list(lock.backends) == ["cpu", "vmvx"]
    for backend in lock.backends.values():
        first, second = backend.dispatches
        assert [benchmark.bindings for benchmark in first.benchmarks] == [(256, 32768, 512), (2048, 32768, 4096)]
        assert [benchmark.counts for benchmark in second.benchmarks] == [{"B1": 1}, {"B8": 1}]
    assert lock.made_from.compiler == tools.compiler_version
    assert list(coverage(model, lock)) == ["m/cpu: 2 of 2 dispatches", "m/vmvx: 2 of 2 dispatches"]


def test_coverage_names_what_is_skipped(tools: Tools, models_dir: Path, tmp_path: Path) -> None:
    shutil.copy(models_dir / "nonzero.mlir", tmp_path)
    model = make_model("nonzero", inputs={None: (Input("f32", ("N",)),)}, shapes=(Shape("N64", {"N": 64}),))
    lock = make_lock(tools, make_suite(tmp_path, model), model)
    head, *skipped = coverage(model, lock)
    count = len(lock.backends["cpu"].dispatches)
    others = {skip.export for skip in lock.backends["cpu"].skipped}
    assert others
    assert head == f"nonzero/cpu: {count} of {count + len(others)} dispatches, {len(others)} skipped:"
    assert len(skipped) == len(lock.backends["cpu"].skipped)
    assert all(skip.reason in line for skip, line in zip(lock.backends["cpu"].skipped, skipped, strict=True))


def test_the_same_bytes_from_any_folder(tools: Tools, tmp_path: Path) -> None:
    texts = []
    for folder in (tmp_path / "a", tmp_path / "b" / "c"):
        folder.mkdir(parents=True)
        (folder / "m.mlir").write_text(PLAIN)
        model = make_model()
        texts.append(lock_text(make_lock(tools, make_suite(folder, model), model)))
    assert texts[0] == texts[1]


def test_renewing_keeps_the_names_of_unchanged_dispatches(tools: Tools, tmp_path: Path) -> None:
    suite = make_suite(tmp_path, make_model())
    (tmp_path / "m.mlir").write_text(PLAIN)
    _, old = update(tools, suite)["m"]
    assert old is not None
    # A name that no rule would give today shows that it is kept, and not made again.
    (first, *others) = old.backends["cpu"].dispatches
    kept = first.model_copy(
        update={
            "name": "kept",
            "benchmarks": tuple(
                b.model_copy(update={"name": b.name.replace(first.name, "kept")}) for b in first.benchmarks
            ),
        }
    )
    old = old.model_copy(
        update={"backends": {"cpu": old.backends["cpu"].model_copy(update={"dispatches": (kept, *others)})}}
    )
    (tmp_path / "m.mlir").write_text(LONGER)
    new = make_lock(tools, suite, suite.models[0], old)
    contents = {dispatch.content: dispatch for dispatch in new.backends["cpu"].dispatches}
    assert contents[first.content].name == "kept"
    assert contents[others[0].content].name == others[0].name
    assert contents[others[0].content].export != others[0].export, "IREE's own symbols are numbered anew"
    assert len(names(new)) == len(set(names(new))) == 3


def test_a_current_lock_is_left_alone(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text(PLAIN)
    suite = make_suite(tmp_path, make_model())
    started: list[Model] = []
    assert update(tools, suite, on_start=started.append)["m"][0] is Change.WRITTEN
    assert update(tools, suite, on_start=started.append)["m"][0] is Change.CURRENT
    assert update(tools, suite, on_start=started.append, force=True)["m"][0] is Change.SAME
    (tmp_path / "m.mlir").write_text(f"// A comment.\n{PLAIN}")
    assert update(tools, suite, on_start=started.append)["m"][0] is Change.WRITTEN
    assert len(started) == 3


def test_all_errors_at_once_and_the_good_ones_are_written(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "good.mlir").write_text(PLAIN)
    (tmp_path / "bad.mlir").write_text("func.func @main(")
    models = [make_model(name, backends=("cpu", "vmvx")) for name in ("bad", "good", "none")]
    suite = make_suite(tmp_path, *models)
    updates = {each.model.id: each for each in update_locks(tools, suite, suite.models, jobs=2)}
    assert updates["good"].change is Change.WRITTEN
    assert [p.message.split(":")[0] for p in updates["bad"].problems] == [
        "model bad on backend cpu",
        "model bad on backend vmvx",
    ]
    assert "there is no file" in str(updates["none"].problems[0])
    assert [path.name for path in (tmp_path / "locks").iterdir()] == ["good.json"]


def test_the_problems_of_all_backends_are_raised_together(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text("func.func @main(")
    model = make_model(backends=("cpu", "vmvx"))
    with pytest.raises(DispatchgenError) as caught:
        make_lock(tools, make_suite(tmp_path, model), model)
    assert len(caught.value.problems) == 2


RELEVANT: dict[str, dict[str, Any]] = {
    "shapes": {"shapes": (Shape("B1", {"B": 1}),)},
    "inputs": {"inputs": {None: (Input("f16", ("B", 64)),)}},
    "data": {"inputs": {None: (Input("i64", (1,), (3,)),)}},
    "entry": {"entry": "main"},
    "import flags": {"import_flags": ("--no-verify",)},
    "compile flags": {"compile_flags": {"cpu": ("--iree-opt-level=O3",)}},
    "bindings": {"bindings": "fused"},
    "memory of cold benchmarks": {"cold_memory": 1 << 20},
}
IRRELEVANT: dict[str, dict[str, Any]] = {
    "labels": {"labels": ("large",)},
    "run": {"run": RunSettings(3, 0.01, "1s", 3, 16, "warm")},
    "parameters": {"parameters": ("w.irpa",)},
    "drift": {"drift": "allow"},
    "line": {"line": 77},
    "other backend's flags": {"compile_flags": {"cpu": (), "vmvx": ("--x",)}},
    "place of the source": {"source": Source("elsewhere/m.mlir", "mlir")},
}


@pytest.mark.parametrize("change", RELEVANT.values(), ids=RELEVANT)
def test_settings_that_matter(change: dict[str, Any]) -> None:
    assert settings_digest(make_model(**change), CPU) != settings_digest(make_model(), CPU)


@pytest.mark.parametrize("change", IRRELEVANT.values(), ids=IRRELEVANT)
def test_settings_that_do_not_matter(change: dict[str, Any]) -> None:
    assert settings_digest(make_model(**change), CPU) == settings_digest(make_model(), CPU)


def test_settings_of_the_backend() -> None:
    digest = settings_digest(make_model(), CPU)
    devices = (Device("sync", "local-sync", ("--x",)),)
    assert settings_digest(make_model(), dataclasses.replace(CPU, devices=devices, labels=("l",))) == digest
    assert settings_digest(make_model(), dataclasses.replace(CPU, compile_flags=())) != digest
    assert settings_digest(make_model(), dataclasses.replace(CPU, local_backend="vmvx")) != digest


def test_what_flags_name_and_inputs_hold(tmp_path: Path) -> None:
    """A tuning specification, say, may change the kernels."""
    (tmp_path / "m.mlir").write_text(PLAIN)
    model = make_model(flag_files={"cpu": ("spec.mlir", "gone.mlir")})
    suite = make_suite(tmp_path, model)
    (tmp_path / "gone.mlir").touch()
    versions = []
    for text in ("1", "2"):
        (tmp_path / "spec.mlir").write_text(text)
        versions.append(made_from("3", suite, model))
    assert stale_parts(*versions) == ["the file spec.mlir changed, which flags name"]
    (tmp_path / "gone.mlir").unlink()
    with pytest.raises(DispatchgenError, match="cannot read a file that its flags name: No such file"):
        made_from("3", suite, model)

    fills = (None, Zeros(), Recorded(), Random(), Random(seed=1), Splat(1), Splat(1.0), File("x.npy"))
    inputs = [{None: (Input("f32", ("B", 64), fill=fill),)} for fill in fills]
    assert len({settings_digest(make_model(inputs=each), CPU) for each in inputs}) == len(fills)


def test_check_tells_current_stale_and_drifted(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text(PLAIN)
    model = make_model()
    suite = make_suite(tmp_path, model)

    def check(suite: Suite = suite, tools: Tools = tools) -> Any:
        (result,) = check_locks(tools, suite, suite.models)
        return result

    assert check().stale == ("there is no lock file",)
    update(tools, suite)
    before = (tmp_path / "locks" / "m.json").read_bytes()
    assert check().ok

    (tmp_path / "m.mlir").write_text(f"// A comment.\n{PLAIN}")
    stale = check()
    assert (stale.stale, stale.drift) == (("the source file changed",), ())

    other_compiler = dataclasses.replace(tools, compiler_version="3.99.0")
    assert f"the compiler was {tools.compiler_version} and is 3.99.0" in check(tools=other_compiler).stale

    (tmp_path / "m.mlir").write_text(LONGER)
    (difference,) = check().drift
    assert len(difference.added) == 1
    assert not difference.removed and not difference.renamed and not difference.changed
    assert len(difference.symbols) == 2

    more = make_suite(tmp_path, make_model(shapes=(Shape("B1", {"B": 1}), Shape("B16", {"B": 16}))))
    (tmp_path / "m.mlir").write_text(PLAIN)
    (difference,) = check(more).drift
    assert {name.rpartition("__")[2] for name in difference.added_benchmarks} == {"B16"}
    assert {name.rpartition("__")[2] for name in difference.removed_benchmarks} == {"B8"}
    assert (tmp_path / "locks" / "m.json").read_bytes() == before, "a check writes nothing"


def test_a_check_names_new_functions(tools: Tools, tmp_path: Path) -> None:
    """As the build does, also where all that the function dispatches is there already."""
    twin = PLAIN.replace("@main", "@twin")
    (tmp_path / "m.mlir").write_text(PLAIN)
    suite = make_suite(tmp_path, make_model())
    update(tools, suite)
    (tmp_path / "m.mlir").write_text(PLAIN + twin)
    (result,) = check_locks(tools, suite, suite.models)
    (difference,) = result.drift
    assert difference.added_functions == ("twin",)

    named = make_suite(tmp_path, make_model(entry="main"))
    update(tools, named)
    (check,) = check_locks(tools, named, named.models)
    assert check.ok
    assert check.lock is not None and check.lock.entry == "main"


def test_a_lock_that_cannot_be_read_is_replaced_and_said(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text(PLAIN)
    suite = make_suite(tmp_path, make_model())
    (tmp_path / "locks").mkdir()
    path = tmp_path / "locks" / "m.json"
    path.write_text("<<<<<<< HEAD")
    (result,) = update_locks(tools, suite, suite.models)
    assert result.change is Change.WRITTEN
    assert "is not JSON" in result.unreadable[0].message
    assert read_lock(path).made_from == made_from(tools.compiler_version, suite, suite.models[0])
