"""Loops that train on the host, whatever other loops of the program do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accel_advisor.records.facts import Loop, Program


def loops_on_host(program: Program) -> frozenset[Loop]:
    """The loops that call models, all of which certainly stay on the host, and give them nothing that may be on a GPU:
    what shows one is then another part of the program, as a second runner is. A framework moves models unseen."""
    if program.frameworks:
        return frozenset()
    return frozenset(loop for loop in program.calls_in if _stays_on_host(program, loop))


def _stays_on_host(program: Program, loop: Loop) -> bool:
    called = [context for call, context in program.calls_in[loop] if not call.loss and not context.nested]
    holding = [one for one in called if one.model is None or one.model.has_state or one.others]
    return (
        bool(holding)
        and all(one.model is not None and not one.others and one.on_host and not one.escaped for one in holding)
        and not any(argument.given.may_be_on_gpu for one in called for argument in one.arguments)
    )
