"""Whether autograd records what is computed under context managers and decorators."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.model_names import calls_of_backward, losses_named_in
from accel_advisor.syntax.shapes import dotted, mentioned_in, names_bound_in
from accel_advisor.tables.wrappers import LEAVE_AUTOGRAD_BY_NAME, LEAVES_AUTOGRAD, STOPS_AUTOGRAD
from accel_advisor.values.values import (
    Bound,
    Choice,
    Constant,
    Device,
    Function,
    Iterated,
    Loader,
    Opaque,
    Qualified,
    Value,
)

if TYPE_CHECKING:
    from accel_advisor.source.document import Document

_STOPS = re.compile(r"grad|infer|eval|frozen|freeze", re.IGNORECASE)
"""What is in the names of decorators under which autograd may record nothing."""
_EVALUATES = re.compile(r"eval|valid|(?:^|_)(?:val|test|infer|inference|predict|sample|generate)(?:_|$)", re.IGNORECASE)
"""What is in the names of functions that a decorator may keep autograd from."""
_SWITCHES = frozenset(one.rpartition(".")[2] for one in STOPS_AUTOGRAD)


def may_stop_autograd(value: Value) -> bool:
    """Whether autograd may record nothing under a context manager or decorator."""
    if isinstance(value, Choice):
        return any(may_stop_autograd(one) for one in value.options)
    if isinstance(value, (Opaque, Qualified)):
        return value.name in STOPS_AUTOGRAD or not value.name.startswith(LEAVES_AUTOGRAD)
    return not isinstance(value, (Constant, Device, Iterated, Loader))


def decorators_around(function: Function) -> tuple[Value, ...]:
    """The decorators of a function that count as what is around its body: without those of which nothing is known, as
    of most that register a command, time a call or try it again, unless they or the function are named for an
    evaluation. What computes gradients itself is none."""
    decorators = function.decorators
    if not any(map(may_stop_autograd, decorators)) or not isinstance(function.node, cst.FunctionDef):
        return decorators
    names = [dotted(one.func if isinstance(one, cst.Call) else one) for one in _written(function.node)]
    evaluates = _EVALUATES.search(function.name) and not any(calls_of_backward(function.node.body))
    if evaluates or any(map(_STOPS.search, names)):
        return decorators
    return tuple(one for one in decorators if not may_stop_autograd(one) or _is_switch(one))


def leaves_autograd(
    document: Document, manager: cst.BaseExpression, value: Value, body: cst.BaseSuite, around: Function | None
) -> bool:
    """Whether a context manager of which nothing is known has nothing to do with autograd: it opens a file, as
    ``path.open()`` does of whatever path, or is called something else, or what is computed under it is differentiated,
    there or behind it.

    Args:
        value: what it is.
        body: the statements under it.
        around: the function that it stands in.
    """
    if isinstance(manager, cst.Call) and dotted(manager.func).rpartition(".")[2] in LEAVE_AUTOGRAD_BY_NAME:
        return True
    if _is_switch(value):
        return False
    if any(calls_of_backward(body)):
        return True
    losses = document.once(losses_named_in) if around is None else losses_named_in(around.node)
    return not losses.isdisjoint(names_bound_in(body))


def _written(function: cst.FunctionDef) -> Iterable[cst.BaseExpression]:
    return (one.decorator for one in function.decorators)


def _is_switch(value: Value) -> bool:
    """Whether a decorator is one that stops autograd, or a function of the project that speaks of one."""
    if isinstance(value, Choice):
        return any(map(_is_switch, value.options))
    if isinstance(value, (Opaque, Qualified)):
        return value.name in STOPS_AUTOGRAD
    function = value.function if isinstance(value, Bound) else value
    return isinstance(function, Function) and not _SWITCHES.isdisjoint(mentioned_in(function.node))
