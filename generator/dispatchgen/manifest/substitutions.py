"""The sections of the manifest that replace dispatches by hand-written and tuned kernels."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, Tag

from dispatchgen.manifest.affine import affine_problem
from dispatchgen.manifest.fields import NotEmpty, Section, Text, by_kind, require
from dispatchgen.manifest.names import show
from dispatchgen.manifest.suite import SubstitutionKind

#: The keys of which a substitution has one.
KINDS: tuple[SubstitutionKind, ...] = ("source", "configuration", "object", "directory", "tuning_spec")


def _entry_problem(text: str) -> str | None:
    if re.fullmatch(r"[A-Za-z0-9_.$]+", text):
        return None
    return f"{show(text)} cannot be an entry point: a name of letters, digits, `_`, `.` and `$` is needed"


def _number(value: object) -> object:
    # YAML 1.1 takes a number with an exponent but without a point, `1e-3`, for a text.
    is_number = isinstance(value, str) and re.fullmatch(r"[0-9]{1,20}[eE][-+]?[0-9]{1,3}", value)
    return float(str(value)) if is_number else value


class OperationSelector(Section):
    """All dispatches of an operation: a choice that survives when IREE numbers them anew."""

    operation: Text = Field(
        description="Operation and types as the lock has them, e.g. `matmul_Dx64x128_f32`, or a pattern with `*`, `?` "
        "and `[...]`."
    )


SelectorItem = Annotated[
    Annotated[Text, Tag("text")] | Annotated[OperationSelector, Tag("mapping")],
    by_kind(text="the name of a dispatch", mapping="a mapping with `operation`"),
]


class CheckSection(Section):
    """A check that a substitute computes what the original does: both run on the same inputs."""

    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False), BeforeValidator(_number)] = Field(
        description="Largest error of a value as a part of the original's, or of the largest of its buffer (of 1 at "
        "most) where that is more; for integers the difference itself. "
        "[How outputs are compared](results.md#how-outputs-are-compared).",
        json_schema_extra={"minimum": 0},
    )


class SubstitutionSection(Section):
    """A variant of the model in which substitutes take the place of dispatches.

    It has exactly one of `source`, `configuration`, `object`, `directory` and `tuning_spec`. Its benchmarks stand
    beside the original's, and so does the whole program with the substitutes in it.
    """

    dispatch: (
        Annotated[
            Annotated[Text, Tag("text")]
            | Annotated[OperationSelector, Tag("mapping")]
            | Annotated[NotEmpty[SelectorItem], Tag("list")],
            by_kind(text="the name of a dispatch", mapping="a mapping with `operation`", list="a list of them"),
        ]
        | None
    ) = Field(
        default=None,
        description="What is replaced: a dispatch by its name, by IREE's symbol of its executable or export, by its "
        "operation, or by a pattern with `*`, `?` and `[...]` for any of these (the first of these that there is "
        "counts); `{operation: ...}`; or a list. Not with `directory`. Default with `tuning_spec`: all.",
    )
    backends: NotEmpty[str] | None = Field(
        default=None, description="The backends to replace it on. Default: those of the model's that take such a file."
    )
    source: Text | None = Field(
        default=None, description="An executable as `dispatchgen dump --stage source` writes it: `.mlir` or `.mlirbc`."
    )
    configuration: Text | None = Field(
        default=None, description="A configured executable, as `dispatchgen dump --stage configuration` writes it."
    )
    object: Text | None = Field(
        default=None,
        description="An object file: `.o` or `.obj` for llvm-cpu, `.spv` for vulkan, `.ptx` for cuda, `.hsaco` for "
        "hip. Or a kernel's source, from which the build makes one: `.c`, `.comp`, `.glsl`, `.cu`; others with "
        "`command` and `backends`.",
    )
    directory: Text | None = Field(
        default=None,
        description="A folder of substitutes, each named after what it replaces: see "
        "[Folders of substitutes](#folders-of-substitutes).",
    )
    tuning_spec: Text | None = Field(
        default=None, description="A library of tuning specs, as `--iree-codegen-tuning-spec-path=` takes it: `.mlir`."
    )
    command: NotEmpty[Text] | None = Field(
        default=None,
        description="The command that makes an object from a kernel's source, a text per argument. `{source}`, "
        "`{output}` and `{entry}` stand for the two files and for `entry`. It runs in the suite's folder. A program "
        "with a `/` in its name is that file, such as `./make.sh` of the suite; another is looked up on the PATH. "
        "Default: by the end of the source's name.",
    )
    inputs: list[Text] = Field(
        default=[],
        description="More files that the command reads, such as headers. Files of the suite that its arguments name, "
        "also behind a `=`, are inputs without being listed; what gcc and clang include is found out by CMake, but not "
        "by Bazel.",
    )
    entry: Annotated[Text, require(_entry_problem)] | None = Field(
        default=None, description="Entry point of an object. Default: its only one."
    )
    workgroups: Annotated[Text, require(affine_problem)] | None = Field(
        default=None,
        description="Workgroup count of an object, an affine map from the workload of the dispatch: "
        "`(w0, w1) -> (w0 ceildiv 64, w1, 1)`. Default: as the compiler's own code has it.",
    )
    other_target: Literal["error", "allow"] = Field(
        default="error",
        description="What is done with a substitute that was made for another target than the backend's: another CPU, "
        "other features.",
    )
    check: CheckSection | None = Field(
        default=None, description="Checks that the substitutes compute what the originals do. Default: no check."
    )

    @property
    def given(self) -> dict[SubstitutionKind, str]:
        """The keys of KINDS that there are, with their paths."""
        return {kind: path for kind in KINDS if (path := getattr(self, kind)) is not None}
