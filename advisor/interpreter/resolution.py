"""What names mean, without executing or recording anything: for the interpreter, and for those who ask it later."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.shapes import positional_parameters
from accel_advisor.tables.canonical_names import canonical
from accel_advisor.tables.known_datasets import ANY_VISION_DATASET
from accel_advisor.tables.torch_modules import (
    ANY_VISION_MODEL,
    CLASSES_OF_MODULES,
    FUNCTION_BASES,
    MODULE_BASES,
    WRAPPERS_THAT_MOVE_INPUTS,
)
from accel_advisor.values.store import BUILT, PARTS
from accel_advisor.values.values import (
    MOST_OPTIONS,
    UNKNOWN,
    Class,
    Constant,
    Function,
    Instance,
    Iterated,
    Method,
    Module,
    Namespace,
    Opaque,
    Pending,
    Qualified,
    Sequence,
    SourceModule,
    Unknown,
    Value,
    named,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine
    from accel_advisor.interpreter.arguments import Arguments
    from accel_advisor.values.scope import Scope


FLAGS = "absl.flags.FLAGS"
"""The owner of the flags that a program defines."""


def value_of(machine: Machine, scope: Scope, node: cst.BaseExpression) -> Value:
    """The value of a dotted name, seen from a scope; Unknown for any other expression.

    An import that nothing has followed yet is followed now.
    """
    with machine.at_home(scope):
        if type(node) is cst.Name:
            return machine.lookup(node.value)
        if isinstance(node, cst.Attribute):
            owner = value_of(machine, scope, node.value)
            if isinstance(owner, (Qualified, SourceModule, Namespace)):
                return member_of(machine, owner, node.attr.value)
    return UNKNOWN


def member_of(machine: Machine, owner: Qualified | SourceModule | Namespace, name: str) -> Value:
    """What ``owner.name`` means, of a library, a module of the project, or a namespace."""
    if isinstance(owner, Qualified):
        if owner.name in machine.folders:
            return _in_folder(machine, f"{owner.name}.{name}")
        full = canonical(f"{owner.name}.{name}")
        declared = _flag(machine, full)
        return declared if declared is not None else Qualified(full)
    if isinstance(owner, SourceModule):
        return Method(owner, name) if name == "__dict__" else module_attribute(machine, owner.scope, name)
    stored = machine.store.get(owner, name)
    if stored is not None:
        return stored
    if owner.parser is not None:
        declared = machine.store.get(owner.parser, name)
        if declared is not None:
            return declared
    return UNKNOWN if name not in ("__dict__", "copy", "update") else Method(owner, name)


def any_member_of(owner: Qualified) -> Value:
    """What a library's module holds under a name that only the run tells: a data set or a model, if it is a module of
    such."""
    known = (one for one in (ANY_VISION_DATASET, ANY_VISION_MODEL) if owner.name == one.rpartition(".")[0])
    return next(map(Qualified, known), UNKNOWN)


def module_attribute(machine: Machine, scope: Scope, name: str) -> Value:
    """What a module of the project holds under a name; a package holds the modules in its folder, too."""
    held = machine.store.get(scope, name)
    itself = held == Pending(scope.document.path, name)  # a package that says ``from . import module``
    found = machine.member(scope, name) if not itself else None
    if held is not None and not itself:
        return UNKNOWN if found is None else found
    if found is not None and not isinstance(found, Unknown):
        return found
    inner = None
    if os.path.basename(scope.document.path) == "__init__.py":
        inner = machine.modules.resolve(name, 1, scope.document)
    if inner is None:
        return UNKNOWN
    machine.recorder.imported(machine.document, inner)
    return machine.settle(Pending(inner))


def _in_folder(machine: Machine, full: str) -> Value:
    """What a dotted name means that begins with a folder of the project that has no ``__init__.py``."""
    filename = machine.modules.resolve(full, 0, machine.document)
    return machine.settle(Pending(filename)) if filename is not None else Qualified(full)


def class_member(machine: Machine, cls: Class | None, name: str) -> Value | None:
    """What a class or one of its bases in the project defines under a name."""
    return _first_defined(machine, cls.lineage(), name) if cls is not None else None


def builds_modules(cls: Class) -> bool:
    """Whether the objects of a class are modules: it derives from ``nn.Module``, or from a layer, loss or model of a
    library."""
    bases = cls.library_bases()
    return not bases.isdisjoint(MODULE_BASES) or any(map(CLASSES_OF_MODULES.fullmatch, bases))


def has_own_gradient(cls: Class) -> bool:
    """Whether ``apply`` of a class runs its ``forward``, and a backward pass its ``backward``."""
    return not cls.library_bases().isdisjoint(FUNCTION_BASES)


def bases_of(machine: Machine, arguments: Arguments) -> Opaque:
    """What ``super()`` gives: the object and the class below the bases, where the method that calls it is known."""
    if len(arguments.positional) == 2:
        below, receiver = (one.value for one in arguments.positional)
        return Opaque("super", (receiver, below))
    function = machine.frame.function
    params = function.node.params if function is not None else None
    first = next(iter(positional_parameters(params)), None) if params is not None else None
    if function is None or function.owner is None or first is None:
        return Opaque("super")
    return Opaque("super", (machine.lookup(first.name.value), function.owner))


def inherited_member(machine: Machine, cls: Class, below: Class, name: str) -> Value | None:
    """What ``super().name`` means in a method of the class ``below`` where the object is one of ``cls``."""
    line = cls.lineage()
    return _first_defined(machine, line[line.index(below) + 1 :] if below in line else below.lineage()[1:], name)


def _first_defined(machine: Machine, classes: tuple[Class, ...], name: str) -> Value | None:
    for one in classes:
        stored = machine.store.get(one, name) or machine.store.get(one.scope, name)
        if stored is not None:
            return machine.settle(stored)
    return None


def _flag(machine: Machine, name: str) -> Value | None:
    """The value of ``FLAGS.workers``, where its full name is that of a defined flag."""
    owner, _, last = name.rpartition(".")
    return machine.store.get(FLAGS, last) if owner == FLAGS else None


def defined_in(machine: Machine, scope: Scope) -> Value:
    """What a module of the project holds under a name that is not known: one of its public functions and classes, most
    likely, rather than what it imports; of a package, also what it imports from its own modules."""
    held = [value for name, value in machine.store.entries(scope).items() if not str(name).startswith("_")]
    found = [one for one in held if _is_defined_in(one, scope)]
    folder, file = os.path.split(scope.document.path)
    if file == "__init__.py":
        brought = [one for one in held if isinstance(one, Pending) and one.filename.startswith(folder + os.sep)]
        found += [machine.settle(one) for one in brought] if len(brought) <= MOST_OPTIONS else brought
        for star in map(machine.settle, scope.stars):
            if isinstance(star, SourceModule) and star.scope is not scope:
                found.append(defined_in(machine, star.scope))
    return named(found) if len(found) <= MOST_OPTIONS else UNKNOWN


def _is_defined_in(value: Value, scope: Scope) -> bool:
    if isinstance(value, Class):
        return value.scope.parent is scope
    return isinstance(value, Function) and value.scope is scope


def from_stars(machine: Machine, scope: Scope, name: str, seen: set[str], *, first: bool = False) -> Value | None:
    """What star imports bring under a name, the last of them or the first: None where they bring nothing, Unknown where
    a library's may."""
    seen.add(scope.document.path)
    uncertain = False
    for star in scope.stars if first else reversed(scope.stars):
        source = machine.settle(star)
        if not isinstance(source, SourceModule):
            uncertain = True
        elif source.scope.document.path not in seen:
            held = machine.store.get(source.scope, name)
            if isinstance(held, Pending) and held.name == name and held.filename in seen:
                continue  # imported from where it is looked for, as modules of a package do from the package
            found = machine.settle(held) if held is not None else from_stars(machine, source.scope, name, seen)
            if held is not None or not (found is None or isinstance(found, Unknown)):
                return found
            uncertain |= found is not None
    return UNKNOWN if uncertain else None


