"""Loops that train on the host, whatever other loops of the program do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.shapes import methods_of, self_attribute
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Loop, Program
    from accel_advisor.records.given import Module
    from accel_advisor.records.transfers import ModuleCallContext


def loops_on_host(program: Program) -> frozenset[Loop]:
    """The loops that call models, all of which certainly stay on the host, and give them nothing that may be on a GPU:
    what shows one is then another part of the program, as a second runner is. A framework moves models unseen."""
    if program.frameworks:
        return frozenset()
    return frozenset(loop for loop in program.calls_in if _stays_on_host(program, loop))


def _stays_on_host(program: Program, loop: Loop) -> bool:
    everything = [context for call, context in program.calls_in[loop] if not call.loss]
    called = [one for one in everything if not one.nested]
    holding = [one for one in called if one.model is None or one.model.has_state or one.others]
    if not holding or any(one.on_accelerator for one in everything):
        return False
    if any(argument.given.may_be_on_gpu for one in called for argument in one.arguments):
        return False
    weighs = any(program[0].layers.have_weights(one.model) for one in holding if one.model is not None)
    return weighs and all(one.model is not None and not one.others and _is_on_host(one, one.model) for one in holding)


def _is_on_host(context: ModuleCallContext, model: Module) -> bool:
    """Whether a model certainly lives on the host: one that is built around another one lives where that does."""
    return context.on_host and not context.escaped and context.wrapper is None and not may_hold_another(model)


def may_hold_another(model: Module) -> bool:
    """Whether a model keeps, as it is, something that it is built with: that may be a model, too."""
    for cls in model.cls.lineage() if model.cls is not None else ():
        made = methods_of(cls.node).get("__init__")
        for one in descendants(made, cst.Assign) if made is not None else ():
            if isinstance(one.value, cst.Name) and any(self_attribute(each.target) for each in one.targets):
                return True
    return False
