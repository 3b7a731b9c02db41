"""Wrappers of models that are taken off again before they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.operations import Operation

_QUESTIONS = frozenset({"isinstance", "issubclass", "hasattr", "getattr", "type", "print", "id"})
"""Functions that a model may be given to without running it."""


def is_unwrapped(wrapping: Operation) -> bool:
    """Whether what wraps a model is bound to a name and taken off again (``model = model.module``), as after loading
    the weights of a wrapped one, and neither called nor handed on before."""
    statement = wrapping.statement
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0].target
    if not isinstance(target, cst.Name):
        return False
    name = target.value
    around = list(descendants(wrapping.function or wrapping.document.tree))
    start = next((at for at, one in enumerate(around) if one is statement), len(around))
    own = {id(one) for one in descendants(statement)}
    idle: set[int] = set()
    taken_off = False
    for one in around[start + 1 :]:
        if id(one) in own:
            continue
        if isinstance(one, (cst.Assign, cst.Return)) and _is_inner(one.value, name):
            if isinstance(one, cst.Assign) and any(_is(each.target, name) for each in one.targets):
                return True
            taken_off = True
        if isinstance(one, cst.AssignTarget) or (isinstance(one, cst.Attribute) and one.attr.value != "forward"):
            idle.add(id(one.target if isinstance(one, cst.AssignTarget) else one.value))
        elif isinstance(one, cst.Call) and isinstance(one.func, cst.Name) and one.func.value in _QUESTIONS:
            idle |= {id(argument.value) for argument in one.args}
        elif _is(one, name) and id(one) not in idle:
            return False
    return taken_off


def _is(node: cst.CSTNode | None, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def _is_inner(node: cst.CSTNode | None, name: str) -> bool:
    """Whether an expression is ``name.module``."""
    return isinstance(node, cst.Attribute) and node.attr.value == "module" and _is(node.value, name)
