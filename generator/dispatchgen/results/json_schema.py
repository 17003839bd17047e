"""The JSON schema of a result file, for programs that read results without dispatchgen."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import CoreSchema

from dispatchgen.results.schema import RESULTS_VERSION, Results


def json_schema() -> dict[str, Any]:
    """The schema of what this version of dispatchgen reads; what it writes has all keys."""
    schema = Results.model_json_schema(schema_generator=_Untitled)
    schema["properties"]["version"]["const"] = RESULTS_VERSION
    return {"$schema": _Untitled.schema_dialect, **schema, "title": "dispatchgen results"}


class _Untitled(GenerateJsonSchema):
    """Keys have no titles: they would say what the keys do."""

    def field_title_should_be_set(self, schema: CoreSchema) -> bool:  # noqa: ARG002
        return False
