"""What the bindings of a swept dispatch hold, and how iree-benchmark-executable is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from dispatchgen.buffers.contents import Content
from dispatchgen.extract.data import DataPlan
from dispatchgen.extract.program import Program
from dispatchgen.files import write_if_changed
from dispatchgen.lock.data import ProfilesOf, data_plan
from dispatchgen.manifest.fills import DataSettings, Random
from dispatchgen.workbench.session import Subject

#: What `--data` may say.
DataKind: TypeAlias = Literal["zeros", "random", "manifest"]


def plan_of(kind: DataKind, subject: Subject, program: Program) -> DataPlan | None:
    """What bindings hold; None: zeros.

    Fills are for the shapes of the manifest: at other points, zeros take the place of what does not fit.

    Raises:
      DataError: recorded data are asked for, and there are none.
      ProfileError: a profile cannot be read.
    """
    if kind == "zeros":
        return None
    if kind == "random":
        return DataPlan(DataSettings(default=Random()), must_fit=False)
    model = subject.model
    profiles = ProfilesOf([each.file for each in model.profiles], program, subject.backend.id)
    return replace(data_plan(model.data, subject.suite.root, profiles), must_fit=False)


def binding_flags(held: Sequence[Content], lengths: Sequence[int], folder: Path) -> list[str]:
    """Values of `--binding=`; what is not zeros is written to files in `folder`."""
    flags = []
    for ordinal, (content, length) in enumerate(zip(held, lengths, strict=True)):
        flag = f"{length}xi8"
        if content.pattern != b"\0" and length:
            file = folder / f"binding{ordinal}.bin"
            write_if_changed(file, content.data(length))
            flag += f"=@{file}"
        flags.append(flag)
    return flags
