"""The keywords of a suite's call that say what its substitutions replace, and how.

Each text is `<substitution>=<value>`: ids hold no `=`, so that the value may be any text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dispatchgen.manifest.objects import object_suffix
from dispatchgen.manifest.suite import Backend, Model, Substitution
from dispatchgen.selection.select import Selected


def substitution_arguments(
    model: Model, backend: Backend, selected: Sequence[Selected]
) -> Mapping[str, str | Sequence[str] | None]:
    """The keywords, with their values.

    Args:
      model: Of the call.
      backend: Of the call.
      selected: What the model's substitutions replace on the backend.
    """
    by_id = sorted(selected, key=lambda each: each.substitution.id)
    kernels = [each.substitution for each in by_id if each.substitution.command]
    return {
        "substitutes": sorted(
            f"{each.substitution.id}={target.dispatch.name}={target.kind}={target.file}"
            for each in by_id
            for target in each.targets
        ),
        "object_commands": [f"{each.id}={argument}" for each in kernels for argument in _command(each)],
        "object_suffix": object_suffix(backend) if kernels else None,
        "substitute_inputs": [f"{each.id}={file}" for each in kernels for file in sorted(set(each.inputs))],
        "substitute_flags": [f"{each.substitution.id}={flag}" for each in by_id for flag in _flags(each.substitution)],
        "combinations": sorted(
            f"{combination.id}={member}"
            for combination in model.combinations
            if backend.id in combination.backends
            for member in combination.members
        ),
    }


def _command(substitution: Substitution) -> list[str]:
    """The command that builds the object; `{source}` and `{output}` are the build system's to fill in."""
    return [argument.replace("{entry}", substitution.entry or "") for argument in substitution.command]


def _flags(substitution: Substitution) -> Iterator[str]:
    """Flags of `dispatchgen substitute`."""
    if substitution.entry is not None:
        yield f"--entry={substitution.entry}"
    if substitution.workgroups is not None:
        yield f"--workgroups={substitution.workgroups}"
    if substitution.other_target:
        yield "--allow-other-target"
    if substitution.tolerance is not None:
        yield f"--tolerance={substitution.tolerance!r}"
