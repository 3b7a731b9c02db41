"""Parts of a batch that stay on the host because a step moves the tensors of its dictionary alone, and no dictionary
within it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.shapes import dotted
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.operations import Operation

_MOVES = frozenset({"cuda", "to"})
_TENSORS = frozenset({"Tensor", "is_tensor"})
_NEITHER = (cst.NotEqual, cst.IsNot)
_SAME = (cst.Equal, cst.Is)
_KEYS = 2


def is_in_an_unmoved_dict(operation: Operation, read: cst.BaseExpression) -> bool:
    """Whether what an operation reads is in a dictionary within one (``batch["info"]["count"]``) of which the function
    around it moves what is a tensor, or what is no dictionary."""
    function = operation.function
    if not isinstance(function, cst.FunctionDef):
        return False
    whole = _whole(_gone_over(operation, read))
    assigned = (one for one in descendants(function.body, cst.Assign) if isinstance(one, cst.Assign)) if whole else ()
    bound = [one.value for one in assigned if any(dotted(each.target) == whole for each in one.targets)]
    if not whole or not all(_moves_tensors(one, whole) for one in bound):
        return False
    loops = (one for one in descendants(function.body, cst.For) if isinstance(one, cst.For))
    return bool(bound) or any(_moves_in_place(one, whole) for one in loops)


def _gone_over(operation: Operation, read: cst.BaseExpression) -> cst.BaseExpression:
    """What a loop goes over whose element is read, or else what is read."""
    inner = operation.contexts[0].inner
    part = getattr(inner.node, "for_in", inner.node) if inner is not None else None
    over = isinstance(part, (cst.For, cst.CompFor)) and isinstance(read, cst.Name) and read.value == dotted(part.target)
    return part.iter if isinstance(part, (cst.For, cst.CompFor)) and over else read


def _whole(node: cst.BaseExpression) -> str:
    """The name of a dictionary that a key of a key of is read; empty for anything else."""
    keys = 0
    while isinstance(node, cst.Subscript) and len(node.slice) == 1:
        index = node.slice[0].slice
        keys += isinstance(index, cst.Index) and isinstance(index.value, cst.SimpleString)
        node = node.value
    return node.value if isinstance(node, cst.Name) and keys >= _KEYS else ""


def _moves_in_place(loop: cst.For, name: str) -> bool:
    """``for k, v in batch.items(): if isinstance(v, torch.Tensor): batch[k] = v.cuda()``"""
    element = _element(loop.target, loop.iter, name)
    for one in descendants(loop.body, cst.If) if element else ():
        assert isinstance(one, cst.If)
        stored = (each for each in descendants(one.body, cst.Assign) if isinstance(each, cst.Assign))
        if _leaves_dicts(one.test, element) and any(
            isinstance(target.target, cst.Subscript) and dotted(target.target.value) == name and _moves(each.value)
            for each in stored
            for target in each.targets
        ):
            return one.orelse is None
    return False


def _moves_tensors(node: cst.CSTNode, name: str) -> bool:
    """``{k: v.cuda() if torch.is_tensor(v) else v for k, v in batch.items()}``"""
    if not isinstance(node, cst.DictComp) or not isinstance(node.value, cst.IfExp):
        return False
    element, chosen = _element(node.for_in.target, node.for_in.iter, name), node.value
    left = dotted(chosen.orelse) == element
    return bool(element) and left and _leaves_dicts(chosen.test, element) and _moves(chosen.body)


def _element(target: cst.BaseExpression, over: cst.BaseExpression, name: str) -> str:
    """What the values of a dictionary are called where a loop goes over its items; empty where none does."""
    if not isinstance(over, cst.Call) or dotted(over.func) != f"{name}.items" or not isinstance(target, cst.Tuple):
        return ""
    return dotted(target.elements[-1].value)


def _moves(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _MOVES


def _leaves_dicts(test: cst.BaseExpression, element: str) -> bool:
    """Whether a condition asks for a tensor, or rules a dictionary out."""
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        return _leaves_dicts(test.left, element) or _leaves_dicts(test.right, element)
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return _asks(test.expression, element, _SAME, frozenset({"dict"}))
    return _asks(test, element, _SAME, _TENSORS) or _asks(test, element, _NEITHER, frozenset({"dict"}))


def _asks(test: cst.BaseExpression, element: str, operators: tuple[type, ...], kinds: frozenset[str]) -> bool:
    """Whether a condition asks for one of these kinds: ``isinstance(v, dict)``, ``type(v) == dict``."""
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        (asked,) = test.comparisons
        of_type = isinstance(test.left, cst.Call) and dotted(test.left.func) == "type"
        given, kind = (_given(test.left), asked.comparator) if of_type else ("", test.left)
        return given == element and isinstance(asked.operator, operators) and _last(kind) in kinds
    if not isinstance(test, cst.Call) or operators is _NEITHER or _given(test) != element:
        return False
    named = test.func if len(test.args) == 1 else test.args[1].value
    return _last(named) in kinds


def _given(node: cst.BaseExpression) -> str:
    return dotted(node.args[0].value) if isinstance(node, cst.Call) and node.args else ""


def _last(node: cst.BaseExpression) -> str:
    return dotted(node).rpartition(".")[2]
