"""A kernel to start writing from, in C or GLSL: it takes what the dispatch passes and zero-fills what it writes.

Templates and expressions are all the code there is in it; names of the user's are in comments only, as quoted text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from dispatchgen.extract.schema import Dispatch
from dispatchgen.kernel_template.fill import Language, declare, fills
from dispatchgen.kernel_template.interface import KernelInterface
from dispatchgen.kernel_template.sizes import c_text, glsl_text
from dispatchgen.manifest.objects import DEFAULT_COMMANDS

#: Suffix of a kernel's file.
SUFFIXES: dict[Language, str] = {"c": ".c", "glsl": ".comp"}
#: How many benchmarks are listed.
_BENCHMARKS_SHOWN = 8


@dataclass(frozen=True)
class Naming:
    """What the comment at the top says of where a kernel belongs; texts are the user's."""

    model: str
    backend: str
    file: str  #: The kernel's, relative to the suite's folder.
    substitution: str


def kernel_text(interface: KernelInterface, dispatch: Dispatch, language: Language, naming: Naming) -> str:
    """The source of a kernel for a dispatch, in the language of its backend."""
    text = c_text if language == "c" else glsl_text
    entry = f"kernel_{dispatch.name}" if language == "c" else "main"
    return _template(f"kernel{SUFFIXES[language]}.jinja").render(
        header="\n".join(f"// {line}".rstrip() for line in _header(interface, dispatch, naming, language)),
        entry=entry,
        bindings=[declare(binding, language) for binding in interface.bindings],
        constants=interface.constants,
        workloads=[(f"workload{ordinal}", text(size)) for ordinal, size in interface.workloads.items()],
        fills=[
            fill
            for i, binding in enumerate(interface.bindings)
            if binding.written
            for fill in fills(i, binding, language)
        ],
    )


def _template(name: str) -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template(name)


def _header(interface: KernelInterface, dispatch: Dispatch, naming: Naming, language: Language) -> Iterator[str]:
    """The comment at the top."""
    place = f"{_quoted(naming.model)} on {_quoted(naming.backend)}"
    yield f"A kernel for the dispatch {dispatch.name} of the model {place}."
    yield f"IREE calls it {_quoted(dispatch.export)} of {_quoted(dispatch.executable)}."
    yield "It writes zeros where the dispatch writes: put the computation there."
    yield ""
    inputs = ", ".join(f"w{i}" for i in range(interface.workload))
    last = f"w{interface.workload - 1} ceildiv 64" if interface.workload else "1"
    yield from (
        "In the manifest (without `workgroups` there are as many as of the compiler's own kernel):",
        "  models:",
        f"    {_quoted(naming.model)}:",
        "      substitutions:",
        f"        {naming.substitution}:",
        f"          dispatch: {dispatch.name}",
        f"          backends: [{_quoted(naming.backend)}]",
        f"          object: {_quoted(naming.file)}",
        f"          # workgroups: ({inputs}) -> ({last}, 1, 1)",
    )
    yield ""
    _, command = DEFAULT_COMMANDS[SUFFIXES[language]]
    yield f"It is compiled with: {' '.join(command)}"
    if dispatch.benchmarks and interface.workload:
        yield ""
        yield "Workload of the benchmarks:"
    for benchmark in dispatch.benchmarks[:_BENCHMARKS_SHOWN] if interface.workload else ():
        yield f"  {benchmark.name}: {', '.join(map(str, benchmark.workload))}"


def _quoted(text: str) -> str:
    """A text of the user's as it may stand in a comment and in YAML: one line of ASCII, which ends with a quote."""
    return json.dumps(text)
