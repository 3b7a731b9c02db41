"""ACC209."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from accel_advisor.finding import Applicability, Finding, Fix, Related, Severity
from accel_advisor.records.actions import Act, Call, Method
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation, OperationContext
from accel_advisor.rule import Rule, insert_after

APPEND = Method("list", "append")
GRAD = Call("torch.autograd.grad")
Graph = frozenset[cst.CSTNode]


class LossAccumulationKeepsGraph(Rule):
    """A loss is added up over the batches together with its autograd graph.

    What it does
        Finds `total += loss`, `total = total + loss` and `losses.append(loss)` in a loop in which `loss.backward()` is
        called as well, where `total` or the list goes on from one batch to the next.

    Why it costs time
        `backward()` frees the buffers of the graph, not its nodes and not what their tensors hold: what is kept grows
        with every batch, on the device, until the epoch ends or the memory does.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2)
        criterion = nn.MSELoss()
        total = 0.0
        for x, y in DataLoader(TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2)), batch_size=16):
            loss = criterion(model(x), y)
            loss.backward()
            total += loss

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2)
        criterion = nn.MSELoss()
        total = 0.0
        for x, y in DataLoader(TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2)), batch_size=16):
            loss = criterion(model(x), y)
            loss.backward()
            total += loss.detach()

    When to ignore it
        The rule is silent where the sum itself is differentiated (`loss += ...; loss.backward()`), where the graph is
        retained, where autograd is off, and where the loop binds the sum anew or takes something out of the list. A sum
        that is returned is reported: its graph was differentiated and cannot be once more.

    Fix safety
        Safe: the loss was differentiated already, and `detach()` neither copies nor waits as `item()` would.

    References
        - https://docs.pytorch.org/docs/stable/notes/faq.html
    """

    code = "ACC209"
    name = "loss-accumulation-keeps-graph"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each accumulation once."""
        learns = [
            (operation, context, context.subject.graph)
            for operation in facts.operations_of(Method("Tensor", "backward"))
            for context in operation.contexts
        ]
        if (
            not learns
            or facts.does(Call("torch.autograd.grad"))
            or any(self._retains(context) for _, context, _ in learns)
        ):
            return
        differentiated: Graph = frozenset().union(*(graph for _, _, graph in learns))
        for operation in facts.operations_of(APPEND, Act.AUGMENTS, Act.ADDS):
            kept = self._kept(facts, operation)
            if kept is None or operation.node in differentiated or self._begins_anew(operation, kept[0]):
                continue
            backward = self._backward(operation, learns)
            if backward is not None:
                yield self._report(facts, operation, kept, backward)

    def _retains(self, context: OperationContext) -> bool:
        return any(not context.given(name, at).absent for name, at in (("retain_graph", 1), ("create_graph", 2)))

    def _kept(self, facts: Facts, operation: Operation) -> tuple[str, cst.BaseExpression] | None:
        """What goes on from one pass to the next, and the expression that an operation adds to it."""
        node, statement, code = operation.node, operation.statement, facts.document.code
        if operation.what is APPEND:
            assert isinstance(node, cst.Call)
            assert isinstance(node.func, cst.Attribute)
            return (code(node.func.value), node.args[0].value) if len(node.args) == 1 else None
        if not any(node in one.subject.graph | one.value.graph for one in operation.contexts):
            return None
        if operation.what is Act.AUGMENTS and isinstance(node, cst.AugAssign):
            return code(node.target), node.value
        if operation.what is Act.ADDS and isinstance(node, cst.BinaryOperation) and isinstance(statement, cst.Assign):
            holders = [code(target.target) for target in statement.targets]
            if statement.value is node and holders == [code(node.left)]:
                return holders[0], node.right
        return None

    def _begins_anew(self, operation: Operation, holder: str) -> bool:
        """Whether a pass of the loop may empty what is kept, here or in a function that the loop calls."""
        for loop in (one.inner for one in operation.contexts):
            here = loop is not None and loop.holds(operation.document, operation.node)
            if loop is None or (loop.renews(holder, operation.statement) if here else loop.empties()):
                return True
        return False

    def _backward(
        self, operation: Operation, learns: list[tuple[Operation, OperationContext, Graph]]
    ) -> Operation | None:
        found = None
        for context in operation.contexts:
            added = context.value.graph
            found = next((one for one, at, graph in learns if graph & added and at.inner is context.inner), None)
            if found is None or context.inner is None:
                return None
        return found

    def _report(
        self, facts: Facts, operation: Operation, kept: tuple[str, cst.BaseExpression], backward: Operation
    ) -> Finding:
        document = facts.document
        holder, value = kept
        code = document.code(value)
        message = (
            f"`{holder}` keeps the autograd graph of `{code}` alive for every batch, so that memory grows through the "
            f"epoch; add `{code}.detach()`"
        )
        simple = isinstance(value, (cst.Name, cst.Attribute, cst.Call, cst.Subscript))
        edit = insert_after(document, value, ".detach()") if simple else None
        if edit is None:
            message = message.replace(f"add `{code}.detach()`", "detach the loss first")
        fix = Fix("Add `.detach()`", (edit,), Applicability.SAFE) if edit is not None else None
        related = [Related(document.filename, document.span(backward.node), "it is differentiated here")]
        return self.finding(facts, operation.node, message, fix=fix, related=related)
