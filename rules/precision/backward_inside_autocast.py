"""Backward passes inside of an autocast region."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import AnyCall, Call, within
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.precision import AUTOCASTS, is_off, is_off_by_branch
from accel_advisor.rule import Rule

_GRADIENTS = (Call("torch.autograd.grad"), *within("torch.autograd.functional", "torch.func"))
_CUSTOM = ("torch.autograd.Function", "torch.autograd.function.Function")


class BackwardInsideAutocast(Rule):
    """The backward pass runs inside of an autocast region.

    What it does
        Finds `backward()` under `torch.autocast`.

    Why it costs time
        Backward operations run in the dtype that autocast chose for the forward ones anyway. Inside of the region they
        go through its dispatch as well, and what a custom backward computes may be cast once more. torch advises
        against it.

    Example
        import torch
        from torch import nn

        model = nn.Linear(8, 2).cuda()
        x = torch.randn(4, 8, device="cuda")
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(x).sum()
            loss.backward()

    Use instead
        import torch
        from torch import nn

        model = nn.Linear(8, 2).cuda()
        x = torch.randn(4, 8, device="cuda")
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(x).sum()
        loss.backward()

    When to ignore it
        Where a custom backward of a library relies on it. The rule is silent in programs with an `autograd.Function` of
        their own, for double backward (`create_graph`, a program that calls `autograd.grad` or `torch.func`), and where
        autocast is switched off, as in the other branch of what `enabled` is given, or may be another manager.
        `optimizer.step()` in the region costs nothing worth a word.

    References
        - https://docs.pytorch.org/docs/stable/amp.html#autocasting
    """

    code = "ACC407"
    name = "backward-inside-autocast"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each backward pass once."""
        if facts.does(*_GRADIENTS):
            return
        inside = [
            one
            for one in facts.operations_of(AnyCall("backward"))
            if one.framework is None and one.lacks("create_graph", 2) and self._is_inside(one)
        ]
        if not inside or facts.derives_from(*_CUSTOM):
            return  # its backward may count on being cast
        for operation in inside:
            claim = (
                f"`{facts.document.code(operation.node)}` runs under autocast, which only the forward pass and the "
                "loss need"
            )
            remedy = "end the `with` block before it"
            yield self.finding(facts, operation.node, claim, remedy)

    def _is_inside(self, operation: Operation) -> bool:
        for context in operation.contexts:
            casts = [one for one in context.regions if one.made_by in AUTOCASTS]
            if not casts:
                return False
            if any(is_off(one) for one in casts) or is_off_by_branch(operation, context):
                return False
        return True
