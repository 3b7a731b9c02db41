"""What is added up, or collected, from batch to batch with the autograd graph that it hangs on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Act, AnyCall, Call, Method
from accel_advisor.syntax.shapes import renewed_in
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.evidence import PROVEN, Evidence, Ground

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.operations import Operation, OperationContext
    from accel_advisor.source.document import Document

_APPEND = Method("list", "append")
_BACKWARD = AnyCall("backward")
_REDUCES = frozenset({"mean", "sum"})
_Graph = frozenset[cst.CSTNode]
_Learns = list[tuple["Operation", "OperationContext"]]


@dataclass(frozen=True, slots=True)
class KeptGraph:
    """An operation that keeps the graph of a batch alive, after it was differentiated and is no longer needed.

    Attributes:
        operation: the addition, or the ``append``.
        holder: the code of what goes on from one pass to the next.
        added: the expression that is added to it.
        backward: where the graph is differentiated, in the same loop.
        basis: what shows that it is one.
    """

    operation: Operation
    holder: str
    added: cst.BaseExpression
    backward: Operation
    basis: Evidence = PROVEN


def kept_graphs(facts: Facts) -> Iterator[KeptGraph]:
    """The operations of a document that keep graphs which nothing can need again."""
    learns = [(one, context) for one in facts.operations_of(_BACKWARD) for context in one.contexts]
    if not learns or facts.does(Call("torch.autograd.grad")) or any(_retains(context) for _, context in learns):
        return
    differentiated: _Graph = frozenset().union(*(context.subject.graph for _, context in learns))
    for operation in facts.operations_of(_APPEND, Act.AUGMENTS, Act.ADDS):
        kept = _kept(operation)
        if kept is None or operation.node in differentiated or _starts_over(operation, kept[0]):
            continue
        backward = _backward(operation, learns)
        if backward is not None:
            evident = any(Ground.METHOD in one.value.basis.grounds for one in operation.contexts)
            yield KeptGraph(operation, *kept, backward, Evidence.of(Ground.METHOD) if evident else PROVEN)
            continue
        backward = _backward_of_name(operation, kept[1], learns)
        if backward is not None:
            yield KeptGraph(operation, *kept, backward, Evidence.of(Ground.METHOD))


def _retains(context: OperationContext) -> bool:
    return any(not context.given(name, at).absent for name, at in (("retain_graph", 1), ("create_graph", 2)))


def _kept(operation: Operation) -> tuple[str, cst.BaseExpression] | None:
    """What goes on from one pass to the next, and the expression that an operation adds to it."""
    node, code = operation.node, operation.document.code
    if operation.what is _APPEND:
        assert operation.receiver is not None
        return (code(operation.receiver), operation.arguments[0].value) if len(operation.arguments) == 1 else None
    if isinstance(node, cst.AugAssign):
        return (code(node.target), node.value) if isinstance(node.operator, cst.AddAssign) else None
    if isinstance(node, cst.BinaryOperation):
        holders = [code(target) for target in operation.targets]
        if holders == [code(node.left)]:
            return holders[0], node.right
    return None


def _starts_over(operation: Operation, holder: str) -> bool:
    """Whether a pass of the loop may empty what is kept, here or in a function that the loop calls; or each step, where
    the loop goes over parts of one."""
    for context in operation.contexts:
        loop = context.inner
        here = loop is not None and loop.holds(operation.document, operation.node)
        if loop is None or (loop.renews(holder, operation.statement) if here else loop.empties()):
            return True
        if any(_renews_in_each_pass(outer, operation, holder) for outer in _steps_around(context)):
            return True
    return False


def _steps_around(context: OperationContext) -> Iterator[Loop]:
    """The loops over batches, or steps, of which the innermost loop goes over parts."""
    parts, *around = context.loops
    for outer in around:
        if not (outer.learns or outer.loaders) or any(one not in outer.loaders for one in parts.loaders):
            return
        yield outer


def _renews_in_each_pass(loop: Loop, operation: Operation, holder: str) -> bool:
    """Whether each pass of a loop begins with an empty holder, in its text or in the function that it calls."""
    document, statement, function = operation.document, operation.statement, operation.function
    if loop.holds(document, operation.node):
        return loop.renews(holder, statement)
    return function is not None and any(document.code(one) == holder for one in renewed_in(function, statement))


def _backward(operation: Operation, learns: _Learns) -> Operation | None:
    """Where the graph of what is added, which is certainly recorded, is certainly differentiated."""
    found, node = None, operation.node
    grows = any(node in one.subject.graph | one.value.graph for one in operation.contexts)
    if operation.what is not _APPEND and not grows:
        return None
    for context in operation.contexts:
        added, inner = context.value.graph, context.inner
        found = next((one for one, at in learns if at.subject.graph & added and at.inner is inner), None)
        if found is None or inner is None:
            return None
    return found


def _backward_of_name(operation: Operation, added: cst.BaseExpression, learns: _Learns) -> Operation | None:
    """Where the same pass of the loop differentiates what is added, by its name: whatever has a ``backward`` is a
    tensor."""
    document = operation.document
    names = {document.code(one) for one in _summands(added)}
    loops = {context.inner for context in operation.contexts}
    loop = loops.pop() if len(loops) == 1 else None
    known = any(context.value.written or context.value.is_tensor for context in operation.contexts)
    if loop is None or not loop.holds(document, operation.node) or known or _is_free_of_graphs(operation):
        return None
    for one, context in learns:
        if context.inner is loop and loop.holds(document, one.node):
            differentiated = {document.code(part) for part in _summands(_differentiated(one))}
            for name in names & differentiated:
                if not _is_rebound(document, loop, name, operation, one):
                    return one
    return None


def _is_free_of_graphs(operation: Operation) -> bool:
    """Whether a sum is taken where autograd does not record it; a list keeps what it is given even so."""
    if operation.what is _APPEND:
        return False
    stops = ("no_grad", "inference_mode", "set_grad_enabled")
    return any(name.endswith(stops) for context in operation.contexts for name in context.managers)


def _differentiated(backward: Operation) -> cst.BaseExpression | None:
    """The expression that a backward pass starts from."""
    node = backward.node
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return None
    return node.args[0].value if node.args and node.args[0].keyword is None else node.func.value


def _summands(node: cst.BaseExpression | None) -> Iterator[cst.BaseExpression]:
    """The names and attributes on whose graphs a sum, a mean or a scaled loss hangs."""
    if isinstance(node, (cst.Name, cst.Attribute)):
        yield node
    elif isinstance(node, cst.BinaryOperation):
        yield from _summands(node.left)
        if not isinstance(node.operator, cst.Divide):
            yield from _summands(node.right)
    elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        if node.func.attr.value in _REDUCES and not node.args:
            yield from _summands(node.func.value)
        elif node.func.attr.value == "scale" and len(node.args) == 1:
            yield from _summands(node.args[0].value)


def _is_rebound(document: Document, loop: Loop, name: str, operation: Operation, backward: Operation) -> bool:
    """Whether a name may mean something else, or carry no graph, where it is added or where it is differentiated."""
    places = sorted(document.span(one.node).start.offset for one in (operation, backward))
    detached = (one.func for one in descendants(loop.node, cst.Call) if isinstance(one.func, cst.Attribute))
    renewed: list[cst.CSTNode] = [one.value for one in detached if one.attr.value == "detach_"]
    renewed += renewed_in(loop.node, operation.statement)
    return any(
        document.code(one) == name and places[0] < document.span(one).start.offset < places[1] for one in renewed
    )
