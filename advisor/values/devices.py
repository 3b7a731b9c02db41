"""Which kinds of device an expression can stand for."""

from __future__ import annotations

from accel_advisor.tables.torch_functions import DEVICE_KINDS
from accel_advisor.values.values import Choice, Configured, Constant, Device, Value


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
        if isinstance(value.value, str):
            kind = value.value.split(":")[0]
            return frozenset({kind if kind in DEVICE_KINDS else "unknown"})
        if isinstance(value.value, int) and not isinstance(value.value, bool):
            return frozenset({"cuda"})
        return frozenset({"unknown"})
    if isinstance(value, Choice):
        found: frozenset[str] = frozenset()
        for option in value.options:
            found |= device_kinds(option)
        return found
    if isinstance(value, Configured):
        return device_kinds(value.default) | {"unknown"}
    return frozenset({"unknown"})
