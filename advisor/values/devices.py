"""Which kinds of device an expression can stand for."""

from __future__ import annotations

import re
from functools import reduce
from operator import or_

from accel_advisor.tables.torch_functions import DEVICE_KINDS, INDICES
from accel_advisor.values.evidence import PROVEN, Evidence, Ground
from accel_advisor.values.values import UNKNOWN, Choice, Configured, Constant, Device, Opaque, Value, options_of

_NUMBERED = re.compile(r"(\w+):(\d*|\{[^{}]*\}|%\w)")
_ANYTHING = frozenset({"unknown"})


def is_first(value: Value) -> bool:
    """Whether a device is written out as "cuda" or "cuda:0", or else as the host; what is formatted has no origin."""
    if isinstance(value, Device):
        return value.first
    options = value.options if isinstance(value, Choice) else (value,)
    written = [one.value for one in options if isinstance(one, Constant) and one.origin is not None]
    known = len(written) == len(options) and all(one in ("cuda", "cuda:0", "cpu") for one in written)
    return known and written != ["cpu"]


def device_kinds(value: Value) -> frozenset[str]:
    """The device kinds that a device expression can stand for; ``unknown`` among them where it may be
    anything."""
    if isinstance(value, Device):
        return value.kinds
    if isinstance(value, Constant):
        if isinstance(value.value, int) and not isinstance(value.value, bool):
            return frozenset({"cuda"})
        return _kinds_of_text(value)
    if isinstance(value, Choice):
        found: frozenset[str] = frozenset()
        for option in value.options:
            found |= device_kinds(option)
        return found
    if isinstance(value, Configured):
        return device_kinds(value.default) | _ANYTHING
    if isinstance(value, Opaque) and value.name in INDICES:
        return frozenset({"cuda"})
    return _ANYTHING


def device_basis(value: Value) -> Evidence:
    """What shows that a device expression stands for these kinds."""
    if isinstance(value, Device):
        return value.basis
    if isinstance(value, Configured):
        return Evidence.of(Ground.DEFAULT) if "cuda" in device_kinds(value.default) else PROVEN
    return reduce(or_, map(device_basis, value.options), PROVEN) if isinstance(value, Choice) else PROVEN


def device_by_default(value: Value) -> Value:
    """What a parameter is in a call that is not seen: the device that is its default, most of the time; unknown where
    its default is no device."""
    kinds = frozenset[str]().union(*map(_kinds_of_text, options_of(value)))
    return UNKNOWN if kinds <= _ANYTHING else Device(kinds | _ANYTHING, False, Evidence.of(Ground.DEFAULT), text=True)


def device_text(beginning: str) -> Value:
    """A text that begins like this: a device where that is its kind, and its number follows."""
    known = _NUMBERED.fullmatch(beginning)
    return Device(frozenset({known[1]}), text=True) if known is not None and known[1] in DEVICE_KINDS else UNKNOWN


def formatted_device(template: str, first: Value) -> Value:
    """What ``"cuda:{}".format(first)`` or ``"%s:%d" % (first, number)`` is, where it is a device."""
    for placeholder in ("{}:", "{0}:", "%s:"):
        if template.startswith(placeholder):
            return numbered(first)
    return device_text(template)


def numbered(kind: Value) -> Value:
    """A text that is made of a kind of device, a colon, and a number."""
    kinds = frozenset[str]().union(*map(_kinds_of_text, options_of(kind)))
    return UNKNOWN if kinds <= _ANYTHING else Device(kinds, basis=device_basis(kind), text=True)


def _kinds_of_text(value: Value) -> frozenset[str]:
    if isinstance(value, Device):
        return value.kinds
    if isinstance(value, Configured):
        return _kinds_of_text(value.default) | _ANYTHING
    text = value.value if isinstance(value, Constant) else None
    kind = text.split(":")[0] if isinstance(text, str) else ""
    return frozenset({kind}) if kind in DEVICE_KINDS else _ANYTHING
