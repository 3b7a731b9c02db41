"""Weights of an attention that a function returns behind its result, and what its callers do with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.queries.written_out.bound_names import BoundNames
from accel_advisor.syntax.shapes import last_name
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.source.document import Document


def beside(value: cst.BaseExpression | None) -> set[int]:
    """What stands behind the first of several values."""
    return {id(one.value) for one in value.elements[1:]} if isinstance(value, cst.Tuple) else set()


def returned_beside(function: cst.FunctionDef) -> frozenset[int]:
    """The names that a function returns behind its result, whatever happens."""
    last = function.body.body[-1] if function.body.body else None
    returned = last.body[0] if isinstance(last, cst.SimpleStatementLine) else None
    return frozenset(beside(returned.value)) if isinstance(returned, cst.Return) else frozenset()


def is_dropped(facts: Facts, function: cst.FunctionDef, owner: cst.ClassDef | None) -> bool:
    """Whether all that call a function, or a module by its ``forward``, use the first of what it returns only."""
    trees = [one.document.tree for one in facts.program]
    names = {function.name.value}
    if owner is not None and names == {"forward"}:
        made = [one for tree in trees for one in descendants(tree, cst.Assign)]
        holders = [one.targets[0].target for one in made if _makes(one.value, owner.name.value)]
        names = {last_name(one) for one in holders} - {""}
    calls_of = [
        one
        for tree in trees
        for one in descendants(tree, cst.Call)
        if isinstance(one, cst.Call) and last_name(one.func) in names
    ]
    called = {id(one) for one in calls_of}
    dropping = [
        one.value
        for document in (one.document for one in facts.program)
        for body in descendants(document.tree, cst.FunctionDef)
        for one in descendants(body, cst.Assign)
        if id(one.value) in called and _drops_second(document, one, body)
    ]
    return bool(called) and called <= {id(one) for one in dropping}


def _makes(node: cst.CSTNode, name: str) -> bool:
    """Whether an expression calls a class of this name."""
    return isinstance(node, cst.Call) and last_name(node.func) == name


def _drops_second(document: Document, assign: cst.Assign, function: cst.FunctionDef) -> bool:
    """Whether the second of two names that a statement binds is never read in its function, or where an option asks for
    it."""
    target = assign.targets[0].target
    second = target.elements[1].value if isinstance(target, cst.Tuple) and len(target.elements) == 2 else None
    if not isinstance(second, cst.Name):
        return False
    bound = {id(name) for one in descendants(function, cst.AssignTarget) for name in descendants(one, cst.Name)}
    attributes = {id(one.attr) for one in descendants(function, cst.Attribute)}
    named = [one for one in descendants(function.body, cst.Name) if one.value == second.value]
    read = [one for one in named if id(one) not in bound | attributes]
    return not read or all(map(BoundNames(document, function.body).is_optional, read))
