"""Copies that a comprehension waits for in turn."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts, Transfer
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule


class TransferInComprehension(Rule):
    """Tensors are copied to the GPU one by one in a comprehension, and each copy waits.

    What it does
        Finds `[t.to(device) for t in tensors]` on tensors that are on the host, without `non_blocking`.

    Why it costs time
        Each copy waits before the next one is queued.

    Example
        import torch

        tensors = [torch.zeros(8) for _ in range(64)]
        moved = [t.to("cuda") for t in tensors]

    Use instead
        import torch

        tensors = [torch.zeros(8) for _ in range(64)]
        moved = [t.to("cuda", non_blocking=True) for t in tensors]

    When to ignore it
        The rule is off by default. Copies one by one are right for tensors of different sizes (targets of detection,
        graphs); what remains to gain is that they need not wait for each other.

    References
        - https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html
    """

    code = "ACC211"
    name = "transfer-in-comprehension"
    severity = Severity.INFO
    enabled = False

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each copy once."""
        comprehended = {one.node for one in facts.operations if self._in_comprehension(one)}
        for transfer in facts.transfers:
            if transfer.node in comprehended and transfer.waits and self._from_host(transfer):
                claim = f"`{facts.document.code(transfer.node)}` waits for each copy in turn"
                remedy = "pass `non_blocking=True`, or join the tensors first where they have one size"
                yield self.finding(facts, transfer.node, claim, remedy)

    def _in_comprehension(self, operation: Operation) -> bool:
        loops = [context.inner for context in operation.contexts]
        return all(loop is not None and loop.keeps_each for loop in loops)

    def _from_host(self, transfer: Transfer) -> bool:
        return bool(transfer.contexts) and all(
            one.moved.is_tensor and one.proven and one.from_host and one.to_cuda for one in transfer.contexts
        )
