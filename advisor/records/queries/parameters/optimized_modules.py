"""The models whose parameters an optimizer is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accel_advisor.project.target import Version
from accel_advisor.records.actions import methods

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.given import Given, Module
    from accel_advisor.records.operations import Operation

__all__ = ["Version", "joint_update", "optimized_modules"]

_FUSED, _LISTS, _BY_DEFAULT = (2, 4), (1, 12), (2, 0)
"""The first torch whose fused optimizers run on the CPU as well, the first whose optimizers take ``foreach``, and the
first in which they do so by themselves."""
_ASKED = methods("Module", "parameters", "named_parameters")


def joint_update(facts: Facts) -> tuple[str, Version] | None:
    """The option of torch's optimizers that updates all parameters together, in a torch that the project may have, and
    the version that brought it; None where there is none, or it is the default."""
    if facts.supports(_FUSED):
        return "fused", _FUSED
    return ("foreach", _LISTS) if facts.supports(_LISTS) and not facts.supports(_BY_DEFAULT) else None


def optimized_modules(facts: Facts, optimizer: Operation) -> list[Module]:
    """The models of an optimizer, in the order of the text: those whose ``parameters()`` it is given, or else, where it
    is given a list, a filter or a chain of them, those that its function asks for theirs. Empty where none is known."""
    given = [context.given("params", 0) for context in optimizer.contexts]
    whole = [one.parameters_of for each in given for one in each.alternatives]
    known = [one for one in whole if one is not None]
    if whole and len(known) == len(whole):
        return known
    if any(map(_is_by_hand, given)):
        return []
    asked = (one for one in facts.operations_of(*_ASKED) if one.function is optimizer.function)
    modules = [context.subject.module for one in asked for context in one.contexts]
    return [one for one in modules if one is not None]


def _is_by_hand(given: Given) -> bool:
    """Whether it is a list of tensors that are named one by one."""
    items = given.items
    return items is not None and any(one.is_tensor for one in items)
