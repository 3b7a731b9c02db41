"""Reads of what the function around them moves to a device only afterwards."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.shapes import dotted, last_name, named_parameters, names_bound_in, names_read_in, root_of
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.operations import Operation

_MOVES = re.compile(r"cuda|gpu|(?:^|_)to_dev|move_to|place_on", re.IGNORECASE)
"""What functions are called that move all that they are given."""
_DEVICE = re.compile(r"cuda|gpu|device|(?:^|\.)rank$", re.IGNORECASE)


def is_moved_later(operation: Operation, read: cst.BaseExpression) -> bool:
    """Whether a function binds a name of its own that is read to a copy of it on a device behind the read
    (``n = lengths.max().item()``, then ``x, lengths = to_cuda(x, lengths)``), and to none before: until then it is on
    the host. What a function is given may be on the device already."""
    function = operation.function
    if not isinstance(function, cst.FunctionDef):
        return False
    span = operation.document.span
    given = {one.name.value for one in named_parameters(function.params)}
    names, here = names_read_in(read) - given, span(operation.node).start.offset
    moved = [one for one in descendants(function.body, cst.Assign) if isinstance(one, cst.Assign)]
    moved = [one for one in moved if _copied(one.value) & names_bound_in(one) & names]
    return bool(moved) and all(span(one).start.offset > here for one in moved)


def _copied(value: cst.BaseExpression) -> frozenset[str]:
    """The names of which an expression gives copies on a device."""
    nothing = frozenset[str]()
    if isinstance(value, cst.Tuple):
        return nothing.union(*(_copied(one.value) for one in value.elements))
    if not isinstance(value, cst.Call):
        return nothing
    name = last_name(value.func)
    if name == "cuda" or (name == "to" and value.args and _DEVICE.search(_code(value.args[0].value))):
        return frozenset({dotted(root_of(value.func))})
    given = (dotted(one.value) for one in value.args)
    return frozenset(given) - {""} if _MOVES.search(name) else nothing


def _code(device: cst.BaseExpression) -> str:
    return device.value if isinstance(device, cst.SimpleString) else dotted(device)
