"""Making the lock of a model from its program."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from dispatchgen.errors import DataError, DispatchgenError, ModelError, Place, Problem
from dispatchgen.extract.schema import BackendDispatches, Call, Dispatch
from dispatchgen.files import sha256_of, work_folder
from dispatchgen.iree.configure import DEFAULT_TIMEOUT, configure, import_source, source_path
from dispatchgen.iree.tools import CompilerTools
from dispatchgen.lock.profiles import profile_calls, profile_digests, read_profiles, recorded_sizes
from dispatchgen.lock.schema import Lock, MadeFrom
from dispatchgen.manifest.data_sections import FillSection, item_of, section_of
from dispatchgen.manifest.fills import BindingFill, DataSettings, Fill
from dispatchgen.manifest.names import did_you_mean, nearest, show, show_all
from dispatchgen.manifest.size_range import format_range
from dispatchgen.manifest.suite import Backend, Input, Model, Suite
from dispatchgen.profile.schema import Profile


def made_from(compiler: str, suite: Suite, model: Model) -> MadeFrom:
    """What a lock of the model would be made from today, by a compiler of this version.

    Raises ModelError when the model's source cannot be read, ProfileError when a profile cannot.
    """
    path = source_path(suite, model)
    try:
        source = sha256_of(path)
    except OSError as error:
        raise ModelError(Problem(f"model {model.name}: cannot read it: {error.strerror}", Place(str(path)))) from error
    return MadeFrom(
        source=source,
        settings={backend.id: settings_digest(model, backend) for backend in _backends(suite, model)},
        compiler=compiler,
        profiles=profile_digests(suite, model),
        flag_files=_flag_files(suite, model),
    )


def _flag_files(suite: Suite, model: Model) -> dict[str, str]:
    """SHA-256 of each file that compile flags name: tuning specifications and the like."""
    digests = {}
    for file in sorted({file for files in model.flag_files.values() for file in files}):
        try:
            digests[file] = sha256_of(suite.root / file)
        except OSError as error:
            message = f"model {model.name}: cannot read a file that its flags name: {error.strerror}"
            raise ModelError(Problem(message, Place(str(suite.root / file)))) from error
    return digests


def settings_digest(model: Model, backend: Backend) -> str:
    """SHA-256 of all that the manifest says and that the dispatches of `model` on `backend` depend on.

    Labels, devices, what drift means, the place of the source file, presets and run settings are not among it, but for
    the memory that cold benchmarks need.
    """
    data: dict[str, object] = {
        "format": model.source.format,
        "import_flags": model.import_flags,
        "entry": model.entry,
        "inputs": {entry or "": [_input(value) for value in inputs] for entry, inputs in model.inputs.items()},
        # In their order: a benchmark is named after the first shape that has its sizes.
        "shapes": [[shape.label, sorted(shape.symbols.items())] for shape in model.shapes],
        "bindings": model.bindings,
        "target": [backend.target_device, backend.local_backend],
        "compile_flags": [*backend.compile_flags, *model.compile_flags.get(backend.id, ())],
    }
    if model.auto is not None:
        ranges = {name: format_range(sizes) for name, sizes in model.auto.ranges.items()}
        data["auto"] = [model.auto.limit, sorted({**model.auto.symbols, **ranges}.items())]
    if model.profiles:
        data["profiles"] = [[each.file, each.label, each.top] for each in model.profiles]
    if model.data != DataSettings():
        # In their order: of several fills of one binding the last counts.
        fills = [[each.dispatch, each.binding, _fill(each.fill)] for each in model.data.bindings]
        data["data"] = [_fill(model.data.default), fills]
    if model.cold_memory is not None:
        data["cold_memory"] = model.cold_memory
    if model.overrides:
        data["overrides"] = sorted(model.overrides.items())
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _input(value: Input) -> dict[str, object]:
    data = asdict(value)
    return data if value.fill is None else {**data, "fill": _fill(value.fill)}


def _fill(fill: Fill) -> object:
    """A fill as JSON; `asdict` would lose which of those it is that have no fields."""
    item = item_of(fill)
    return item.model_dump(mode="json", exclude_defaults=True) if isinstance(item, FillSection) else item


def make_lock(
    tools: CompilerTools, suite: Suite, model: Model, previous: Lock | None = None, timeout: float = DEFAULT_TIMEOUT
) -> Lock:
    """Makes the lock of a model from its program, in this process.

    Args:
      previous: The lock to be renewed: dispatches of unchanged content keep their names.
      timeout: Time limit of each process that is started, in seconds.

    Raises:
      DispatchgenError: with the problems of all backends.
    """
    origin = made_from(tools.compiler_version, suite, model)
    profiles = read_profiles(suite, model)
    calls: dict[str, tuple[Call, ...]] = {}
    locks: dict[str, BackendDispatches] = {}
    read_backs: set[str] = set()
    unused: list[tuple[BindingFill, ...]] = []
    errors: list[DispatchgenError] = []
    with work_folder() as folder:
        configured = _configured(tools, suite, model, folder, timeout, errors)
        model = _with_chosen_shapes(suite, model, configured, tools) if not errors else model
        for backend, path in configured.items():
            before = None if previous is None else previous.backends.get(backend)
            try:
                found = _dispatches(path, model, suite.backend(backend), before, tools, profiles, suite.root)
            except DispatchgenError as error:
                errors.append(error)
                continue
            calls[backend], locks[backend] = found.calls, found.lock
            read_backs.update(found.read_backs)
            unused.append(found.unused)
        raise_all(errors)
        _check_shapes(suite, model, configured, tools)
    _check_calls(suite, model, calls)
    _check_overrides(suite, model, read_backs)
    _check_fills(suite, model, unused, [dispatch for lock in locks.values() for dispatch in lock.dispatches])
    return Lock(
        model=model.id,
        made_from=origin,
        entry=model.entry,
        # Of several profiles, those that have recorded data have an archive beside them.
        files=tuple(file for file in model.data_files if (suite.root / file).is_file()),
        data=section_of(model.data),
        cold_memory=model.cold_memory,
        calls=next(iter(calls.values()), ()),
        backends=locks,
    )


def _configured(
    tools: CompilerTools,
    suite: Suite,
    model: Model,
    folder: Path,
    timeout: float,
    errors: list[DispatchgenError],
) -> dict[str, Path]:
    """The configured module on each backend, by its id; `errors` gets those of backends where there is none."""
    imported = import_source(tools, suite, model, folder, timeout)
    found = {}
    for backend in _backends(suite, model):
        work_dir = folder / backend.id
        work_dir.mkdir()
        try:
            found[backend.id] = configure(tools, suite, model, backend, work_dir, timeout, imported)
        except DispatchgenError as error:
            errors.append(error)
    return found


def _with_chosen_shapes(suite: Suite, model: Model, configured: dict[str, Path], tools: CompilerTools) -> Model:
    if model.auto is None:
        return model
    from dispatchgen.lock.chosen import with_chosen_shapes

    return with_chosen_shapes(model, source_path(suite, model), configured, tools.compiler_version)


def _check_shapes(suite: Suite, model: Model, configured: dict[str, Path], tools: CompilerTools) -> None:
    """Raises ModelError for shapes that contradict the source: what the program itself states was checked before."""
    from dispatchgen.lock.chosen import check_shapes

    for path in list(configured.values())[:1]:
        check_shapes(model, source_path(suite, model), path, tools.compiler_version)


@dataclass(frozen=True)
class _Found:
    """What a model has on a backend."""

    calls: tuple[Call, ...]
    lock: BackendDispatches
    read_backs: tuple[str, ...]
    unused: tuple[BindingFill, ...]  #: What names no dispatch.


def _dispatches(
    configured: Path,
    model: Model,
    backend: Backend,
    previous: BackendDispatches | None,
    tools: CompilerTools,
    profiles: Mapping[str, Profile],
    root: Path,
) -> _Found:
    """The calls of a model and its dispatches on a backend, from its configured module."""
    # Imported here: the bindings take a tenth of a second, and whoever only reads locks does not need them.
    from dispatchgen.extract.calls import calls_of
    from dispatchgen.extract.extraction import extract
    from dispatchgen.extract.program import Program
    from dispatchgen.iree.ir import read_module
    from dispatchgen.lock.data import ProfilesOf, data_plan

    with read_module(configured, tools.compiler_version) as module:
        program = Program(module)
        calls = (*calls_of(program, model), *profile_calls(model))
        recorded = recorded_sizes(program, model, backend, profiles, tools.compiler_version)
        data = data_plan(model.data, root, ProfilesOf([each.file for each in model.profiles], program, backend.id))
        extraction = extract(program, calls, backend.id, previous, recorded, data, cold_memory=model.cold_memory)
    lock = extraction.lock
    if not lock.dispatches and not lock.skipped:
        raise ModelError(
            Problem(
                f"model {model.name} on backend {backend.name}: the program has no dispatch: "
                "all of it is done by the host, or became constants",
                hint="give it work that depends on its inputs",
            )
        )
    return _Found(calls, lock, extraction.read_backs, extraction.held.unused)


def _check_overrides(suite: Suite, model: Model, read_backs: Collection[str]) -> None:
    """Raises ModelError for overrides that nothing uses."""
    unused = [name for name in model.overrides if name not in read_backs]
    there = f"it reads {show_all(sorted(read_backs))}" if read_backs else "it reads nothing back from the device"
    place = Place(str(suite.manifest), model.line)
    problems = [
        Problem(
            f"model {model.name}: the override of {show(name)} is not used: {there}",
            place,
            nearest(name, read_backs) or "remove it",
        )
        for name in unused
    ]
    if problems:
        raise ModelError(*problems)


def _check_fills(
    suite: Suite, model: Model, unused: Sequence[Collection[BindingFill]], dispatches: Collection[Dispatch]
) -> None:
    """Raises DataError for fills that name a dispatch on no backend.

    Args:
      unused: Those that name none, on each backend.
      dispatches: All that there are.
    """
    names = sorted({name for dispatch in dispatches for name in (dispatch.name, dispatch.operation)})
    problems = [
        Problem(
            f"model {model.name}: there is no dispatch {show(fill.dispatch)} to hold data",
            Place(str(suite.manifest), fill.line or model.line),
            did_you_mean(fill.dispatch, names),
        )
        for fill in model.data.bindings
        if unused and all(fill in each for each in unused)
    ]
    if problems:
        raise DataError(*problems)


def _check_calls(suite: Suite, model: Model, calls: dict[str, tuple[Call, ...]]) -> None:
    """Raises ModelError when the backends disagree on the calls: the lock has one list for all of them."""
    first = next(iter(calls), "")
    for other in calls:
        if calls[other] != calls[first]:
            names = [", ".join(call.name for call in calls[backend]) for backend in (first, other)]
            message = f"model {model.name}: its calls differ: {names[0]} on backend {first}, {names[1]} on {other}"
            raise ModelError(
                Problem(message, Place(str(suite.manifest), model.line), "name the model's entry function")
            )


def _backends(suite: Suite, model: Model) -> list[Backend]:
    return [suite.backend(backend) for backend in model.backends]


def raise_all(errors: Sequence[DispatchgenError]) -> None:
    """Raises the only error, or one that carries the problems of all; does nothing where there is none."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise DispatchgenError(*(problem for error in errors for problem in error.problems))
