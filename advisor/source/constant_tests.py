"""Tests that come out the same in every run, by what is written: ``if False and x``."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

DECIDED = (cst.If, cst.IfExp, cst.While, cst.BooleanOperation)
"""The kinds of node with parts that no run may come to."""
_NAMED = {"True": True, "False": False, "None": False}


def constant_truth(test: cst.BaseExpression) -> bool | None:
    """Whether a test always holds or never; None where that is not written out."""
    if isinstance(test, cst.Name):
        return _NAMED.get(test.value)
    if isinstance(test, cst.Integer):
        return bool(test.evaluated_value)
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        inner = constant_truth(test.expression)
        return None if inner is None else not inner
    if isinstance(test, cst.BooleanOperation):
        decisive = isinstance(test.operator, cst.Or)
        sides = (constant_truth(test.left), constant_truth(test.right))
        if decisive in sides:
            return decisive
        return None if None in sides else not decisive
    return None


def never_run(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The parts of a statement or expression that no run comes to, since its test comes out the same in each."""
    if isinstance(node, (cst.If, cst.IfExp, cst.While)):
        truth = constant_truth(node.test)
        if truth is False:
            yield node.body
        elif truth and not isinstance(node, cst.While) and node.orelse is not None:
            yield node.orelse
    elif isinstance(node, cst.BooleanOperation) and constant_truth(node.left) is isinstance(node.operator, cst.Or):
        yield node.right
