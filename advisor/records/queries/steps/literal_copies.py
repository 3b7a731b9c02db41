"""Tensors of literals that each step makes on the host and copies to the GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import calls
from accel_advisor.records.queries.destinations import reaches_gpu
from accel_advisor.records.queries.training_loops import runs_often
from accel_advisor.syntax.shapes import dotted
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.given import Given
    from accel_advisor.records.operations import Operation, OperationContext
    from accel_advisor.records.transfers import Transfer
    from accel_advisor.values.evidence import Evidence

OF_DATA = calls("torch.tensor", "torch.as_tensor")
"""Functions that make a tensor of what they are given."""
OF_LISTS = calls(*(f"torch.{kind}Tensor" for kind in ("", "Float", "Double", "Half", "Long", "Int", "Byte", "Bool")))
"""Constructors that take a number for a size."""
_EXCHANGES = frozenset({"all_reduce", "reduce", "broadcast", "scatter", "reduce_scatter"})
"""Functions by which processes change each other's tensors in place."""
_KEEPS = frozenset({"float", "double", "half", "long", "int", "bool", "view", "reshape", "unsqueeze"})


@dataclass(frozen=True, slots=True)
class LiteralCopy:
    """A tensor of literals that is copied to the GPU again and again.

    Attributes:
        node: the whole expression, up to the move.
        basis: what shows that it goes to a GPU.
    """

    node: cst.BaseExpression
    basis: Evidence


def literal_copies(facts: Facts) -> Iterator[LiteralCopy]:
    """All such copies of a document that happen in each step or forward pass, in the order in which they were met."""
    made = {id(one.node): one for one in facts.operations_of(*OF_DATA, *OF_LISTS) if is_literal(one)}
    for transfer in facts.transfers if made else ():
        call = maker_of(transfer, made)
        factory = made[id(call)] if call is not None else None
        if factory is None or not all(runs_often(facts, context) for context in factory.contexts):
            continue
        if any(_is_small_choice(context) for context in factory.contexts) or _is_changed(transfer, factory):
            continue
        bases = [reaches_gpu(facts, context) for context in transfer.contexts if context.from_host]
        found = [one for one in bases if one is not None]
        if found and len(found) == len(transfer.contexts):
            yield LiteralCopy(transfer.node, min(found, key=lambda one: len(one.grounds)))


def maker_of(transfer: Transfer, made: dict[int, Operation]) -> cst.Call | None:
    """The call that makes what is moved, in the same expression."""
    node: cst.BaseExpression = transfer.node
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        node = node.func.value
        if isinstance(node, cst.Call) and id(node) in made:
            return node
        if isinstance(node, cst.Call) and not (isinstance(node.func, cst.Attribute) and node.func.attr.value in _KEEPS):
            return None
    return None


def _is_changed(transfer: Transfer, factory: Operation) -> bool:
    """Whether what is bound to a name is changed in place, so that it has to be made anew: by an assignment to it or to
    a part of it, by a method that says so, or by processes that add up theirs."""
    statement, around = transfer.statement, factory.function or transfer.document.tree
    targets = statement.targets if isinstance(statement, cst.Assign) else ()
    names = {dotted(one.target) for one in targets} - {""}
    changing = descendants(around, cst.AugAssign, cst.AssignTarget, cst.Call) if names else ()
    return any(_changes(one, names) for one in changing)


def _changes(node: cst.CSTNode, names: set[str]) -> bool:
    """Whether an assignment or a call changes in place what one of these names is bound to."""
    if isinstance(node, cst.Call):
        receiver, _, method = dotted(node.func).rpartition(".")
        in_place = receiver in names and method.endswith("_") and not method.endswith("__")
        return in_place or (method in _EXCHANGES and not names.isdisjoint(dotted(arg.value) for arg in node.args))
    if isinstance(node, cst.AugAssign):
        return dotted(node.target) in names
    target = node.target if isinstance(node, cst.AssignTarget) else None
    return isinstance(target, cst.Subscript) and dotted(target.value) in names


def _is_small_choice(context: OperationContext) -> bool:
    """Whether it is a single number that a condition in the step asks for, as where a sum begins."""
    return context.guarded and "forward" not in context.functions and context.given("data", 0).items is None


def is_literal(operation: Operation) -> bool:
    """Whether a call makes a tensor of numbers that are written out, which wants no gradient."""
    return bool(operation.contexts) and all(_holds_literals(operation, context) for context in operation.contexts)


def _holds_literals(operation: Operation, context: OperationContext) -> bool:
    data = context.given("data", 0)
    if not context.given("requires_grad").absent or (data.items is None and operation.does(*OF_LISTS)):
        return False
    return _is_number(data)


def _is_number(given: Given) -> bool:
    """Whether a value is a number that is written out, or a list of such."""
    if given.items is not None:
        return bool(given.items) and all(map(_is_number, given.items))
    return isinstance(given.literal, (bool, int, float))
