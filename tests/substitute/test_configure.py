"""What iree-compile says of a substitute, by programs that stand in for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatchgen.errors import SubstitutionError, ToolError
from dispatchgen.substitute.configure import Compiler, configure_executable
from substituted import Built


def fake(folder: Path, script: str) -> Compiler:
    program = folder / "iree-compile"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return Compiler(program, ())


def test_the_first_error_has_its_place_in_the_substitute(tmp_path: Path) -> None:
    script = 'echo "-:7:3: error: no\n-:1:1: error: failed to configure" >&2; exit 1'
    with pytest.raises(SubstitutionError) as caught:
        configure_executable(fake(tmp_path, script), "", "", "kernel.mlir")
    (problem,) = caught.value.problems
    assert (problem.message, str(problem.place)) == ("iree-compile refuses it: no", "kernel.mlir:7:3")


def test_an_error_elsewhere_is_of_the_substitute_as_a_whole(tmp_path: Path) -> None:
    script = 'echo "$1:7:3: error: no" >&2; exit 1'
    with pytest.raises(SubstitutionError) as caught:
        configure_executable(fake(tmp_path, script), "", "", "kernel.mlir")
    assert str(caught.value.problems[0].place) == "kernel.mlir"


@pytest.mark.parametrize("script", ["kill -SEGV $$", 'echo "PLEASE submit a bug report" >&2; exit 1', "exit 3"])
def test_a_crash_is_of_the_compiler(tmp_path: Path, script: str) -> None:
    with pytest.raises(ToolError, match="iree-compile failed: ") as caught:
        configure_executable(fake(tmp_path, script), "", "", "kernel.mlir")
    assert str(caught.value.problems[0].place) == "kernel.mlir"


_TUNING_SPEC = """\
module attributes {transform.with_named_sequence} {
  transform.named_sequence @tile(%op: !transform.any_op {transform.readonly},
                                 %config: !transform.any_param {transform.readonly}) {
    transform.annotate %op "compilation_info" = %config : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence @product(%op: !transform.any_op {transform.readonly})
      -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %op ["linalg.matmul"] : !transform.any_op
    %config = transform.param.constant #iree_codegen.compilation_info<
        lowering_config = #iree_cpu.lowering_config<distribution = [16, 16, 0], vector_common_parallel = [4, 4, 0],
                                                    vector_reduction = [0, 0, 4]>,
        translation_info = <pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>> -> !transform.any_param
    transform.yield %op, %config : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @__kernel_config(%variant: !transform.any_op {transform.consumed}) -> !transform.any_op
      attributes {iree_codegen.tuning_spec_entrypoint} {
    %tuned = transform.foreach_match in %variant @product -> @tile : (!transform.any_op) -> !transform.any_op
    transform.yield %tuned : !transform.any_op
  }
}
"""


def test_a_tuning_spec_configures_a_source_as_it_configures_the_program(
    mlp: Built, models_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.mlir").write_text(_TUNING_SPEC)
    flag = "--iree-codegen-tuning-spec-path=spec.mlir"
    tuned = mlp.configure(models_dir / "mlp.mlir", tmp_path / "tuned.mlir", [flag])
    for dispatch in mlp.dispatches:
        mlp.substitute("spec", "tuning_spec", tuned, dispatch)
        mlp.substitute("flag", "source", mlp.dump(dispatch, "source"), dispatch, flags=[flag])
        module = f"dispatches/{dispatch}.mlir"
        assert "distribution = [16, 16, 0]" in (mlp.variant("spec") / module).read_text()
        assert (mlp.variant("spec") / module).read_bytes() == (mlp.variant("flag") / module).read_bytes()
    assert mlp.substitute_program("spec").read_bytes() == tuned.read_bytes()


def test_flags_that_end_in_another_phase(tmp_path: Path) -> None:
    script = 'while [ "$1" != -o ]; do shift; done; echo "module {}" > "$2"'
    with pytest.raises(ToolError, match="expected one executable from iree-compile, found 0"):
        configure_executable(fake(tmp_path, script), "", "", "kernel.mlir")
