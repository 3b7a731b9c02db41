"""Which layer is given nothing but the result of which other layer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Call
from accel_advisor.syntax.shapes import self_attribute
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.values import Module

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts


def successions(facts: Facts) -> Iterator[tuple[Module, Module]]:
    """The pairs of modules of a document of which the second one alone gets what the first one returns: neighbours in
    an ``nn.Sequential`` that were built in its call, and modules that are called on the call of another one, the only
    call that there is of that one."""
    for operation in facts.operations_of(Call("torch.nn.Sequential")):
        for context in operation.contexts:
            given = [argument for key, argument in context.arguments if isinstance(key, int)]
            for before, after in pairwise(given):
                first, second = before.value, after.value
                built_here = before.node is not None and before.node.value is getattr(first, "node", None)
                if isinstance(first, Module) and isinstance(second, Module) and built_here:
                    yield first, second
    calls: dict[Module, set[int]] = {}
    called: dict[int, Module] = {}
    for call in facts.module_calls:
        for one in call.contexts:
            if isinstance(one.module, Module):
                calls.setdefault(one.module, set()).add(id(call.node))
                called[id(call.node)] = one.module
    for call in facts.module_calls:
        for one in call.contexts:
            if isinstance(one.module, Module) and len(one.arguments) == 1:
                inner = called.get(id(one.arguments[0].node))
                if inner is not None and len(calls[inner]) == 1:
                    yield inner, one.module


def touches_biases(facts: Facts) -> bool:
    """Whether a program mentions the attribute ``bias`` of what may be a layer of a library: of anything but ``self``,
    which is an object of a class of the project."""
    return any(one.document.once(_touches_biases) for one in facts.program)


def _touches_biases(tree: cst.Module) -> bool:
    mentions = (one for one in descendants(tree, cst.Attribute) if one.attr.value == "bias")
    return any(self_attribute(one) is None for one in mentions)
