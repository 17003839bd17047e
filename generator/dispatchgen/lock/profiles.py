"""The profiles that a manifest names: read, checked against the model, and what extraction takes of them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from dispatchgen.errors import DispatchgenError, Place, Problem, ProfileError
from dispatchgen.extract.program import Program
from dispatchgen.extract.recorded import Recorded
from dispatchgen.extract.schema import Call
from dispatchgen.files import sha256_of
from dispatchgen.iree.configure import source_path
from dispatchgen.manifest.suite import Backend, Model, ProfileShapes, Suite
from dispatchgen.profile.schema import Profile
from dispatchgen.profile.store import read_profile

#: Digits of a SHA-256 that messages show.
_DIGITS = 12


def profile_calls(model: Model) -> tuple[Call, ...]:
    """The calls that stand for a model's profiles."""
    return tuple(
        Call(name=each.label, function="", shape=each.label, symbols={}, inputs=(), profile=each.file)
        for each in model.profiles
    )


def profile_digests(suite: Suite, model: Model) -> dict[str, str]:
    """SHA-256 of each profile of a model, by its path in the manifest. Raises ProfileError where one cannot be read."""
    digests = {}
    for each in model.profiles:
        path = suite.root / each.file
        try:
            digests[each.file] = sha256_of(path)
        except OSError as error:
            hint = capture_command(suite, model, model.backends[0], each.file)
            message = f"model {model.name}: cannot read the profile: {error.strerror}"
            raise ProfileError(Problem(message, Place(str(path)), hint)) from error
    return digests


def read_profiles(suite: Suite, model: Model) -> dict[str, Profile]:
    """The profiles of a model, by label.

    Raises ProfileError, with the problems of all: one cannot be read, is of another source or of a backend that the
    model does not have.
    """
    found: dict[str, Profile] = {}
    problems: list[Problem] = []
    for each in model.profiles:
        try:
            found[each.label] = read_profile(suite.root / each.file)
        except DispatchgenError as error:
            problems += error.problems
            continue
        problem = _problem(suite, model, each, found[each.label])
        problems += [] if problem is None else [problem]
    if problems:
        raise ProfileError(*problems)
    return found


def _problem(suite: Suite, model: Model, shapes: ProfileShapes, profile: Profile) -> Problem | None:
    """Why a profile is not one of the model."""
    place = Place(str(suite.root / shapes.file))
    source = sha256_of(source_path(suite, model))
    if profile.source != source:
        message = "the profile is of another model, or of another version of its source: it was captured from "
        message += f"{profile.model} with the source {profile.source[:_DIGITS]}..., "
        message += f"that of model {model.name} is {source[:_DIGITS]}... (SHA-256)"
        return Problem(message, place, capture_command(suite, model, profile.backend, shapes.file))
    if profile.backend not in model.backends:
        message = f"the profile is of backend {profile.backend}, and model {model.name} has {', '.join(model.backends)}"
        return Problem(message, place, capture_command(suite, model, model.backends[0], shapes.file))
    return None


def capture_command(suite: Suite, model: Model, backend: str, file: str) -> str:
    """The command that makes a profile anew, for a shell."""
    options = ["--manifest", str(suite.manifest), "--backend", backend, "-o", str(suite.root / file)]
    return shlex.join(["dispatchgen", "capture", model.name, *options])


def recorded_sizes(
    program: Program, model: Model, backend: Backend, profiles: Mapping[str, Profile], compiler: str
) -> dict[str, Recorded]:
    """What the profiles of a model hold for its program on a backend, by label; nothing for other backends.

    Raises ProfileError where nothing of a profile fits the program.
    """
    from dispatchgen.profile.sizes import profile_sizes

    return {
        each.label: profile_sizes(program, profiles[each.label], each, compiler)
        for each in model.profiles
        if profiles[each.label].backend == backend.id
    }
