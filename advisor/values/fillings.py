"""Which factories alone made what a tensor holds."""

from __future__ import annotations

from collections.abc import Sequence as Row
from typing import TYPE_CHECKING

from accel_advisor.tables.python_functions import GIVES_NUMBERS
from accel_advisor.tables.tensor_methods import TAKES_SHAPE_OF
from accel_advisor.values.values import (
    Configured,
    Constant,
    Filed,
    Iterated,
    Method,
    Opaque,
    Qualified,
    Sequence,
    Tensor,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    import libcst as cst

_MOST = 8
"""Factories of one tensor; what more of them make is not followed."""
_OF_TENSORS = frozenset(
    "cat stack where gather index_select masked_select masked_fill matmul mm bmm einsum outer ger".split()
)
"""Functions and methods none of whose operands is a number."""


def fills_of(operands: Row[Value]) -> frozenset[cst.Call]:
    """The factories that alone make what is computed of these; none where one of them is, or holds, a tensor or an
    array of something else. What is not known is taken for a number."""
    found: frozenset[cst.Call] = frozenset()
    for one in operands:
        if isinstance(one, Tensor):
            if not one.fills:
                return frozenset()
            found |= one.fills
        elif isinstance(one, (Sequence, Iterated)):
            items = one.items if isinstance(one, Sequence) else (one.element,)
            tensors = [item for item in items if isinstance(item, Tensor)]
            fills = fills_of(tensors)
            if tensors and (len(tensors) < len(items) or not fills):
                return frozenset()
            found |= fills
        elif not may_be_number(one):
            return frozenset()
    return found if len(found) <= _MOST else frozenset()


def filled_by(function: str, operands: Row[Value]) -> frozenset[cst.Call]:
    """The factories that alone make what a function of torch, or a method of the first operand, returns."""
    if function in TAKES_SHAPE_OF:
        operands = operands[:1]
    unknown = [isinstance(one, Unknown) for one in operands]
    return frozenset() if any(unknown if function in _OF_TENSORS else unknown[:1]) else fills_of(operands)


def may_be_number(value: Value) -> bool:
    """Whether a value is a number, or may be one for all that is known."""
    if isinstance(value, Opaque):
        return value.name in GIVES_NUMBERS or value.name.startswith("math.")
    return isinstance(value, (Unknown, Constant, Configured, Filed, Method, Qualified))
