"""How worker processes are started (rules.md 0.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from .values import ABSENT, Constant, Opaque, Value

if TYPE_CHECKING:
    from .facts import Facts, LoaderCall

StartMethod = Literal["fork", "spawn", "forkserver"]

_METHODS = ("fork", "spawn", "forkserver")
_SETTERS = ("multiprocessing.set_start_method", "torch.multiprocessing.set_start_method")


def start_method(facts: Facts, loader: LoaderCall) -> StartMethod | None:
    """How the workers of a loader are started on Linux; None where that is not known.

    Its own ``multiprocessing_context`` decides, then the program's ``set_start_method``, then Python: forkserver where
    the project needs 3.14 or later, fork otherwise.
    """
    own = loader.get("multiprocessing_context")
    if own != ABSENT and not (isinstance(own, Constant) and own.value is None):
        return _named(own)
    chosen = {
        _named(operation.get("method", 0))
        for one in facts.program
        for operation in one.operations
        if operation.name in _SETTERS
    }
    if chosen:
        return chosen.pop() if len(chosen) == 1 else None
    least = facts.least_python
    return "forkserver" if least is not None and least >= (3, 14) else "fork"


def _named(value: Value) -> StartMethod | None:
    if isinstance(value, Opaque) and value.name.endswith("multiprocessing.get_context") and value.arguments:
        value = value.arguments[0]
    if isinstance(value, Constant) and value.value in _METHODS:
        return cast("StartMethod", value.value)
    return None
