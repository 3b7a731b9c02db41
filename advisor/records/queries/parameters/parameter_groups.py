"""Optimizers that are given a group for each parameter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Within
from accel_advisor.records.queries.parameters.parameter_sources import ParameterSources
from accel_advisor.syntax.shapes import owners
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts

_OPTIM = Within("torch.optim")


def groups_of_one(facts: Facts) -> list[cst.Dict]:
    """The dicts of a document that a loop over parameters makes for each of them, in the order of the text, where the
    program builds an optimizer of torch for a GPU."""
    if not facts.names_gpu_anywhere or not any(one.builds_optimizer for one in facts.program.operations_of(_OPTIM)):
        return []
    document = facts.document
    if "'params'" not in document.text and '"params"' not in document.text:
        return []
    found: dict[int, cst.Dict] = {}
    functions: list[cst.CSTNode | None] = [None, *descendants(document.tree, cst.FunctionDef)]
    for function in functions:
        sources = ParameterSources(document, function, document.once(owners).get(id(function)))
        around = function.body if isinstance(function, cst.FunctionDef) else document.tree
        for each in _in_loops(around, sources):
            found.setdefault(id(each), each)
    return sorted(found.values(), key=lambda one: document.span(one).start.offset)


def _in_loops(around: cst.CSTNode, sources: ParameterSources) -> Iterator[cst.Dict]:
    scopes: frozenset[type[cst.CSTNode]] = frozenset({cst.FunctionDef, cst.ClassDef})
    for one in descendants(around, cst.For, cst.ListComp, but=scopes):
        iterable = one.iter if isinstance(one, cst.For) else one.for_in.iter if isinstance(one, cst.ListComp) else None
        target = (
            one.target if isinstance(one, cst.For) else one.for_in.target if isinstance(one, cst.ListComp) else None
        )
        if iterable is None or target is None or not sources.gives(iterable):
            continue
        names = {each.value for each in descendants(target, cst.Name)}
        made = [one.elt] if isinstance(one, cst.ListComp) else _added(one)
        yield from (each for each in made if isinstance(each, cst.Dict) and _holds_one(each, names))


def _added(loop: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """What a loop adds to lists: ``groups.append(x)``, ``groups += [x]``."""
    for one in descendants(loop, cst.Call, cst.AugAssign):
        if isinstance(one, cst.Call) and isinstance(one.func, cst.Attribute) and one.func.attr.value == "append":
            yield from (arg.value for arg in one.args)
        elif isinstance(one, cst.AugAssign) and isinstance(one.value, cst.List):
            yield from (each.value for each in one.value.elements)


def _holds_one(group: cst.Dict, names: set[str]) -> bool:
    """Whether the group's parameters are one alone, which the loop is at."""
    for one in group.elements:
        key = one.key if isinstance(one, cst.DictElement) else None
        if isinstance(key, cst.SimpleString) and key.evaluated_value == "params":
            value = one.value
            if isinstance(value, cst.List) and len(value.elements) == 1:
                value = value.elements[0].value
            while isinstance(value, cst.Subscript):
                index = value.slice[0].slice
                value = index.value if isinstance(index, cst.Index) else value.value
            return isinstance(value, cst.Name) and value.value in names
    return False
