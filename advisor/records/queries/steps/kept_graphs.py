"""What is added up, or collected, from batch to batch with the autograd graph that it hangs on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Act, Call, Method

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation, OperationContext

_APPEND = Method("list", "append")
_Graph = frozenset[cst.CSTNode]


@dataclass(frozen=True, slots=True)
class KeptGraph:
    """An operation that keeps the graph of a batch alive, after it was differentiated and is no longer needed.

    Attributes:
        operation: the addition, or the ``append``.
        holder: the code of what goes on from one pass to the next.
        added: the expression that is added to it.
        backward: where the graph is differentiated, in the same loop.
    """

    operation: Operation
    holder: str
    added: cst.BaseExpression
    backward: Operation


def kept_graphs(facts: Facts) -> Iterator[KeptGraph]:
    """The operations of a document that keep graphs which nothing can need again."""
    learns = [
        (operation, context)
        for operation in facts.operations_of(Method("Tensor", "backward"))
        for context in operation.contexts
    ]
    if not learns or facts.does(Call("torch.autograd.grad")) or any(_retains(context) for _, context in learns):
        return
    differentiated: _Graph = frozenset().union(*(context.subject.graph for _, context in learns))
    for operation in facts.operations_of(_APPEND, Act.AUGMENTS, Act.ADDS):
        kept = _kept(operation)
        if kept is None or operation.node in differentiated or _starts_over(operation, kept[0]):
            continue
        backward = _backward(operation, learns)
        if backward is not None:
            yield KeptGraph(operation, *kept, backward)


def _retains(context: OperationContext) -> bool:
    return any(not context.given(name, at).absent for name, at in (("retain_graph", 1), ("create_graph", 2)))


def _kept(operation: Operation) -> tuple[str, cst.BaseExpression] | None:
    """What goes on from one pass to the next, and the expression that an operation adds to it."""
    node, statement, code = operation.node, operation.statement, operation.document.code
    if operation.what is _APPEND:
        assert isinstance(node, cst.Call)
        assert isinstance(node.func, cst.Attribute)
        return (code(node.func.value), node.args[0].value) if len(node.args) == 1 else None
    if not any(node in one.subject.graph | one.value.graph for one in operation.contexts):
        return None
    if isinstance(node, cst.AugAssign):
        return code(node.target), node.value
    if isinstance(node, cst.BinaryOperation) and isinstance(statement, cst.Assign):
        holders = [code(target.target) for target in statement.targets]
        if statement.value is node and holders == [code(node.left)]:
            return holders[0], node.right
    return None


def _starts_over(operation: Operation, holder: str) -> bool:
    """Whether a pass of the loop may empty what is kept, here or in a function that the loop calls."""
    for loop in (one.inner for one in operation.contexts):
        here = loop is not None and loop.holds(operation.document, operation.node)
        if loop is None or (loop.renews(holder, operation.statement) if here else loop.empties()):
            return True
    return False


def _backward(operation: Operation, learns: list[tuple[Operation, OperationContext]]) -> Operation | None:
    found = None
    for context in operation.contexts:
        added, inner = context.value.graph, context.inner
        found = next((one for one, at in learns if at.subject.graph & added and at.inner is inner), None)
        if found is None or inner is None:
            return None
    return found
