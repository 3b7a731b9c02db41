"""Binary cross entropy of probabilities under autocast."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import Call
from accel_advisor.records.facts import Facts
from accel_advisor.records.given import Given
from accel_advisor.records.queries.precision import AUTOCASTS, is_on
from accel_advisor.rule import Rule

_FUNCTION = Call("torch.nn.functional.binary_cross_entropy")


class BceUnderAutocast(Rule):
    """Binary cross entropy of probabilities is computed under autocast, which forbids it.

    What it does
        Finds `F.binary_cross_entropy` and `nn.BCELoss` inside of an autocast region for CUDA.

    Why it costs time
        It raises RuntimeError: "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast".
        Half precision has no room for the logarithm of a probability next to 0 or 1.

    Example
        import torch
        from torch.nn import functional as F

        z = torch.randn(4, device="cuda")
        y = torch.ones(4, device="cuda")
        with torch.autocast("cuda"):
            loss = F.binary_cross_entropy(torch.sigmoid(z), y)

    Use instead
        import torch
        from torch.nn import functional as F

        z = torch.randn(4, device="cuda")
        y = torch.ones(4, device="cuda")
        with torch.autocast("cuda"):
            loss = F.binary_cross_entropy_with_logits(z, y)

    When to ignore it
        Never where the region is on. The rule is silent on the CPU, where autocast allows it, where an inner
        `autocast(enabled=False)` surrounds the loss, and where a value decides whether autocast is on. `.float()` alone
        does not help: torch forbids the function there, whatever it is given. Outside of autocast nothing raises, and
        the rule reports nothing.

    References
        - https://docs.pytorch.org/docs/stable/amp.html#prefer-binary-cross-entropy-with-logits-over-binary-cross-entropy
    """

    code = "ACC406"
    name = "bce-under-autocast"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loss once."""
        called = {id(one.node) for one in facts.operations_of(_FUNCTION)}
        for call in facts.module_calls:
            kinds = [context.model.kind for context in call.contexts if context.model is not None]
            function = id(call.node) in called
            if not function and (len(kinds) != len(call.contexts) or set(kinds) != {"torch.nn.BCELoss"}):
                continue
            if all(_casts_on_cuda(facts, context.regions) for context in call.contexts):
                instead = "binary_cross_entropy_with_logits" if function else "BCEWithLogitsLoss"
                claim = (
                    f"`{facts.document.code(call.node)}` raises RuntimeError under autocast, which forbids it for "
                    "probabilities"
                )
                remedy = f"leave the sigmoid out and use `{instead}`"
                yield self.finding(facts, call.node, claim, remedy)


def _casts_on_cuda(facts: Facts, regions: tuple[Given, ...]) -> bool:
    """Whether the innermost autocast region is certainly one for CUDA, and on."""
    for region in reversed(regions):
        if not region.made_by.endswith("autocast"):
            continue
        if region.made_by == "torch.autocast":
            device = region.argument("device_type", 0)
            if device.absent or device.device_kinds != {"cuda"}:
                return False
        return region.made_by in AUTOCASTS - {"torch.cpu.amp.autocast"} and is_on(facts, region)
    return False
