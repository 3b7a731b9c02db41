"""State that a model returns in one step and is given in the next, with the graph of all steps before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.operations import Operation


def carried_state(facts: Facts, backward: Operation) -> tuple[str, ...]:
    """The names and attributes in which the loop around a backward pass hands a model, as it is, what the model
    returned in the step before.

    Returns:
        In the order of the source; none where the loop stands in another document, or binds the name in any other
        statement: it may be detached there.
    """
    loops = dict.fromkeys(context.inner for context in backward.contexts)
    own = (loop for loop in loops if loop is not None and loop.document is facts.document)
    return tuple(dict.fromkeys(holder for loop in own for holder in _carried(facts, loop)))


def _carried(facts: Facts, loop: Loop) -> Iterator[str]:
    calls = {id(one.node) for one in facts.module_calls if not one.loss}
    detached = {loop.document.code(one) for one in _detached_in_place(loop.node)}
    for statement in descendants(loop.node, cst.Assign):
        if not isinstance(statement.value, cst.Call) or id(statement.value) not in calls:
            continue
        given = {loop.document.code(one) for argument in statement.value.args for one in _parts(argument.value)}
        for holder in (loop.document.code(one) for target in statement.targets for one in _parts(target.target)):
            renewed = loop.renews(holder, statement) or holder in detached
            if holder in given and not renewed and loop.carries(holder):
                yield holder


def _parts(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The names and attributes of an argument or a target, one by one where it is a tuple or a list."""
    if isinstance(node, (cst.Tuple, cst.List)):
        for element in node.elements:
            yield from _parts(element.value)
    elif isinstance(node, (cst.Name, cst.Attribute)):
        yield node


def _detached_in_place(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for call in descendants(node, cst.Call):
        if isinstance(call.func, cst.Attribute) and call.func.attr.value == "detach_":
            yield call.func.value
