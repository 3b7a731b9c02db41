"""Models that an evaluation freezes, so that autograd records nothing of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, AnySets
from accel_advisor.syntax.model_names import is_named_as_loss
from accel_advisor.syntax.shapes import names_read_in

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.operations import Operation
    from accel_advisor.records.transfers import ModuleCall

FREEZES = (AnySets("requires_grad"), AnyCall("requires_grad_"))
_SAME = frozenset({"eval", "train", "to", "cuda", "cpu", "float", "half"})
"""Methods of a module that return the module."""


def wants_gradients(facts: Facts, loop: Loop) -> bool:
    """Whether a program says of tensors that they need gradients or, of all that a model has, that they need none: then
    there is no graph. To freeze a part of a model asks for no gradient."""
    called = {call.document.code(call.node.func) for call, _ in facts.program.calls_in.get(loop, ())}
    for operation in (one for facts_of in facts.program for one in facts_of.operations_of(*FREEZES)):
        frozen = (
            _frozen_part(operation)
            if operation.gives("value", False, 0) or operation.gives("requires_grad", False)
            else None
        )
        if frozen is None or frozen in called:
            return True
    return False


def calls_frozen_ones(facts: Facts, loop: Loop) -> bool:
    """Whether the function of a loop freezes, as a whole, each model that the loop calls. Losses have seldom weights of
    their own, and record nothing of what needs no gradients."""
    made = facts.program.calls_in.get(loop, ())
    called = {
        call.document.code(call.node.func)
        for call, one in made
        if one.model is not None and one.model.has_state and not (one.nested or _is_loss(call))
    }
    frozen = {
        operation.document.code(_whole(operation.receiver))
        for operation in facts.operations_of(AnyCall("requires_grad_"))
        if operation.receiver is not None
        and operation.function is loop.function
        and (operation.gives("value", False, 0) or operation.gives("requires_grad", False))
    }
    for operation in facts.operations_of(AnySets("requires_grad")):
        whole = _whole_in_loop(operation)
        if whole is not None and operation.function is loop.function and operation.gives("value", False, 0):
            frozen.add(operation.document.code(whole))
    return bool(called) and called <= frozen


def _is_loss(call: ModuleCall) -> bool:
    return call.loss or is_named_as_loss(call.node.func)


def _whole_in_loop(operation: Operation) -> cst.BaseExpression | None:
    """The model whose parameters a loop goes over, and to each of which it assigns, whatever it is."""
    inner = operation.contexts[0].inner
    asked = inner.node.iter if inner is not None and isinstance(inner.node, cst.For) else None
    method = asked.func if isinstance(asked, cst.Call) and isinstance(asked.func, cst.Attribute) else None
    if method is None or method.attr.value != "parameters" or _is_chosen(operation):
        return None
    return method.value


def _whole(node: cst.BaseExpression) -> cst.BaseExpression:
    """The module that an expression hands on, such as ``model.eval()``."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _SAME:
        node = node.func.value
    return node


def _frozen_part(operation: Operation) -> str | None:
    """The part of a model that is frozen, as code, or whatever a condition chooses; None where it may be all of one."""
    frozen = operation.callee if operation.receiver is None else _whole(operation.receiver)
    inner = operation.contexts[0].inner
    loop = inner.node if inner is not None else None
    if isinstance(loop, cst.For) and isinstance(frozen, cst.Name) and frozen.value in names_read_in(loop.target):
        made = loop.iter.func if isinstance(loop.iter, cst.Call) else loop.iter
        frozen = made.value if isinstance(made, cst.Attribute) else made
    chosen = all(context.conditions for context in operation.contexts)
    return operation.document.code(frozen) if chosen or isinstance(frozen, (cst.Attribute, cst.Subscript)) else None


def _is_chosen(operation: Operation) -> bool:
    """Whether a condition of its own function decides whether something happens."""
    conditions = (condition for one in operation.contexts for condition in one.conditions)
    return any(one.function is operation.function for one in conditions)
