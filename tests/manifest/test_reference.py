"""What is generated from the schema: the reference page and the JSON schema."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import support
from dispatchgen.manifest import load_suite
from dispatchgen.manifest.reference import reference_page
from dispatchgen.manifest.schema import json_schema


def test_the_page_is_what_is_generated() -> None:
    page = (support.REPOSITORY / "docs" / "manifest.md").read_text(encoding="utf-8")
    assert page == reference_page(), "run: python -m dispatchgen.manifest.reference > docs/manifest.md"


def test_the_examples_of_the_page_are_manifests(tmp_path: Path) -> None:
    (tmp_path / "kernels").mkdir()
    for name in ("mlp.mlir", "encoder.onnx", "softmax.mlir", "kernels/matmul.c", "kernels/tile.h"):
        (tmp_path / name).touch()
    examples = re.findall(r"```yaml\n(.*?)```", reference_page(), re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        (tmp_path / "benchmarks.yaml").write_text(example)
        assert load_suite(tmp_path).models


def test_every_key_is_described() -> None:
    schema = json_schema()
    sections = [schema, *schema["$defs"].values()]
    undescribed = [
        key for section in sections for key, value in section["properties"].items() if "description" not in value
    ]
    assert undescribed == []


def test_the_schema_knows_no_null() -> None:
    def types(part: Any) -> list[Any]:
        if isinstance(part, dict):
            return [part.get("type"), *(found for value in part.values() for found in types(value))]
        return [found for value in part for found in types(value)] if isinstance(part, list) else []

    assert "null" not in types(json_schema())


@pytest.mark.parametrize("command", [["schema"], ["schema", "manifest"]])
def test_the_command_prints_the_schema(run_cli: support.RunCli, command: list[str]) -> None:
    done = run_cli(*command)
    assert json.loads(done.stdout) == json_schema()
