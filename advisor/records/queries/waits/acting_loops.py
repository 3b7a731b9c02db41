"""Loops that step an environment, whose next action has to be known, and what of their waits that does not explain."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, Within
from accel_advisor.syntax.shapes import dotted
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.operations import Operation

_REWARDS = re.compile(r"rew(?:ard)?s?(?![a-z])|(?:done|terminat|terminal|truncat)", re.IGNORECASE)
"""What those of what an environment gives are called that nothing else gives."""
_STEP, _BACKWARD = AnyCall("step"), AnyCall("backward")


def acting_loops(facts: Facts, loops: Iterable[Loop]) -> set[Loop]:
    """Those of some loops that step an environment, by what that gives: state, reward, whether it ends... A class of
    the project may call its own steps so, too: there the names have to say it."""
    told = (
        one for one in facts.program.operations_of(_STEP) if not one.does(Within("torch")) and _given(one.statement)
    )
    acting = {loop for one in told for context in one.contexts for loop in context.loops}
    return {loop for loop in loops if loop in acting or any(map(_acts, descendants(loop.node, cst.Assign)))}


def _given(statement: cst.CSTNode | None) -> list[str]:
    """The names that several things are bound to which a call gives; empty where it is another statement."""
    if not isinstance(statement, cst.Assign) or not isinstance(statement.value, cst.Call):
        return []
    several = [one.target for one in statement.targets if isinstance(one.target, cst.Tuple)]
    return [dotted(part.value) for one in several if len(one.elements) > 2 for part in one.elements]


def _acts(statement: cst.Assign) -> bool:
    called = dotted(statement.value.func) if isinstance(statement.value, cst.Call) else ""
    return called.endswith(".step") and any(map(_REWARDS.search, _given(statement)))


def happens_in_learning(facts: Facts, loop: Loop, operation: Operation) -> bool:
    """Whether an operation stands in a function that a loop calls to learn: it computes gradients, too."""
    learning = {
        name
        for one in facts.program.operations_of(_BACKWARD)
        for context in one.contexts
        if loop in context.loops
        for name in context.functions[len(loop.functions) :]
    }
    return any(
        loop in context.loops and not learning.isdisjoint(context.functions[len(loop.functions) :])
        for context in operation.contexts
    )
