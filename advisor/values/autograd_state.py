"""Whether autograd records what is computed under context managers and decorators."""

from __future__ import annotations

import libcst as cst

from accel_advisor.syntax.model_names import calls_of_backward, losses_named_in
from accel_advisor.syntax.shapes import dotted, last_name, mentioned_in, names_bound_in, words_of
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

_STOPS = frozenset(
    "grad grads gradient gradients nograd infer inference eval evaluate evaluation evaluating frozen freeze".split()
)
"""Words in the names of decorators and context managers under which autograd may record nothing."""
_EVALUATES = frozenset(
    "eval evaluate evaluation val valid validate validation test infer inference predict sample generate".split()
)
"""Words in the names of functions that a decorator may keep autograd from."""
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
    evaluation. A function that computes gradients itself is not kept from it by any that is not known."""
    decorators = function.decorators
    if not any(map(may_stop_autograd, decorators)) or not isinstance(function.node, cst.FunctionDef):
        return decorators
    named = frozenset[str]().union(*(words_of(dotted(_named(one.decorator))) for one in function.node.decorators))
    evaluates = not named.isdisjoint(_STOPS) or not words_of(function.name).isdisjoint(_EVALUATES)
    if evaluates and not any(calls_of_backward(function.node.body)):
        return decorators
    return tuple(one for one in decorators if not may_stop_autograd(one) or _is_switch(one))


def leaves_autograd(manager: cst.BaseExpression, value: Value, body: cst.BaseSuite, scope: cst.CSTNode) -> bool:
    """Whether a context manager of which nothing is known has nothing to do with autograd: it opens a file, as
    ``path.open()`` does of whatever path, or is called something else, or what is computed under it is differentiated,
    there or behind it.

    Args:
        value: what it is.
        body: the statements under it.
        scope: the function or file that it stands in.
    """
    if isinstance(manager, cst.Call) and last_name(manager.func) in LEAVE_AUTOGRAD_BY_NAME:
        return True
    if _is_switch(value) or not words_of(dotted(_named(manager))).isdisjoint(_STOPS):
        return False
    return any(calls_of_backward(body)) or not losses_named_in(scope).isdisjoint(names_bound_in(body))


def _named(code: cst.BaseExpression) -> cst.BaseExpression:
    """What bears the name of a decorator or a context manager."""
    return code.func if isinstance(code, cst.Call) else code


def _is_switch(value: Value) -> bool:
    """Whether a decorator is one that stops autograd, or a function of the project that speaks of one."""
    if isinstance(value, Choice):
        return any(map(_is_switch, value.options))
    if isinstance(value, (Opaque, Qualified)):
        return value.name in STOPS_AUTOGRAD
    function = value.function if isinstance(value, Bound) else value
    return isinstance(function, Function) and not _SWITCHES.isdisjoint(mentioned_in(function.node))
