"""Which code of a program runs in the steps of a training, as its backward passes and calls tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.queries.gradients.fates import is_unrecorded, parameter_of
from accel_advisor.records.queries.gradients.flows import calls_in, flow_of, flows_in, outside_of_functions
from accel_advisor.syntax.shapes import dotted, keywords_of, last_name
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from accel_advisor.records.facts import Facts, Program
    from accel_advisor.records.queries.gradients.data_flow import DataFlow

_LEARNS = frozenset({"backward", "manual_backward"})
_LOOPS = (cst.For, cst.While)


def is_backward(call: cst.Call) -> bool:
    """Whether a call is a backward pass: ``loss.backward()``, ``accelerator.backward(loss)``."""
    return isinstance(call.func, cst.Attribute) and call.func.attr.value in _LEARNS


def differentiated(facts: Facts, call: cst.Call) -> list[cst.BaseExpression]:
    """What a backward pass starts from, where a call is one, for all parameters that ask for gradients; or what a call
    gives to a function that starts one from its parameters."""
    if is_backward(call):
        if "inputs" in keywords_of(call):
            return []
        assert isinstance(call.func, cst.Attribute)
        return [call.func.value, *(one.value for one in call.args[:1])]
    found: list[cst.BaseExpression] = []
    for function in facts.call_graph.called_from(call):
        passes = [one for one in calls_in(facts, function) if is_backward(one)]
        losses = {dotted(one.func.value) for one in passes if isinstance(one.func, cst.Attribute)} - {""}
        renamed = isinstance(function, cst.FunctionDef) and function.name.value != last_name(call.func)  # a partial
        given = (one for one in call.args if renamed or parameter_of(function, call, one) in losses)
        found += (one.value for one in given if losses)
    return found


def _learning(program: Program) -> frozenset[int]:
    """The functions of a program that run a backward pass, directly or through others, by identity."""
    found: set[int] = set()
    pending: list[cst.CSTNode] = []
    for facts in program:
        if "backward(" not in facts.document.text:
            continue
        flows = facts.document.once(flows_in)
        pending += (one for one in flows.roots[1:] if any(map(is_backward, flows.calls_in(one))))
    while pending:
        one = pending.pop()
        if id(one) not in found:
            found.add(id(one))
            pending += (caller for caller in program[0].call_graph.callers_of(one) if caller is not None)
    return frozenset(found)


def learns_in(facts: Facts, calls: Iterable[cst.Call]) -> bool:
    """Whether one of these calls is a backward pass, or leads to one."""
    learning = facts.program.once(_learning)
    return any(
        is_backward(one) or any(id(each) in learning for each in facts.call_graph.called_from(one)) for one in calls
    )


def may_learn(facts: Facts, root: cst.CSTNode) -> bool:
    """Whether a call of a function of a document, or of what stands outside of its functions, is a backward pass, or
    leads to one."""
    return learns_in(facts, facts.document.once(flows_in).calls_in(root))


def runs_in_steps(facts: Facts, flow: DataFlow, node: cst.CSTNode) -> bool:
    """Whether a piece of code runs in the steps of a training: in a loop that also runs backward passes, in a function
    that does, or in one that such a loop calls."""
    loop = next((one for one in flow.around(node) if isinstance(one, _LOOPS)), None)
    if loop is not None:
        return learns_in(facts, descendants(loop, cst.Call))
    if learns_in(facts, flow.calls):
        return True
    for outer in _calling(facts, flow.root):
        for call in outer.calls:
            if any(one is flow.root for one in facts.call_graph.called_from(call)):
                inner = next((one for one in outer.around(call) if isinstance(one, _LOOPS)), outer.root)
                if learns_in(facts, (one for one in descendants(inner, cst.Call) if outer.holds(one))):
                    return True
    return False


def _calling(facts: Facts, function: cst.CSTNode) -> Iterator[DataFlow]:
    """The functions that call one, and what stands in no function, where that may."""
    callers = facts.call_graph.callers_of(function)
    for caller in {id(one): one for one in callers if one is not None}.values():
        flow = flow_of(facts, caller)
        if flow is not None:
            yield flow
    if None in callers:
        yield from (outside_of_functions(each.document) for each in facts.program)


def is_called_unrecorded(facts: Facts, flow: DataFlow, seen: frozenset[int] = frozenset()) -> bool:
    """Whether some call of a function, directly or through others, stands where autograd does not record."""
    seen |= {id(flow.root)}
    for caller in facts.call_graph.callers_of(flow.root):
        outer = flow_of(facts, caller) if caller is not None and id(caller) not in seen else None
        if outer is None:
            continue
        calls = (one for one in outer.calls if any(each is flow.root for each in facts.call_graph.called_from(one)))
        if any(is_unrecorded(outer, one) for one in calls) or is_called_unrecorded(facts, outer, seen):
            return True
    return False
