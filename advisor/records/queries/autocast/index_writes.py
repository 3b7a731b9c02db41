"""Writes by an index of what autocast leaves in half precision into a tensor of float32, which raise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import calls
from accel_advisor.records.queries.autocast.widths import Width, calls_of, widths_in
from accel_advisor.syntax.shapes import dotted, keywords_of

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.queries.gradients.data_flow import DataFlow
    from accel_advisor.source.document import Document

_MAKES = calls("torch.zeros", "torch.ones", "torch.empty", "torch.full")
_FLOAT32 = frozenset({"torch.float32", "torch.float"})


def index_writes(facts: Facts, loop: Loop) -> Iterator[tuple[Document, cst.CSTNode]]:
    """The writes of a loop's steps in which a tensor is the index, or a mask is: torch casts nothing there, as it does
    for numbers and slices."""
    widths, seen = widths_in(facts, loop), set[int]()
    for one, call, flow in calls_of(facts, *_MAKES):
        if not any(loop in context.loops for context in one.contexts) or not _is_float32(call):
            continue
        for write in _writes_into(flow, call):
            if id(write) not in seen and widths.of(flow, write.value) is Width.HALF:
                seen.add(id(write))
                yield one.document, write.targets[0].target


def _is_float32(made: cst.Call) -> bool:
    dtype = keywords_of(made).get("dtype")
    return dtype is None or dotted(dtype) in _FLOAT32


def _writes_into(flow: DataFlow, made: cst.Call) -> Iterator[cst.Assign]:
    """The assignments to items of what a call makes, by an index that is a tensor."""
    for one in flow.of(cst.Assign):
        assert isinstance(one, cst.Assign)
        target = one.targets[0].target
        if not isinstance(target, cst.Subscript) or not any(_is_tensor(flow, each) for each in target.slice):
            continue
        if any(value is made for bound in flow.reaching(target.value) for value in bound.values):
            yield one


def _is_tensor(flow: DataFlow, element: cst.SubscriptElement) -> bool:
    """Whether an index is computed from tensors: a comparison, a column, or what a name holds that is no number."""
    index = element.slice.value if isinstance(element.slice, cst.Index) else None
    if isinstance(index, (cst.Comparison, cst.List)):
        return True
    if isinstance(index, cst.Subscript):
        return any(isinstance(each.slice, cst.Slice) for each in index.slice)
    if index is None or not flow.is_reading(index):
        return False
    values = [(value, one.statement) for one in flow.reaching(index) for value in one.values]
    return any(
        not isinstance(statement, (cst.For, cst.CompFor)) and _makes_tensor(value) for value, statement in values
    )


def _makes_tensor(value: cst.BaseExpression) -> bool:
    """Whether an expression compares, asks for places, casts to whole numbers, or takes a column."""
    if isinstance(value, cst.Subscript):
        return any(isinstance(each.slice, cst.Slice) for each in value.slice)
    if isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute):
        return value.func.attr.value in _PLACES
    return isinstance(value, cst.Comparison)


_PLACES = frozenset("nonzero long bool argmax argsort topk where type to randperm arange eq ne gt lt ge le".split())
"""What gives a mask, or places."""
