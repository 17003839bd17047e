"""The parts of a configured module: its functions, executables and the places that dispatch them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from dispatchgen.iree import ir

#: What a public function's asynchronous body is called beside the function itself, in programs from importers.
_ASYNC_SUFFIX = "$async"


@dataclass(frozen=True)
class Export:
    """One export of one executable: what a dispatch runs."""

    executable: str
    variant: str
    name: str
    executable_op: ir.Operation
    export_op: ir.Operation
    variants: int  #: How many variants the executable has.


@dataclass(frozen=True)
class Site:
    """A place in the host program that dispatches."""

    function: str | None  #: None: an initializer.
    executable: str
    export: str
    operation: ir.Operation


class Program:
    """Index of a `builtin.module` in the `executable-configurations` phase."""

    def __init__(self, module: ir.Operation):
        self.module = module
        self.operations = ir.body(module)
        self.functions = {ir.symbol(op): op for op in self.operations if op.name == "util.func"}
        self.initializers = [op for op in self.operations if op.name == "util.initializer"]
        self.globals = {ir.symbol(op): op for op in self.operations if op.name == "util.global"}
        self.exports = {(export.executable, export.name): export for export in self._find_exports()}
        #: By executable and export, what `extraction.content_of` has computed so far.
        self.contents: dict[tuple[str, str], str] = {}

    def _find_exports(self) -> Iterator[Export]:
        for executable in self.operations:
            if executable.name != "hal.executable":
                continue
            variants = [
                op.operation for op in executable.regions[0].blocks[0].operations if op.name == "hal.executable.variant"
            ]
            for variant in variants[:1]:
                for op in variant.regions[0].blocks[0].operations:
                    if op.name == "hal.executable.export":
                        yield Export(
                            ir.symbol(executable),
                            ir.symbol(variant),
                            ir.symbol(op.operation),
                            executable,
                            op.operation,
                            len(variants),
                        )

    @cached_property
    def sites(self) -> list[Site]:
        """Every place that dispatches, in the order of the module."""
        found = []
        for op in self.operations:
            if op.name in ("util.func", "util.initializer"):
                function = ir.symbol(op) if op.name == "util.func" else None
                for dispatch in ir.walk(op, "stream.cmd.dispatch"):
                    executable, *_, export = ir.symbol_ref(dispatch.attributes["entry_points"][0])
                    found.append(Site(function, executable, export, dispatch))
        return found

    @cached_property
    def callees(self) -> dict[str, set[str]]:
        """The functions that each function calls, directly or through others, itself included."""
        direct = {
            name: {ir.symbol_ref(call.attributes["callee"])[0] for call in ir.walk(op, "util.call")}
            & self.functions.keys()
            for name, op in self.functions.items()
        }
        closures: dict[str, set[str]] = {}
        for name in direct:
            closure, todo = {name}, [name]
            while todo:
                new = direct[todo.pop()] - closure
                closure |= new
                todo += new
            closures[name] = closure
        return closures

    @cached_property
    def called_by_initializers(self) -> set[str | None]:
        """The functions that initializers call, directly or not, and None for the initializers themselves."""
        calls = {ir.symbol_ref(c.attributes["callee"])[0] for op in self.initializers for c in ir.walk(op, "util.call")}
        return {None, *(callee for call in calls & self.callees.keys() for callee in self.callees[call])}

    def dispatched_in(self, operation: ir.Operation) -> set[tuple[str, str]]:
        """Executable and export of every dispatch inside an operation and in the functions that it calls."""
        calls = {ir.symbol_ref(call.attributes["callee"])[0] for call in ir.walk(operation, "util.call")}
        functions = {callee for call in calls & self.callees.keys() for callee in self.callees[call]}
        found = {(site.executable, site.export) for site in self.sites if site.function in functions}
        for dispatch in ir.walk(operation, "stream.cmd.dispatch"):
            executable, *_, export = ir.symbol_ref(dispatch.attributes["entry_points"][0])
            found.add((executable, export))
        return found

    @cached_property
    def static_dispatches(self) -> set[tuple[str, str]]:
        """Executable and export of the dispatches whose sizes are constants of the program at every place."""
        dynamic = {(site.executable, site.export) for site in self.sites if not _has_constant_sizes(site.operation)}
        return {(site.executable, site.export) for site in self.sites} - dynamic

    @cached_property
    def devices(self) -> dict[str, ir.Operation]:
        """The globals that hold devices, by symbol."""
        return {name: op for name, op in self.globals.items() if str(op.attributes["type"]) == "!hal.device"}

    @cached_property
    def public_functions(self) -> list[str]:
        """The functions that can be called from outside, in order."""
        return [name for name, op in self.functions.items() if ir.is_public(op)]

    @cached_property
    def entries(self) -> list[str]:
        """The public functions that dispatch, in order; one name for a function and its `$async` body."""
        dispatching = {site.function for site in self.sites}
        names = []
        for name in self.public_functions:
            plain = name.removesuffix(_ASYNC_SUFFIX)
            if plain != name and plain in self.public_functions:
                continue
            if self.callees[name] & dispatching:
                names.append(name)
        return names

    def body_of(self, entry: str) -> str:
        """The function that takes an entry's inputs apart: its `$async` body where there is one."""
        body = entry + _ASYNC_SUFFIX
        return body if body in self.functions else entry


def _has_constant_sizes(dispatch: ir.Operation) -> bool:
    from iree.compiler import ir as mlir

    view = dispatch.opview
    operands = [*view.workload, *view.uniform_operands, *view.resource_lengths]
    return all(not isinstance(value.owner, mlir.Block) and value.owner.name == "arith.constant" for value in operands)
