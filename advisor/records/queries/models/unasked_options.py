"""Branches for options of functions that no call of a program gives."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.rarity import tests_of
from accel_advisor.syntax.shapes import (
    dotted,
    last_name,
    mentioned_in,
    named_parameters,
    names_read_in,
    positional_parameters,
)
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.conditions import Condition
    from accel_advisor.records.facts import Facts, Program
    from accel_advisor.records.operations import Operation


@dataclass(slots=True)
class _Calls:
    """How the functions of one name are called.

    Attributes:
        keywords: what is given by name, each with the name that it is; ``*`` and ``**`` for what no name says.
        most: how many arguments a call gives by their places.
    """

    keywords: set[tuple[str, str]] = field(default_factory=set)
    most: int = 0


def is_never_asked(facts: Facts, operation: Operation) -> bool:
    """Whether each way to an operation leads through a branch that is not taken unless a function is given an option,
    and no call of the program gives it."""
    ways = [[one for one in context.conditions if one.never] for context in operation.contexts]
    return bool(ways) and all(any(_is_unasked(facts.program, one) for one in way) for way in ways)


def _is_unasked(program: Program, condition: Condition) -> bool:
    """Whether all parameters that a branch depends on keep their defaults in each call of its function. What libraries
    or decorators call, or is handed on as a value, may be given them."""
    function = condition.function
    if not isinstance(function, cst.FunctionDef) or function.decorators:
        return False
    name, params = function.name.value, positional_parameters(function.params)
    if name == "forward" or name.startswith("__"):
        return False
    calls, handed = program.once(calls_by_name)
    called = calls.get(name)
    if called is None or name in handed:
        return False
    bound = 1 if params and params[0].name.value in ("self", "cls") else 0
    own = {one.name.value: _written(one.default) for one in named_parameters(function.params)}
    given = {one.name.value for one in params[: called.most + bound]}
    given |= {one for one, value in called.keywords if not value or own.get(one) != value}
    asked = {
        each for test, _ in tests_of(condition.node, condition.branch) for each in names_read_in(test)
    } & own.keys()
    return bool(asked) and all(own[one] for one in asked) and given.isdisjoint({*asked, "*", "**"})


def _written(node: cst.BaseExpression | None) -> str:
    """A name or a number as it is written, or what kind of empty display it is; empty for anything else."""
    if isinstance(node, (cst.Integer, cst.Float, cst.SimpleString)):
        return node.value
    if isinstance(node, (cst.List, cst.Tuple, cst.Dict)):
        return "" if node.elements else type(node).__name__
    return dotted(node)


def calls_by_name(program: Program) -> tuple[dict[str, _Calls], frozenset[str]]:
    """How a program calls the functions of each name, and the names that it does more with than to define, import and
    call something."""
    calls: dict[str, _Calls] = {}
    left: Counter[str] = Counter()
    for tree in (one.document.tree for one in program):
        left.update(mentioned_in(tree))
        for call in descendants(tree, cst.Call):
            name = last_name(call.func)
            known = calls.setdefault(name, _Calls())
            known.keywords |= {
                (one.keyword.value if one.keyword else one.star, _written(one.value)) for one in call.args
            }
            known.most = max(known.most, sum(not one.keyword for one in call.args))
            left[name] -= 1
            if name == "super" and call.args:
                left[dotted(call.args[0].value)] -= 1
        for alias in descendants(tree, cst.ImportAlias):
            left[last_name(alias.name)] -= alias.asname is None
    texts = (one for each in program for one in descendants(each.document.tree, cst.SimpleString))
    return calls, frozenset(+left) | {one.value.strip("'\"") for one in texts}
