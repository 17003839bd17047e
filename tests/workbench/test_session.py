"""Models up to their configured modules: names, phases, what the user should know."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatchgen.errors import SubstitutionError
from dispatchgen.iree.tools import find_tools
from dispatchgen.lock.schema import Lock
from dispatchgen.lock.store import read_lock, write_lock
from dispatchgen.manifest import load_suite
from dispatchgen.manifest.select import select
from dispatchgen.manifest.suite import Suite
from dispatchgen.workbench.session import Selection, sessions
from suite_folder import layers_program

#: A tuning spec that changes nothing.
_SPEC = """\
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__kernel_config(%variant: !transform.any_op {transform.consumed}) -> !transform.any_op
      attributes {iree_codegen.tuning_spec_entrypoint} {
    transform.yield %variant : !transform.any_op
  }
}
"""


def narrowed(manifest: Path, model: str, *backends: str) -> Suite:
    return select(load_suite(manifest), [model], backends)


def test_dispatches_have_the_names_of_the_lock(manifest: Path) -> None:
    path = manifest.parent / "locks" / "product.json"
    text = path.read_text().replace('"name": "elementwise_D_f32', '"name": "my_product')
    write_lock(path, Lock.model_validate_json(text))
    for session in sessions(find_tools(), narrowed(manifest, "product", "cpu")):
        assert [dispatch.name for dispatch in session.dispatches] == ["my_product"]
        assert list(session.benchmark_modules) == ["my_product"]
        assert session.note() is None


@pytest.mark.parametrize("with_sources", [False, True])
def test_the_way_by_the_sources_leads_to_what_is_locked(manifest: Path, with_sources: bool) -> None:
    lock = read_lock(manifest.parent / "locks" / "layers.json")
    seen = []
    for session in sessions(find_tools(), narrowed(manifest, "layers"), with_sources=with_sources):
        assert session.extraction.lock == lock.backends[session.backend.id]
        assert (session.sources is not None) == with_sources
        seen.append(session.backend.id)
    assert seen == ["cpu", "gfx942"]


def test_a_missing_lock_and_a_changed_program_are_said(manifest: Path) -> None:
    (manifest.parent / "locks" / "product.json").unlink()
    (manifest.parent / "layers.mlir").write_text(layers_program([64, 32, 128, 16]))
    notes = {
        session.model.name: session.note()
        for model in ("product", "layers")
        for session in sessions(find_tools(), narrowed(manifest, model, "cpu"))
    }
    renew = f"dispatchgen lock {manifest} --model"
    assert notes == {
        "product": f"product on cpu: it is not locked, the names are those of a new lock: {renew} product",
        "layers": f"layers on cpu: its dispatches are not as locked: {renew} layers",
    }


def test_a_dispatch_need_be_on_one_backend_only(manifest: Path) -> None:
    selection = Selection(("main_dispatch_0", "*embedded*", "matmul_4x12*"))
    found = {
        session.backend.id: [dispatch.name for dispatch in selection.of(session)]
        for session in sessions(find_tools(), narrowed(manifest, "layers"))
    }
    names = ["matmul_4x32x64_f32", "matmul_4x128x32_f32"]
    assert found == {"cpu": names, "gfx942": names}
    with pytest.raises(SubstitutionError) as error:
        selection.check()
    assert [problem.message for problem in error.value.problems] == [
        f"model layers on backend {backend}: there is no dispatch `*embedded*`" for backend in ("cpu", "gfx942")
    ]


def test_paths_in_flags_are_those_of_the_folder_that_the_compiler_runs_in(manifest: Path) -> None:
    (manifest.parent / "spec.mlir").write_text(_SPEC)
    flag = "--iree-codegen-tuning-spec-path"
    text = manifest.read_text().replace("  layers:\n", f"  layers:\n    compile_flags: [{flag}=spec.mlir]\n")
    manifest.write_text(text.replace("backends: [cpu, gfx942]", "backends: [cpu]"))
    for session in sessions(find_tools(), narrowed(manifest, "layers")):
        assert f"{flag}={manifest.parent / 'spec.mlir'}" in session.flags()
        assert f"{flag}=../../spec.mlir" in session.flags(manifest.parent / "deep" / "er")


def test_a_dispatch_that_is_skipped_has_its_reason(manifest: Path, models_dir: Path) -> None:
    (manifest.parent / "product.mlir").write_text((models_dir / "nonzero.mlir").read_text())
    manifest.write_text(manifest.read_text().replace("[Nxf32, Nxf32]", "[Nxf32]"))
    selection = Selection(("main_dispatch_1",))
    for session in sessions(find_tools(), narrowed(manifest, "product", "cpu")):
        assert selection.of(session) == []
    with pytest.raises(SubstitutionError, match="its size depends on"):
        selection.check()
