"""The manifest as people write it. Parser, checks, JSON schema and reference page all come from these classes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator, Tag, WithJsonSchema, model_validator

from dispatchgen.manifest.data_sections import WORDS, DataSection, FillSection, fill_of
from dispatchgen.manifest.fields import CompileFlag, ImportFlag, NotEmpty, RunFlag, Section, Text, by_kind, require
from dispatchgen.manifest.fills import Random
from dispatchgen.manifest.inputs import make_input, parse_input, range_problem
from dispatchgen.manifest.names import MAX_NAME, show, show_all
from dispatchgen.manifest.quantities import parse_duration, parse_memory, parse_percent, stated
from dispatchgen.manifest.shape_sections import Shapes, Size
from dispatchgen.manifest.substitutions import SubstitutionSection
from dispatchgen.manifest.suite import Bindings, Caches, Drift, Input
from dispatchgen.manifest.thresholds import ThresholdSection

#: Version of the manifest's format that this dispatchgen reads.
MANIFEST_VERSION = 1

#: What a preset's `fail_on` can name as it stands.
FAIL_ON = ("slower", "gone", "new", "failed", "failing", "noisy")

#: What the manifest means where it has no `backends`.
DEFAULT_BACKENDS: dict[str, Any] = {
    "cpu": {
        "target_device": "local",
        "local_backend": "llvm-cpu",
        "compile_flags": ["--iree-llvmcpu-target-cpu=generic"],
        "devices": ["local-sync"],
    }
}


def _check_min_time(value: object) -> object:
    is_text = isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?s|[0-9]{1,9}x", value)
    if isinstance(value, str) and is_text and float(value[:-1]) > 0:
        return value
    raise ValueError(
        "a time in seconds such as `0.5s`, or a number of iterations such as `100x`, above zero, is needed"
    )


def _package_problem(text: str) -> str | None:
    is_name = text.isascii() and all(part.isidentifier() for part in text.split("."))
    return None if is_name else f"{show(text)} is not the import name of a Python package"


def _word_problem(text: str) -> str | None:
    if "," in text:
        return "one only, without a comma: each backend compiles for one target; write several backends"
    return None if re.fullmatch(r"[A-Za-z0-9_-]+", text) else "a name of letters, digits, `-` and `_` is needed"


Word = Annotated[str, Field(min_length=1), require(_word_problem)]


class DeviceSection(Section):
    """A device that benchmarks of a backend run on."""

    uri: Text | None = Field(
        default=None,
        description="Value of `--device=` of IREE's tools: a driver (`vulkan`: its first device) or a device as "
        "`dispatchgen doctor` lists it (`vulkan://GPU-<uuid>`). Default: the device's key.",
    )
    run_flags: list[RunFlag] = Field(default=[], description="More flags for `iree-benchmark-module` on this device.")
    labels: list[Text] = Field(
        default=[], description="Labels of the tests on this device, e.g. `requires-gpu-nvidia`."
    )


class BackendSection(Section):
    """A target device with its compile flags, and the devices to run on. Without devices it is compiled for only."""

    target_device: Word = Field(
        description="Value of `--iree-hal-target-device=`: `local`, `vulkan`, `cuda`, `hip`, `metal`..."
    )
    local_backend: Word | None = Field(
        default=None,
        description="`llvm-cpu` or `vmvx`: the one value of `--iree-hal-local-target-device-backends=`. "
        "Needed for `target_device: local`, and only there.",
    )
    compile_flags: list[CompileFlag] = Field(default=[], description="More flags for `iree-compile`.")
    devices: Annotated[
        Annotated[NotEmpty[Text], Tag("list")] | Annotated[dict[str, DeviceSection], Tag("mapping")],
        by_kind(list="a list of device URIs", mapping="a mapping of device names"),
    ] = Field(default={}, description="The devices to run on: a list of URIs, or a mapping from a name to a device.")
    labels: list[Text] = Field(default=[], description="Labels of all tests on this backend.")


class PackagedSource(Section):
    """A file that an installed Python package ships."""

    package: Annotated[str, require(_package_problem)] = Field(
        description="Import name of the package. It is looked for, not imported."
    )
    path: Text = Field(description="Path of the file, relative to the package's folder.")


class TypedInput(Section):
    """An input as a mapping, for values that are long or are written as a list."""

    type: Annotated[str, Field(min_length=1)] = Field(
        description="The type, e.g. `Bx64xf32`, `tensor<f32>` or `index`."
    )
    data: (
        Annotated[
            Annotated[int | float, Tag("number")]
            | Annotated[Annotated[str, Field(min_length=1)], Tag("text")]
            | Annotated[
                NotEmpty[
                    Annotated[
                        Annotated[int | float, Tag("number")]
                        | Annotated[Annotated[str, Field(min_length=1)], Tag("text")],
                        by_kind(number="a number", text="a symbol"),
                    ]
                ],
                Tag("list"),
            ]
            | Annotated[FillSection, Tag("mapping")],
            by_kind(
                number="a number", text="a symbol", list="a list of them", mapping="a mapping that says what it holds"
            ),
        ]
        | None
    ) = Field(
        default=None,
        description="The values: one for all elements, or a list of all of them in row-major order. A text is a "
        "symbol, or `zeros` or `random`; a mapping tells of random numbers or a file. Default: zeros. "
        "[What buffers hold](data.md).",
    )

    def parsed(self) -> Input:
        """The input. Raises ValueError with a message for people."""
        if isinstance(self.data, FillSection) or (isinstance(self.data, str) and self.data in WORDS):
            result = make_input(self.type, None)
            if result.dims is None:
                raise ValueError("a scalar needs a number: only tensors are filled")
            if self.data == "recorded":
                raise ValueError("`recorded` is for bindings, under the model's `data`")
            fill = fill_of(self.data)
            limits = (fill.low, fill.high) if isinstance(fill, Random) else ()
            for number in limits:
                if isinstance(number, int) and (problem := range_problem(number, result.element)):
                    raise ValueError(problem)
            return replace(result, fill=fill)
        values = self.data if isinstance(self.data, list) or self.data is None else [self.data]
        return make_input(self.type, values)

    @model_validator(mode="after")
    def _check(self) -> TypedInput:
        self.parsed()
        return self


#: An input as a text; parsed at once.
InputText = Annotated[Input, PlainValidator(parse_input), WithJsonSchema({"type": "string", "minLength": 1})]
InputItem = Annotated[
    Annotated[InputText, Tag("text")] | Annotated[TypedInput, Tag("mapping")],
    by_kind(text="a text such as `Bx64xf32`", mapping="a mapping with `type` and `data`"),
]


class RunSection(Section):
    """How benchmarks are timed. Defaults are those of `dispatchgen run`; tests of builds measure in one round."""

    rounds: Annotated[int, Field(ge=1, le=200)] | None = Field(
        default=None,
        description="How often everything is measured, in turns, each time by a process of its own. Default: 10.",
    )
    precision: Annotated[str, stated(parse_percent)] | None = Field(
        default=None,
        description="A benchmark is measured in up to 200 rounds until the half of its confidence interval is this "
        "small, such as `1%`. Default: no further rounds.",
    )
    min_time: Annotated[str, BeforeValidator(_check_min_time)] | None = Field(
        default=None,
        description="How long a repetition runs: seconds such as `0.5s`, or iterations such as `100x`. Default: "
        "`0.01s`; in tests of builds the benchmark library's own.",
    )
    repetitions: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None,
        description="How often a benchmark is repeated in each round; the fastest counts. Default: 3; in tests of "
        "builds 1.",
    )
    batch_size: (
        Annotated[
            Annotated[int, Field(ge=1, le=1_000_000_000), Tag("number")] | Annotated[Literal["auto"], Tag("text")],
            by_kind(number="a number", text="`auto`"),
        ]
        | None
    ) = Field(
        default=None,
        description="How often the dispatch runs per timed call; `auto`: as often as makes what the call itself costs "
        "small. Default: `auto`; in tests of builds 1.",
    )
    caches: Caches | None = Field(
        default=None,
        description="What a dispatch finds in the caches. `warm`: its buffers, from the run before. `cold`: nothing of "
        "them. `both`: both are measured. Locks are renewed after a change between `warm` and the others. "
        "[More on cold caches](caches.md). Default: `warm`.",
    )
    cold_memory: Annotated[str, stated(parse_memory)] | None = Field(
        default=None,
        description="How much memory the buffers of cold benchmarks rotate over, such as `512MiB`: several times the "
        "last cache of the device. Default: `256MiB`.",
    )


class ModelSection(Section):
    """A program with the shapes and backends that it is benchmarked with."""

    source: Annotated[
        Annotated[Text, Tag("text")] | Annotated[PackagedSource, Tag("mapping")],
        by_kind(text="a path", mapping="a mapping with `package` and `path`"),
    ] = Field(
        description="The program, a `.mlir`, `.mlirbc` or `.onnx` file: a path relative to the manifest, or a file in "
        "an installed Python package."
    )
    import_flags: list[ImportFlag] = Field(
        default=[], description="More flags for `iree-import-onnx`; `.onnx` sources only."
    )
    parameters: list[Text] = Field(
        default=[], description="Parameter archives (`.irpa`, `.safetensors`, `.gguf`), each `path` or `scope=path`."
    )
    entry: Text | None = Field(
        default=None, description="The function to benchmark. Default: every public function that dispatches."
    )
    inputs: (
        Annotated[
            Annotated[list[InputItem], Tag("list")] | Annotated[dict[str, list[InputItem]], Tag("mapping")],
            by_kind(list="a list of inputs", mapping="a mapping from functions to lists of inputs"),
        ]
        | None
    ) = Field(
        default=None,
        description="The inputs of the entry function, or a mapping from functions to their inputs. "
        "Default: the types are read from the program.",
    )
    shapes: Shapes = Field(
        default=[],
        description="Sizes for the symbols: one shape or a list of them; `auto`: shapes that are chosen from the "
        "ranges that the program states; a profile of recorded runs. Needed where inputs have symbols; without symbols "
        "there is one shape, `static`. [More on shapes](shapes.md).",
    )
    overrides: dict[
        str,
        Annotated[
            Annotated[Size, Tag("number")] | Annotated[Annotated[str, Field(min_length=1)], Tag("text")],
            by_kind(number="a size", text="a symbol"),
        ],
    ] = Field(
        default={},
        description="Sizes that only the device computes, by the name that the reason of a skipped dispatch gives "
        "them: a size, or a symbol that `shapes` give sizes to.",
    )
    data: DataSection = Field(
        default_factory=DataSection,
        description="What the buffers of the dispatches hold. Default: what the inputs say, zeros elsewhere.",
    )
    backends: NotEmpty[str] | None = Field(default=None, description="The backends to compile for. Default: all.")
    compile_flags: list[CompileFlag] = Field(default=[], description="More flags for `iree-compile`, on every backend.")
    backend_flags: dict[str, list[CompileFlag]] = Field(
        default={}, description="More flags for `iree-compile`, by backend; they come last."
    )
    labels: list[Text] = Field(default=[], description="Labels of all tests of this model, e.g. `large`.")
    bindings: Bindings | None = Field(default=None, description="Overrides the manifest's `bindings`.")
    drift: Drift | None = Field(default=None, description="Overrides the manifest's `drift`.")
    run: RunSection = Field(default_factory=RunSection, description="Overrides single keys of the manifest's `run`.")
    substitutions: dict[str, SubstitutionSection] = Field(
        default={}, description="Variants in which hand-written or tuned kernels replace dispatches, by name."
    )
    combinations: dict[str, NotEmpty[str]] = Field(
        default={},
        description="Substitutions that are applied together to the whole program, by a name of their own, on the "
        "backends that all of them are for. No two of them replace one dispatch.",
    )


def _baseline_problem(text: str) -> str | None:
    # It names a folder in the repository, of any system.
    is_name = re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", text) and len(text) <= MAX_NAME
    return None if is_name else f"a name of up to {MAX_NAME} letters, digits, `_`, `-` and `.` is needed"


def _fail_on_problem(text: str) -> str | None:
    kind, colon, limit = text.partition(":")
    if kind in ("slower", "geomean") and colon:
        try:
            parse_percent(limit)
        except ValueError as error:
            return str(error)
        return None
    if text in FAIL_ON:
        return None
    return f"{show(text)} is none of {show_all(FAIL_ON)}, `slower:5%` and `geomean:3%`"


class PresetSection(Section):
    """A named selection, with a build target of its own. What is left out selects all."""

    models: NotEmpty[str] | None = Field(default=None, description="Models of the selection.")
    backends: NotEmpty[str] | None = Field(default=None, description="Backends of the selection.")
    labels: NotEmpty[Text] | None = Field(
        default=None,
        description="Takes a model on a backend where the model, the backend or one of its devices has one of these "
        "labels.",
    )
    budget: Annotated[str, stated(parse_duration)] | None = Field(
        default=None,
        description="How long `dispatchgen nightly` measures it, such as `10m`: seconds, minutes or hours. Default: "
        "until all rounds are done.",
    )
    baseline: Annotated[str, Field(min_length=1), require(_baseline_problem)] | None = Field(
        default=None,
        description="Name of the [baseline](baselines.md) that `dispatchgen nightly` compares it with. Default: none.",
    )
    fail_on: NotEmpty[Annotated[str, require(_fail_on_problem)]] | None = Field(
        default=None,
        description="What makes `dispatchgen nightly` fail besides what cannot be measured, each as `--fail-on` of "
        "[`compare`](comparison.md) takes it: `slower`, `slower:5%`, `gone`, `new`, `failed`, `failing`, "
        "`noisy`, `geomean:3%`. Only beside `baseline`. Default: `slower`, `failed` and `gone`.",
    )
    run: RunSection = Field(
        default_factory=RunSection,
        description="How `dispatchgen nightly` times it: overrides single keys of all other `run`.",
    )


class Manifest(Section):
    """A suite of benchmarks."""

    version: int = Field(description="Version of this format: 1.", json_schema_extra={"const": MANIFEST_VERSION})
    models: Annotated[dict[str, ModelSection], Field(min_length=1)] = Field(description="The models, by name.")
    backends: Annotated[dict[str, BackendSection], Field(min_length=1)] | None = Field(
        default=None,
        description="The backends, by name. Default: one backend `cpu`: `local` with `llvm-cpu` for a generic CPU, run "
        "on `local-sync`.",
    )
    presets: dict[str, PresetSection] = Field(default={}, description="Named selections, such as `nightly`.")
    bindings: Bindings = Field(
        default="isolated",
        description="`isolated`: each tensor is a buffer of its own, so dispatches keep their names and content when "
        "the program around them changes. `fused`: buffers as in a deployed program.",
    )
    drift: Drift = Field(
        default="error",
        description="What a build does where the dispatches of a model are no longer those of its lock. `error`: it "
        "fails, and names the command that renews the lock. `allow`, for nightly builds against a moving compiler: it "
        "goes on, the tests of what is missing are skipped with the reason, and what is new is listed. "
        "(`dispatchgen run` renews locks itself: there it means nothing.)",
    )
    run: RunSection = Field(
        default_factory=RunSection, description="How benchmarks are timed; a model can override single keys."
    )
    thresholds: list[ThresholdSection] = Field(
        default=[],
        description="How much slower than the baseline benchmarks may get; of several that fit, the first counts. "
        "Default: a slowdown is a failure where it can be told from noise. [More on baselines](baselines.md).",
    )
    allow_outside: bool = Field(
        default=False, description="Whether files that the manifest names may lie outside its folder."
    )


def json_schema() -> dict[str, Any]:
    """The manifest's JSON schema, for editors."""
    schema = Manifest.model_json_schema()
    tidy = _without_null(schema)
    assert isinstance(tidy, dict)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **tidy, "title": "dispatchgen manifest"}


def _without_null(schema: Any) -> Any:
    """The schema without null, which only says "not given" in Python and is not allowed in YAML, and without titles."""
    if isinstance(schema, list):
        return [_without_null(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {}
    for key, value in schema.items():
        if (key == "default" and value is None) or (key == "title" and isinstance(value, str)):
            continue
        # `allOf` with one branch is how older releases of pydantic write a reference beside a description.
        branches = [branch for branch in value if branch != {"type": "null"}] if key in ("anyOf", "allOf") else []
        if len(branches) == 1:
            result.update(_without_null(branches[0]))
        else:
            result[key] = _without_null(branches or value)
    return result
