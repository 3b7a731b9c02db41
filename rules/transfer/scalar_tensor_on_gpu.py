"""Numbers copied to the GPU one by one."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import Call
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation, OperationContext
from accel_advisor.rule import Rule, replace_node


class ScalarTensorOnGpu(Rule):
    """A Python number is copied to the GPU where the GPU could have filled it in.

    What it does
        Finds `torch.tensor(0.5, device=device)` in `forward` or in a loop, where the device can be a GPU.

    Why it costs time
        The number is put into a tensor on the host and copied over at every step, and a CUDA graph cannot capture it.
        `torch.full((), 0.5, device=device)` queues a kernel instead.

    Example
        import torch

        device = torch.device("cuda")
        for step in range(9):
            half = torch.tensor(0.5, device=device)

    Use instead
        import torch

        device = torch.device("cuda")
        for step in range(9):
            half = torch.full((), 0.5, device=device)

    When to ignore it
        The rule is off by default: one small copy seldom matters. It is silent in `__init__`.

    Fix safety
        Safe: both have the same value, dtype and place.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.full.html
    """

    code = "ACC219"
    name = "scalar-tensor-on-gpu"
    severity = Severity.INFO
    enabled = False

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        for operation in facts.operations_of(Call("torch.tensor")):
            if all(map(self._often, operation.contexts)):
                given = operation.contexts[0].argument("data", 0)
                if given is not None and given.node is not None:  # not in a partial
                    yield self._report(facts, operation)

    def _often(self, context: OperationContext) -> bool:
        number = isinstance(context.given("data", 0).literal, (bool, int, float))
        repeated = context.inner is not None or "forward" in context.functions
        return (
            number
            and repeated
            and "__init__" not in context.functions
            and "cuda" in context.given("device").device_kinds
        )

    def _report(self, facts: Facts, operation: Operation) -> Finding:
        document, call, first = facts.document, operation.node, operation.arguments[0]
        fix = None
        filled = operation.callee_edit(document.code(operation.callee).removesuffix("tensor") + "full")
        if filled is not None and operation.receiver is not None and first.keyword is None and not first.star:
            edits = (filled, replace_node(document, first.value, f"(), {document.code(first.value)}"))
            fix = Fix("Fill it on the device with `torch.full`", edits, Applicability.SAFE)
        claim = f"`{document.code(call)}` copies a number from the host each time"
        remedy = "`torch.full((), ...)` fills it in on the device"
        return self.finding(facts, call, claim, remedy, fix=fix)
