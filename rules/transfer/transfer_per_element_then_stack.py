"""Tensors copied one by one, and joined behind the copy."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.facts import Facts, Operation, Transfer
from accel_advisor.records.queries.steps.repeated_copies import joined_after_copying
from accel_advisor.rule import Rule


class TransferPerElementThenStack(Rule):
    """Tensors are copied to the GPU one by one, and joined there.

    What it does
        Finds `torch.stack([t.to(device) for t in tensors])`, and the same with `torch.cat`, where the tensors are on
        the host.

    Why it costs time
        Each copy has a cost of its own, and each one waits. Joined on the host first, all of them go over in one.

    Example
        import torch

        tensors = [torch.zeros(8) for _ in range(64)]
        batch = torch.stack([t.to("cuda") for t in tensors])

    Use instead
        import torch

        tensors = [torch.zeros(8) for _ in range(64)]
        batch = torch.stack([t for t in tensors]).to("cuda")

    When to ignore it
        The rule is silent where the tensors are not proven to be on the host.

    Fix safety
        Unsafe: the joined tensor takes memory on the host too.

    References
        - https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html
    """

    code = "ACC210"
    name = "transfer-per-element-then-stack"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        for joins, move in joined_after_copying(facts):
            if self._from_host(move):
                yield self._report(facts, joins, move)

    def _from_host(self, move: Transfer) -> bool:
        return bool(move.contexts) and all(
            one.moved.is_tensor and one.from_host and one.to_cuda and not one.casts for one in move.contexts
        )

    def _report(self, facts: Facts, joins: Operation, move: Transfer) -> Finding:
        document, source = facts.document, move.receiver
        assert source is not None
        element = document.code(source)
        moved = document.code(move.node).removeprefix(element)
        claim = f"`{document.code(move.node)}` copies the tensors one by one"
        remedy = f"join them on the host and copy once, with `{moved}` behind `{document.code(joins.callee)}(...)`"
        start, end = document.span(source).end.offset, document.span(move.node).end.offset
        behind = document.span(joins.node).end.offset
        edits = (document.edit(start, end, ""), document.edit(behind, behind, moved))
        fix = Fix("Join first, then copy once", edits, Applicability.UNSAFE)
        return self.finding(facts, joins.node, claim, remedy, fix=fix)
