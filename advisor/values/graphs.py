"""The autograd graphs that values carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accel_advisor.values.lattice import Value
from accel_advisor.values.tensors import Tensor
from accel_advisor.values.values import options_of

if TYPE_CHECKING:
    import libcst as cst

MOST_GROWN = 24
"""Calls and sums whose graphs a value is known to carry; one that carries more is not followed."""


def graph_of(value: Value) -> frozenset[cst.CSTNode]:
    """The calls and sums whose autograd graph a value may carry."""
    return frozenset().union(*(one.grown for one in options_of(value) if isinstance(one, Tensor)))


def sum_of(grown: frozenset[cst.CSTNode], node: cst.CSTNode) -> frozenset[cst.CSTNode]:
    """The graph that a sum carries: that of its terms, and the sum itself, so that one that goes on from one pass of a
    loop to the next differs from one that begins again. None where it has become too large to follow."""
    return grown | {node} if 0 < len(grown) < MOST_GROWN else frozenset()
