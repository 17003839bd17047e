"""The page that goes with what is exported for IREE's tuner: what to run, and what to do with the result."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import yaml

_PAGE = """\
# {model} on {backend}, for amdsharktuner

Written by `dispatchgen export-tuner` with IREE {compiler}.

[amdsharktuner](https://github.com/nod-ai/amd-shark-ai/tree/main/amdsharktuner) looks for faster lowering configurations
of dispatches on AMD GPUs and writes tuning specs. It uses the IREE that is installed for the same Python: install the
version above. Its release 3.9.0 cannot be imported with IREE 3.12 or newer; its main branch can.

The commands are for this folder, on a machine with the GPU. `--help` names their other options.

## A dispatch

```shell
{dispatch_commands}
```

The best specs are named at the end of `tuning_<time>/summary.log`.

## A dispatch in the whole model

```shell
{model_commands}
```

The best spec is written to the file of `--output-td-spec`.

{starter}## Measuring the result

Copy a tuning spec below the suite's folder and name it in the manifest. It is then measured beside the compiler's own
choice, in each dispatch and in the whole model:

```yaml
{manifest}```
{skipped}"""

_STARTER = """\
The suite is compiled with tuning specs of its own: `{flags}`. The tuner gives that flag itself, so it is not in
`compile_flags.txt`; `--starter-td-spec=FILE` starts from such a file.

"""


@dataclass(frozen=True)
class Page:
    """What the page tells of."""

    model: str
    backend: str
    compiler: str  #: Version text.
    devices: tuple[str, ...]  #: URIs.
    benchmarks: tuple[str, ...]  #: Files.
    program: str  #: File.
    compile_flags: str  #: File.
    call_flags: tuple[str, ...]  #: A file per call of the whole model.
    spec_flags: tuple[str, ...]  #: Flags of the suite that name a tuning spec.
    skipped: Mapping[str, str]  #: Name of a dispatch -> why it is not here.

    def text(self) -> str:
        """The page, in Markdown."""
        spec = "tuning-spec.mlir"
        substitution = {"tuned": {"tuning_spec": spec, "backends": [self.backend]}}
        manifest = {"models": {self.model: {"substitutions": substitution}}}
        return _PAGE.format(
            model=self.model,
            backend=self.backend,
            compiler=self.compiler,
            dispatch_commands="\n".join(self._dispatch_command(file) for file in self.benchmarks),
            model_commands="\n".join(
                self._model_command(file, flags) for file in self.benchmarks for flags in self.call_flags
            ),
            starter=_STARTER.format(flags=shlex.join(self.spec_flags)) if self.spec_flags else "",
            manifest=yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True),
            skipped=_section("Not here", [f"- `{name}`: {reason}" for name, reason in self.skipped.items()]),
        )

    def _dispatch_command(self, benchmark: str) -> str:
        # The first file is only what results are named after.
        return shlex.join(["python", "-m", "dispatch_tuner", benchmark, benchmark, *self._options()])

    def _model_command(self, benchmark: str, call_flags: str) -> str:
        spec = benchmark.replace("_benchmark.mlir", "_tuning_spec.mlir")
        options = [f"--model-benchmark-flags-file={call_flags}", f"--output-td-spec={spec}"]
        return shlex.join(["python", "-m", "model_tuner", self.program, benchmark, *self._options(), *options])

    def _options(self) -> Sequence[str]:
        return f"--compile-flags-file={self.compile_flags}", f"--devices={','.join(self.devices)}"


def _section(title: str, lines: Sequence[str]) -> str:
    return "\n".join(["", f"## {title}", "", *lines, ""]) if lines else ""
