"""Whether autograd records what is computed under a context manager or a decorated function."""

from __future__ import annotations

from accel_advisor.tables.wrappers import LEAVES_AUTOGRAD, STOPS_AUTOGRAD
from accel_advisor.values.values import Choice, Constant, Device, Iterated, Loader, Opaque, Qualified, Value


def may_stop_autograd(value: Value) -> bool:
    """Whether autograd may record nothing under a context manager or decorator."""
    if isinstance(value, Choice):
        return any(may_stop_autograd(one) for one in value.options)
    if isinstance(value, (Opaque, Qualified)):
        return value.name in STOPS_AUTOGRAD or not value.name.startswith(LEAVES_AUTOGRAD)
    return not isinstance(value, (Constant, Device, Iterated, Loader))
