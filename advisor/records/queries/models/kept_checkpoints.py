"""What of a checkpoint a program keeps as it was loaded, so that it stays on the device that the file was loaded to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.shapes import dotted, last_name, named_parameters, words_of
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts

TAKES_STATES = re.compile(r"load_\w*state_?dict|set_\w*state_?dict")
STATES_ON_HOST = frozenset("scheduler schedulers sched scaler scalers rng".split())
"""What keeps numbers on the host, so that its state lies on no GPU."""
_TENSORS = frozenset("ema shadow average averages averaged memory queue bank buffers teacher".split())
"""What attributes are called that hold tensors of the size of a model, or of its data."""
_OF_MODULES = frozenset(("eval", "train", "parameters"))
_OF_HOST = frozenset(("set_rng_state", "set_rng_state_all", "setstate"))
"""What takes tensors on the host only: a file that holds such is loaded there."""
_MOVES = frozenset(("cuda", "to"))


def kept_part(facts: Facts, scope: cst.CSTNode, names: Sequence[str]) -> str:
    """The code of what stays as it was loaded of what these names stand for, within a function or module, if nothing
    that is given it moves it: a module that is used itself, an average of tensors that an attribute is given, or an
    object of the program that keeps what its ``load_state_dict`` is given; empty for none."""
    document = facts.document
    states = [one for one in descendants(scope, cst.Call) if _takes_states(dotted(one.func))]
    if any(last_name(one.func) in _OF_HOST for one in descendants(scope, cst.Call)):
        return ""
    copied = {name.value for one in states for arg in one.args for name in descendants(arg, cst.Name)}
    for call in states:
        for arg in call.args:
            if _is_part(arg.value, names) and any(_keeps(one) for one in facts.call_graph.called_from(call)):
                return document.code(arg.value)
    modules = [one for one in names if one not in copied and _is_module(scope, one)]
    whole = [one for one in modules if not any(_moves_of(scope, one))]
    return next(iter(whole), "") or next(_kept_by_name(facts, scope, names, copied), "")


def is_handed_on(scope: cst.CSTNode, name: str) -> bool:
    """Whether a call is given what a name stands for, or a part of it gets a name: more is done with it there."""
    given = (each for one in descendants(scope, cst.Call) for arg in one.args for each in descendants(arg, cst.Name))
    bound = (one.value for one in descendants(scope, cst.Assign) if isinstance(one.value, cst.Attribute))
    return any(dotted(one) == name or dotted(one).startswith(f"{name}.") for one in (*given, *bound))


def _moves_of(scope: cst.CSTNode, name: str) -> Iterator[cst.Call]:
    """The calls of methods that move what a name stands for."""
    moves = {f"{name}.{method}" for method in _MOVES}
    return (one for one in descendants(scope, cst.Call) if dotted(one.func) in moves)


def keeps_host_state(name: str) -> bool:
    """Whether what is called so keeps numbers on the host."""
    return not words_of(name).isdisjoint(STATES_ON_HOST)


def _takes_states(callee: str) -> bool:
    return TAKES_STATES.fullmatch(callee.rpartition(".")[2]) is not None and not keeps_host_state(callee)


def _kept_by_name(facts: Facts, scope: cst.CSTNode, names: Sequence[str], copied: set[str]) -> Iterator[str]:
    """The names and attributes that parts are bound to and stay: an optimizer, too, of which ``cuda`` moves nothing,
    where the program makes one in another branch."""
    document = facts.document
    assigns = [(one.targets[0].target, one.value) for one in descendants(scope, cst.Assign) if len(one.targets) == 1]
    moved = {
        dotted(target)
        for target, value in assigns
        if isinstance(value, cst.Call)
        and isinstance(value.func, cst.Attribute)
        and value.func.attr.value in _MOVES
        and dotted(value.func.value) != dotted(target)
    }
    for target, value in assigns:
        parts = [value.body, value.orelse] if isinstance(value, cst.IfExp) else [value]
        if not any(_is_part(one, names) for one in parts):
            continue
        name = dotted(target)
        if isinstance(target, cst.Attribute) and words_of(target.attr.value) & _TENSORS:
            yield document.code(target)
        if not isinstance(target, cst.Name) or name in copied:
            continue
        here = document.span(value).start.offset
        late = any(document.span(one).start.offset > here for one in _moves_of(scope, name))
        if name in moved or (not late and (_is_module(scope, name) or _is_built(assigns, name))):
            yield name


def _is_built(assigns: Sequence[tuple[cst.BaseAssignTargetExpression, cst.BaseExpression]], name: str) -> bool:
    """Whether a name stands for an object of a class, by another statement that binds it."""
    made = (value.func for target, value in assigns if isinstance(value, cst.Call) and dotted(target) == name)
    return any(last_name(one)[:1].isupper() for one in made)


def _is_part(node: cst.BaseExpression, names: Sequence[str]) -> bool:
    """Whether an expression is one of the items of what a name stands for."""
    inner = node
    while True:
        if isinstance(inner, cst.Subscript):
            inner = inner.value
        elif isinstance(inner, cst.Call) and isinstance(inner.func, cst.Attribute) and inner.func.attr.value == "get":
            inner = inner.func.value
        else:
            return inner is not node and dotted(inner) in names


def _is_module(scope: cst.CSTNode, name: str) -> bool:
    """Whether what a name stands for is called, or asked for what only a module has."""
    called = {dotted(one.func) for one in descendants(scope, cst.Call)}
    functions = {one.name.value for one in descendants(scope, cst.FunctionDef)}
    return (name in called and name not in functions) or any(f"{name}.{method}" in called for method in _OF_MODULES)


def _keeps(function: cst.CSTNode) -> bool:
    """Whether a method makes what it is given, or an item of that, an attribute of its object."""
    if not isinstance(function, cst.FunctionDef):
        return False
    given = [one.name.value for one in named_parameters(function.params)][1:]
    return any(
        isinstance(each.target, cst.Attribute) and (dotted(one.value) in given or _is_part(one.value, given))
        for one in descendants(function.body, cst.Assign)
        for each in one.targets
    )
