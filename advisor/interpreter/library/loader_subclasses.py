"""Classes of a project that derive from a loader or data set, and what their ``__init__`` gives to that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.library.loader_construction import build_loader
from accel_advisor.interpreter.resolution import class_member, take_in
from accel_advisor.records.facts import CallSite
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.known_datasets import KEEPS_TRANSFORMS, MEMORY_DATASETS
from accel_advisor.tables.loader_libraries import CONSTRUCTORS, Constructor
from accel_advisor.tables.torch_modules import CONTAINERS
from accel_advisor.values.values import UNKNOWN, Class, Function, Instance, Loader, Module, Value

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine
    from accel_advisor.interpreter.arguments import Arguments


_OBJECT = "\0object"


def build_subclass(
    machine: Machine, cls: Class, constructor: Constructor, arguments: Arguments, node: cst.Call
) -> Value:
    """Builds an object of a subclass of a loader: what its ``__init__`` gives ``super().__init__(...)`` where it has
    one, and what it is called with where that is passed on."""
    if passes_arguments_on(machine, cls):
        return build_loader(machine, constructor, arguments, node, cls=cls)
    init = class_member(machine, cls, "__init__")
    if isinstance(init, Function):
        instance = Instance(cls)
        machine.call_function(init, arguments, CallSite(machine.document, node), instance)
        built = machine.store.get(instance, "\0loader")
        if built is not None:
            return built
    return build_loader(machine, constructor, arguments, node, opaque=True, cls=cls)


def build_base(machine: Machine, arguments: Arguments, node: cst.Call) -> None:
    """``super().__init__(...)`` in the ``__init__`` of a subclass of a loader, of a container of modules, or of a data
    set that keeps its transforms."""
    function = machine.frame.function
    if function is None or function.owner is None or function.name != "__init__":
        return
    bases, params = function.owner.library_bases(), function.node.params.params
    receiver = machine.lookup(params[0].name.value) if params else UNKNOWN
    if isinstance(receiver, Module) and not bases.isdisjoint(CONTAINERS):
        take_in(machine, receiver, (*arguments.values(), *arguments.rest))
    if isinstance(receiver, Instance) and not bases.isdisjoint(MEMORY_DATASETS):
        for name in arguments.keywords.keys() & KEEPS_TRANSFORMS:
            machine.store.set(receiver, name, arguments.keywords[name].value)
    if passes_arguments_on(machine, function.owner):
        return
    loader = next((CONSTRUCTORS[base] for base in sorted(bases) if base in CONSTRUCTORS), None)
    if loader is not None and isinstance(receiver, Instance):
        built = build_loader(machine, loader, arguments, node, cls=receiver.cls)
        machine.store.set(receiver, "\0loader", built)
        if isinstance(built, Loader):
            machine.store.set(built.call, _OBJECT, receiver)


def object_of(machine: Machine, loader: Loader) -> Instance | None:
    """The object that a loader of a class of the project is, where its ``__init__`` was followed."""
    held = machine.store.get(loader.call, _OBJECT)
    return held if isinstance(held, Instance) else None


def is_loader_class(cls: Class) -> bool:
    """Whether a class of the project derives from a loader."""
    return not cls.library_bases().isdisjoint(CONSTRUCTORS)


def passes_arguments_on(machine: Machine, cls: Class) -> bool:
    """Whether a subclass of a loader gives its arguments to the loader as they are."""
    init = class_member(machine, cls, "__init__")
    if init is None:
        return True
    if not isinstance(init, Function) or not isinstance(init.node, cst.FunctionDef):
        return False
    params = init.node.params
    if not isinstance(params.star_arg, cst.Param) or params.star_kwarg is None or len(params.params) > 1:
        return False
    star, kwargs = params.star_arg.name.value, params.star_kwarg.name.value
    if sum(one.value in (star, kwargs) for one in descendants(init.node.body, cst.Name)) != 2:
        return False  # something is done with them besides
    for statement in init.node.body.body:
        if not isinstance(statement, cst.SimpleStatementLine):
            continue
        for small in statement.body:
            if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
                given = [(arg.star, arg.value.value) for arg in small.value.args if isinstance(arg.value, cst.Name)]
                if given == [("*", star), ("**", kwargs)] and len(small.value.args) == 2:
                    return True
    return False
