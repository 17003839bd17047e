"""Where kernels from templates belong: which backend of a suite they are for, and what the manifest calls them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dispatchgen.errors import Place, Problem, SubstitutionError
from dispatchgen.extract.schema import Dispatch
from dispatchgen.kernel_template.fill import Language
from dispatchgen.kernel_template.interface import kernel_interface
from dispatchgen.kernel_template.template import SUFFIXES, Naming, kernel_text
from dispatchgen.manifest.names import show, show_all
from dispatchgen.manifest.objects import DEFAULT_COMMANDS, code_generator
from dispatchgen.manifest.suite import Backend, Suite
from dispatchgen.workbench.session import Session


def language_of(backend: Backend) -> Language | None:
    """The language of kernels for a backend; None: there is no template."""
    generator = code_generator(backend)
    return next((language for language, suffix in SUFFIXES.items() if DEFAULT_COMMANDS[suffix][0] == generator), None)


def with_template(suite: Suite, language: Language | None) -> Suite:
    """A suite of one model with the only one of its backends that kernels in a language have a template for.

    Args:
      language: None: any.

    Raises SubstitutionError where there is none, or several.
    """
    languages = {backend: language_of(backend) for backend in suite.backends}
    fitting = [backend for backend, its in languages.items() if its is not None and language in (None, its)]
    place = Place(str(suite.manifest))
    if not fitting:
        of = ", ".join(f"{show(backend.name)} ({its or 'none'})" for backend, its in languages.items())
        wanted = f"in {language} " if language is not None else ""
        message = f"there is no template of kernels {wanted}for these backends; their languages are {of}"
        hint = (
            "templates are in C for llvm-cpu and in GLSL for vulkan; for other backends start from `dispatchgen dump`"
        )
        raise SubstitutionError(Problem(message, place, hint))
    if len(fitting) > 1:
        message = f"several backends have a template: {show_all(backend.name for backend in fitting)}"
        raise SubstitutionError(Problem(message, place, f"--backend {fitting[0].name}"))
    (backend,) = fitting
    models = tuple(replace(model, backends=(backend.id,)) for model in suite.models)
    return replace(suite, backends=(backend,), models=models)


def kernel(session: Session, dispatch: Dispatch, output: Path | None) -> str:
    """The source of a kernel for a dispatch, on a backend that has a template.

    Args:
      output: Where it is going to be; None: not known.
    """
    language = language_of(session.backend)
    assert language is not None
    file = session.suite.relative(output) if output is not None else None
    naming = Naming(
        model=session.model.name,
        backend=session.backend.name,
        file=file or f"kernels/{dispatch.name}{SUFFIXES[language]}",
        substitution=f"my_{dispatch.name}",
    )
    return kernel_text(kernel_interface(session.export(dispatch), dispatch), dispatch, language, naming)