def brought_before(machine: Machine, value: Pending) -> Value:
    """A name that a module of a package imports from the package, which imports that module by a star: one of the stars
    before it brings the name."""
    scope = machine.module(value.filename)
    found = from_stars(machine, scope, value.name or "", set(), first=True) if scope is not None else None
    return UNKNOWN if found is None else found


# -- parts of modules


def parts_of(machine: Machine, module: Module) -> tuple[Value, ...]:
    """What a module of a library was given to hold."""
    held = machine.store.get(module, PARTS)
    return tuple([item for one in options_of(held or UNKNOWN) if isinstance(one, Sequence) for item in one.items])


def wraps(module: Module) -> bool:
    """Whether a module hands its inputs on to another one, on one GPU or several: such a wrapper of torch, or an object
    of a class of the project that derives from one."""
    bases = module.cls.library_bases() if module.cls is not None else {module.kind}
    return not WRAPPERS_THAT_MOVE_INPUTS.isdisjoint(map(canonical, bases))


def unfollowed_part(machine: Machine, owner: Instance | Module, name: str) -> Value | None:
    """A part of a module whose ``__init__`` was not followed where it was built."""
    if not isinstance(owner, Module) or owner.cls is None or machine.store.get(owner, BUILT) is not None:
        return None
    return machine.part_of(owner.cls, name)


def take_in(machine: Machine, container: Module, values: Iterable[Value]) -> None:
    """A container of modules holds these as well from now on; they live where it does."""
    added: list[Value] = []
    for value in values:
        inner = (
            value.items if isinstance(value, Sequence) else (value.element if isinstance(value, Iterated) else value,)
        )
        added += [each for one in inner for each in options_of(one) if isinstance(each, Module)]
    machine.store.set(container, PARTS, Sequence(tuple(dict.fromkeys((*parts_of(machine, container), *added)))))


def is_part(value: Value | None) -> bool:
    """Whether a value is a module, or one of several."""
    return any(isinstance(one, Module) for one in options_of(value or UNKNOWN))


def hold(machine: Machine, module: Module, name: Value | None, part: Value) -> None:
    """A module has a part from now on under a name, which may not be known."""
    take_in(machine, module, (part,))
    if isinstance(name, Constant) and isinstance(name.value, str):
        machine.store.set(module, name.value, part)
