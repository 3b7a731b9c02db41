"""Cuts at a place that chance decides."""

from __future__ import annotations

import re

import libcst as cst

from accel_advisor.syntax.shapes import dotted, last_name
from accel_advisor.syntax.walking import descendants

DRAWS = re.compile(r"randint|randrange|uniform|random|rand|choice|integers")
"""Names of functions whose results chance decides."""


def is_drawn(node: cst.CSTNode, drawn: set[str]) -> bool:
    """Whether a number comes from chance; an array that was cut there is none.

    Args:
        drawn: names that stand for such numbers.
    """
    if isinstance(node, cst.Subscript) and any(isinstance(one.slice, cst.Slice) for one in node.slice):
        return False
    called = (last_name(one.func) for one in descendants(node, cst.Call))
    return any(DRAWS.fullmatch(name) for name in called) or any(
        one.value in drawn for one in descendants(node, cst.Name)
    )


def is_random(node: cst.Subscript, drawn: set[str]) -> bool:
    """Whether a slice begins and ends at a place that chance decides."""
    slices = [one.slice for one in node.slice if isinstance(one.slice, cst.Slice)]
    return any(one.lower is not None and one.upper is not None and is_drawn(one.lower, drawn) for one in slices)


def asks_length(node: cst.BaseExpression) -> bool:
    """Whether an expression is a number that is made of how long something is."""
    shapes = any(one.attr.value in ("shape", "size", "ndim") for one in descendants(node, cst.Attribute))
    return shapes or any(dotted(one.func) == "len" for one in descendants(node, cst.Call))
