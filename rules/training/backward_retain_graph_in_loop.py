"""Graphs that are kept although nothing uses them again."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import AnyCall, Call, Method
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.gradients.carried_state import carried_state
from accel_advisor.rule import Rule, drop_argument

_BACKWARD = (Method("Tensor", "backward"), Method("?", "backward"))
_DIFFERENTIATES = (Call("torch.autograd.grad"), AnyCall("manual_backward"), AnyCall("backward"))


class BackwardRetainGraphInLoop(Rule):
    """The graph of each step is kept although nothing uses it again.

    What it does
        Finds `backward(retain_graph=True)` in a loop over a DataLoader where it is the only backward pass of the step.

    Why it costs time
        It costs memory: the buffers of the whole graph stay until the loss goes away, next to those of the step that
        follows. By itself it takes no time: on an H200 the steps of 24 linear layers of 2,048 were as fast with it as
        without (docs/costs.md), so this is information. Where a model is given the state that it returned in the step
        before, each backward pass also runs through all the steps before it: a warning.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8))):
            optimizer.zero_grad()
            loss = model(x).sum()
            loss.backward(retain_graph=True)
            optimizer.step()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8))):
            optimizer.zero_grad()
            loss = model(x).sum()
            loss.backward()
            optimizer.step()

    When to ignore it
        Where something that the rule cannot see differentiates the same graph again. It is silent beside any other
        backward pass or `autograd.grad` of the same loop or function, and with `create_graph`.

    Fix safety
        Unsafe: where state is carried over on purpose, the next step raises, and the state must be detached.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html
    """

    code = "ACC414"
    name = "backward-retain-graph-in-loop"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each backward pass once."""
        for operation in facts.operations_of(*_BACKWARD):
            if not self._retains(operation) or not self._is_alone(facts, operation):
                continue
            code = facts.document.code(operation.node)
            claim = (
                f"`{code}` keeps what the graph of every step holds in memory although it is the only backward pass of "
                "the step"
            )
            remedy = "drop `retain_graph`, and detach state that is carried over"
            carried = carried_state(facts, operation)
            if carried:
                claim = f"`{code}` runs through all steps before it, since `{carried[0]}` brings their graphs"
                remedy = f"detach `{carried[0]}` in each step, and drop `retain_graph`"
            fix = drop_argument(facts.document, operation.node, "retain_graph", shown="retain_graph=True")
            level = Severity.WARNING if carried else None
            yield self.finding(facts, operation.node, claim, remedy, severity=level, fix=fix)

    def _retains(self, operation: Operation) -> bool:
        if not operation.gives("retain_graph", True, 1) or not operation.lacks("create_graph", 2):
            return False
        return all(
            context.inner is not None and context.inner.loaders and context.inner.calls_model
            for context in operation.contexts
        )

    def _is_alone(self, facts: Facts, operation: Operation) -> bool:
        loops = [context.inner for context in operation.contexts]
        if not all(loop and facts.call_graph.reaches_once(loop.function, operation.function) for loop in loops):
            return False  # a helper that is called for several losses
        functions = [context.functions for context in operation.contexts]
        for other in facts.program.operations_of(*_DIFFERENTIATES):
            if other is operation:
                continue
            if any(context.functions in functions for context in other.contexts):
                return False
            if any(loop in loops for context in other.contexts for loop in context.loops):
                return False
        return True
