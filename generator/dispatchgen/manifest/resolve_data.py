"""From what the manifest says of data to what it means, its files checked."""

from __future__ import annotations

from dataclasses import replace

from dispatchgen.manifest.checks import Checks, Path_
from dispatchgen.manifest.data_sections import DataSection, FillItem, fill_of
from dispatchgen.manifest.fills import BindingFill, DataSettings, File, Fill
from dispatchgen.manifest.schema import ModelSection, TypedInput
from dispatchgen.manifest.suite import Input


def resolve_data(checks: Checks, path: Path_, section: DataSection) -> DataSettings:
    """What the bindings of a model hold; `path` is that of its `data`."""
    bindings = []
    for dispatch, fills in section.bindings.items():
        lines = checks.document.lines((*path, "bindings", dispatch))
        for ordinal, item in fills.items():
            fill = _checked(checks, (*path, "bindings", dispatch, ordinal), item)
            bindings.append(BindingFill(dispatch, int(ordinal), fill, lines.get(ordinal)))
    default = fill_of(section.default)
    if isinstance(default, File):
        message = "a file is for one binding, or for an input"
        checks.add((*path, "default"), message, "`bindings: {DISPATCH: {ORDINAL: {file: ...}}}`")
    return DataSettings(default, tuple(bindings))


def resolve_inputs(checks: Checks, path: Path_, section: ModelSection) -> dict[str | None, tuple[Input, ...]]:
    """The inputs of a model, by function (None: of any); `path` is that of the model."""
    if section.inputs is None:
        return {}
    if isinstance(section.inputs, list):
        return {None: _inputs(checks, (*path, "inputs"), section.inputs)}
    return {function: _inputs(checks, (*path, "inputs", function), items) for function, items in section.inputs.items()}


def _inputs(checks: Checks, path: Path_, items: list[Input | TypedInput]) -> tuple[Input, ...]:
    found = []
    for index, item in enumerate(items):
        if isinstance(item, TypedInput):
            item = item.parsed()
        if item.fill is not None:
            item = replace(item, fill=_checked_file(checks, (*path, index, "data"), item.fill))
        found.append(item)
    return tuple(found)


def _checked(checks: Checks, path: Path_, item: FillItem) -> Fill:
    return _checked_file(checks, path, fill_of(item))


def _checked_file(checks: Checks, path: Path_, fill: Fill) -> Fill:
    """The fill, the path of its file made plain."""
    return File(checks.file((*path, "file"), fill.path)) if isinstance(fill, File) else fill
