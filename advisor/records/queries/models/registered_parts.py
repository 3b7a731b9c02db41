"""Layers of a plain list that the class registers by hand, as they are or part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.shapes import dotted, keywords_of, methods_of
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.operations import Operation

_ADDS = frozenset({"self.add_module", "self.register_module", "super.add_module", "super.register_module"})
_TABLE = "self._modules"
_PAIRS = frozenset({"zip", "enumerate"})
_PASSES_ON = frozenset({"list", "tuple", "iter", "reversed", "sorted", "dict", "OrderedDict"}) | _PAIRS
"""Functions whose results are made of what they are given."""
_FILLS = frozenset({"append", "insert", "extend"})


def registers_parts(cls: cst.ClassDef, assignment: Operation) -> bool:
    """Whether the methods of a class register what it keeps in a list, each of the list's members as it is or part by
    part: ``for name, layer in block.named_children(): self.add_module(name, layer)``."""
    attribute = dotted(assignment.node)
    for method in methods_of(cls).values():
        reached = _registered_in(method)
        inside = method is assignment.function
        names = {attribute, dotted(assignment.assigned) if inside else ""} - {""}
        if names & reached:
            return True
        members = [_roots(one) for one in _members(method, assignment, names)] if inside else []
        if members and all(one & reached for one in members):
            return True
    return False


def _members(method: cst.FunctionDef, assignment: Operation, names: set[str]) -> Iterator[cst.BaseExpression]:
    """What a list of these names is made of, where a method writes it out and fills it."""
    value = assignment.assigned
    if isinstance(value, (cst.List, cst.Tuple)):
        yield from (one.value for one in value.elements)
    if isinstance(value, cst.Dict):
        yield from (one.value for one in value.elements)
    for call in descendants(method, cst.Call):
        func = call.func
        if isinstance(func, cst.Attribute) and func.attr.value in _FILLS and dotted(func.value) in names:
            yield from (one.value for one in call.args[-1:])
    for one in descendants(method, cst.Assign):
        targets = (each.target for each in one.targets)
        if any(isinstance(each, cst.Subscript) and dotted(each.value) in names for each in targets):
            yield one.value


def _registered_in(method: cst.FunctionDef) -> set[str]:
    """The names of all that a method registers, and of what that is taken from."""
    made_of: dict[str, set[str]] = {}
    for target, value in _bindings(method):
        for one in descendants(target, cst.Name):
            made_of.setdefault(one.value, set()).update(_roots(value))
    found = set[str]()
    pending = [name for one in _registered(method) for name in _roots(one)]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += made_of.get(name, ())
    return found


def _registered(method: cst.FunctionDef) -> Iterator[cst.BaseExpression]:
    """What a method gives to ``add_module`` and its kin, or puts into the table of modules itself."""
    for call in descendants(method, cst.Call):
        called, named = _of_super(call) or dotted(call.func), keywords_of(call).get("module")
        if called in _ADDS:
            yield from (one.value for one in call.args[1:2] if named is None)
            yield from (named,) if named is not None else ()
        elif called == "setattr" and len(call.args) == 3 and dotted(call.args[0].value) == "self":
            yield call.args[2].value
        elif called == f"{_TABLE}.update":
            yield from (one.value for one in call.args[:1])
    for statement in descendants(method, cst.Assign):
        targets = (one.target for one in statement.targets)
        if any(isinstance(one, cst.Subscript) and dotted(one.value) == _TABLE for one in targets):
            yield statement.value


def _of_super(call: cst.Call) -> str:
    """``super.add_module`` for ``super().add_module``; empty for anything else."""
    func = call.func
    owner = func.value if isinstance(func, cst.Attribute) else None
    is_super = isinstance(owner, cst.Call) and dotted(owner.func) == "super"
    return f"super.{func.attr.value}" if is_super and isinstance(func, cst.Attribute) else ""


def _bindings(method: cst.FunctionDef) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression]]:
    """The targets of loops and assignments, each with what it is, or is taken from."""
    for loop in descendants(method, cst.For, cst.CompFor):
        if isinstance(loop, (cst.For, cst.CompFor)):
            yield from _paired(loop.target, _in_step(loop.iter))
    for one in descendants(method, cst.Assign):
        values = one.value.elements if isinstance(one.value, (cst.Tuple, cst.List)) else ()
        for target in one.targets:
            yield from _paired(target.target, [each.value for each in values] or [one.value])


def _in_step(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What the parts of each item of an iterable come from: those of ``zip``, and the second ones of ``enumerate``."""
    if isinstance(node, cst.Call) and dotted(node.func) in _PAIRS and node.args:
        given = [one.value for one in node.args]
        return [cst.Name("None"), given[0]] if dotted(node.func) == "enumerate" else given
    return [node]


def _paired(
    target: cst.BaseExpression, values: Sequence[cst.BaseExpression]
) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression]]:
    parts = [one.value for one in target.elements] if isinstance(target, cst.Tuple) else [target]
    if len(parts) == len(values):
        yield from zip(parts, values, strict=True)
    else:
        yield from ((target, value) for value in values)


def _roots(node: cst.BaseExpression | None) -> set[str]:
    """The names, and attributes of ``self``, that an expression is a part of, holds, or goes over."""
    if isinstance(node, cst.Name):
        return {node.value}
    if isinstance(node, cst.Attribute) and dotted(node.value) == "self":
        return {dotted(node)}
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name):
        given = [one.value for one in node.args] if node.func.value in _PASSES_ON else []
        return set[str]().union(*map(_roots, given))
    if isinstance(node, cst.Call):
        return _roots(node.func)
    if isinstance(node, (cst.Attribute, cst.Subscript)):
        return _roots(node.value)
    if isinstance(node, (cst.List, cst.Tuple, cst.Dict)):
        return set[str]().union(*(_roots(one.value) for one in node.elements))
    return _roots(node.left) | _roots(node.right) if isinstance(node, cst.BinaryOperation) else set()
