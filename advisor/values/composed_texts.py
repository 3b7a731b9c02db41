"""Texts that are put together while a program runs."""

from __future__ import annotations

import re

from accel_advisor.values.devices import device_text, formatted_device
from accel_advisor.values.values import UNKNOWN, Constant, Text, Value

_OF_NAMES = re.compile(r"\.*(?:[A-Za-z_]\w*\.)+\w*|\.+\w*|[A-Za-z_]\w*")
"""Beginnings of the full names of modules, and of the names of attributes."""
_HOLE = re.compile(r"\{[^{}]*\}|%[sd]")


def composed(beginning: str, end: str = "") -> Value:
    """A text that begins, and ends, like this: the name of a device, a module or an attribute, where it may be one."""
    device = device_text(beginning)
    known = (
        device == UNKNOWN
        and _OF_NAMES.fullmatch(beginning) is not None
        and (not end or end.replace(".", "_").isidentifier() or end.isalnum())
    )
    return Text(beginning, end) if known else device


def formatted(template: str, first: Value) -> Value:
    """What ``"cuda:{}".format(first)`` or ``"%s:%d" % (first, number)`` is."""
    device = formatted_device(template, first)
    parts = _HOLE.split(template)
    return composed(parts[0], parts[-1]) if device == UNKNOWN and len(parts) > 1 else device


def is_text(value: Value) -> bool:
    """Whether a value is a text of which at least a part is known."""
    return isinstance(value, Text) or (isinstance(value, Constant) and isinstance(value.value, str))


def added(left: Value, right: Value) -> Value:
    """What is made by adding something to a text, which may not be known."""
    more = right.value if isinstance(right, Constant) and isinstance(right.value, str) else None
    if isinstance(left, Text):
        return Text(left.beginning, left.end + more if more is not None else "")
    if isinstance(left, Constant) and isinstance(left.value, str):
        return composed(left.value) if more is None else device_text(left.value + more)
    return UNKNOWN
