"""Models that are compiled again in each pass of a loop."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import Call
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation, OperationContext
from accel_advisor.rule import Rule


class TorchCompileInLoop(Rule):
    """A model is wrapped by `torch.compile` again in each pass of a loop.

    What it does
        Finds `torch.compile(model)` in a loop where the model is what an earlier pass compiled, and where it is called
        for each batch of a loader.

    Why it costs time
        It does not compile again: graphs are kept with the code of the model. But what `torch.compile` returns for a
        compiled module is a function around it, which has neither `parameters()` nor `train()`; and for each batch
        wrapping the model costs more than calling it.

    Example
        import torch
        from torch import nn

        model = nn.Linear(8, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(10):
            model = torch.compile(model)
            model(torch.zeros(4, 8)).sum().backward()
            optimizer.step()

    Use instead
        import torch
        from torch import nn

        model = nn.Linear(8, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model = torch.compile(model)
        for epoch in range(10):
            model(torch.zeros(4, 8)).sum().backward()
            optimizer.step()

    When to ignore it
        The rule is silent where each pass has a model of its own, where a condition decides, and where a model is
        compiled under another name once an epoch, which costs next to nothing.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.compile.html
    """

    code = "ACC421"
    name = "torch-compile-in-loop"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        for operation in facts.operations_of(Call("torch.compile")):
            if operation.guarded or not all(context.inner is not None for context in operation.contexts):
                continue
            code = facts.document.code(operation.node)
            if any(self._nests(operation, context) for context in operation.contexts):
                claim = f"`{code}` wraps in each pass of the loop what the last one wrapped"
                remedy = "call it once, before"
                yield self.finding(facts, operation.node, claim, remedy)
            elif all(self._is_in_every_step(context) for context in operation.contexts):
                claim = f"`{code}` wraps the same model again for every batch"
                remedy = "call it once, before the loop"
                yield self.finding(facts, operation.node, claim, remedy)

    def _nests(self, operation: Operation, context: OperationContext) -> bool:
        given = context.given("model", 0).module
        return given is not None and given.compiled is operation.node

    def _is_in_every_step(self, context: OperationContext) -> bool:
        given, loop = context.given("model", 0).module, context.loop
        if loop is None or loop is not context.inner or given is None:
            return False
        built, around = given.document.span(given.node), loop.document.span(loop.node)
        inside = given.document is loop.document and around.start <= built.start and built.end <= around.end
        return not inside
