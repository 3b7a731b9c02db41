"""What names mean, without executing or recording anything: for the interpreter, and for those who ask it later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.tables.canonical_names import canonical
from accel_advisor.values.values import UNKNOWN, Class, Method, Namespace, Pending, Qualified, SourceModule, Value

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine
    from accel_advisor.values.scope import Scope


FLAGS = "absl.flags.FLAGS"
"""The owner of the flags that a program defines."""


def value_of(machine: Machine, scope: Scope, node: cst.BaseExpression) -> Value:
    """The value of a dotted name, seen from a scope; Unknown for any other expression.

    An import that nothing has followed yet is followed now.
    """
    with machine.at_home(scope):
        if isinstance(node, cst.Name):
            return machine.lookup(node.value)
        if isinstance(node, cst.Attribute):
            owner = value_of(machine, scope, node.value)
            if isinstance(owner, (Qualified, SourceModule, Namespace)):
                return member_of(machine, owner, node.attr.value)
    return UNKNOWN


def member_of(machine: Machine, owner: Qualified | SourceModule | Namespace, name: str) -> Value:
    """What ``owner.name`` means, of a library, a module of the project, or a namespace."""
    if isinstance(owner, Qualified):
        full = canonical(f"{owner.name}.{name}")
        declared = _flag(machine, full)
        return declared if declared is not None else Qualified(full)
    if isinstance(owner, SourceModule):
        found = machine.member(owner.scope, name)
        if found is not None:
            return found
        inner = machine.modules.resolve(name, 1, owner.scope.document)
        return machine.settle(Pending(inner)) if inner is not None else UNKNOWN
    stored = machine.store.get(owner, name)
    if stored is not None:
        return stored
    if owner.parser is not None:
        declared = machine.store.get(owner.parser, name)
        if declared is not None:
            return declared
    return UNKNOWN if name not in ("__dict__", "copy", "update") else Method(owner, name)


def class_member(machine: Machine, cls: Class | None, name: str) -> Value | None:
    """What a class or one of its bases in the project defines under a name."""
    for one in cls.lineage() if cls is not None else ():
        stored = machine.store.get(one, name) or machine.store.get(one.scope, name)
        if stored is not None:
            return machine.settle(stored)
    return None


def _flag(machine: Machine, name: str) -> Value | None:
    """The value of ``FLAGS.workers``, where its full name is that of a defined flag."""
    owner, _, last = name.rpartition(".")
    return machine.store.get(FLAGS, last) if owner == FLAGS else None
