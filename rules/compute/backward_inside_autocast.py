"""ACC407."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.rule import Rule
from accel_advisor.semantics.facts import Facts
from accel_advisor.semantics.operations import Operation
from accel_advisor.semantics.values import ABSENT, Constant, Opaque

_AUTOCASTS = frozenset({"torch.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast"})


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
        Where a custom backward relies on it. The rule is silent for double backward (`create_graph`, a loop that calls
        `autograd.grad`) and where autocast is switched off or may be another manager.

    References
        - https://docs.pytorch.org/docs/stable/amp.html#autocasting
    """

    code = "ACC407"
    name = "backward-inside-autocast"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each backward pass once."""
        if facts.does("torch.autograd.grad"):
            return
        for operation in facts.operations:
            if not operation.name.endswith(".backward") or operation.get("create_graph", 2) != ABSENT:
                continue
            if operation.framework is None and self._is_inside(operation):
                message = (
                    f"`{facts.document.code(operation.node)}` runs under autocast, which only the forward pass and the "
                    f"loss need; end the `with` block before it"
                )
                yield self.finding(facts, operation.node, message)

    def _is_inside(self, operation: Operation) -> bool:
        for context in operation.contexts:
            casts = [one for one in context.around if isinstance(one, Opaque) and one.name in _AUTOCASTS]
            if not casts:
                return False
            off = [dict(one.keywords).get("enabled", Constant(True)) for one in casts]
            if any(isinstance(one, Constant) and one.value is False for one in off):
                return False
        return True
