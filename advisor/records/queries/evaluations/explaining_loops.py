"""Loops that compute gradients for their own sake where a model is evaluated, as an attack in an evaluation does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accel_advisor.records.queries.evaluation import SWITCHES

if TYPE_CHECKING:
    from accel_advisor.records.facts import Loop, Program
    from accel_advisor.records.operations import OperationContext

_Switches = list[tuple[bool, tuple[str, ...]]]


def explains_there(program: Program, context: OperationContext, loop: Loop) -> bool:
    """Whether nothing takes a step in the loops around an operation, nor forgets old gradients, and the innermost of
    the functions around it that switches the mode of a model only switches to evaluation."""
    around = context.loops[context.loops.index(loop) :]
    if loop.forgets or any(one.updates for one in around):
        return False
    on_the_way = [one for one in program.once(_switches) if context.functions[: len(one[1])] == one[1]]
    deepest = max((len(functions) for _, functions in on_the_way), default=0)
    return deepest > 0 and all(evaluating for evaluating, functions in on_the_way if len(functions) == deepest)


def _switches(program: Program) -> _Switches:
    """Where a program switches the mode of a model: whether to evaluation, and the functions that lead there."""
    return [
        (one.what.name == "eval" or one.gives("mode", False, 0), context.functions)
        for one in program.operations_of(*SWITCHES)
        for context in one.contexts
    ]
