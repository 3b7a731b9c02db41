"""ACC406."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.precision import is_on
from accel_advisor.rule import Rule
from accel_advisor.tables.torch_functions import AUTOCASTS
from accel_advisor.values.devices import device_kinds
from accel_advisor.values.values import Module, Opaque, Value

_FUNCTION = "torch.nn.functional.binary_cross_entropy"


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
        the rule does not speak.

    References
        - https://docs.pytorch.org/docs/stable/amp.html#prefer-binary-cross-entropy-with-logits-over-binary-cross-entropy
    """

    code = "ACC406"
    name = "bce-under-autocast"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loss once."""
        called = {id(one.node) for one in facts.operations if one.name == _FUNCTION}
        for call in facts.module_calls:
            kinds = [context.module.kind for context in call.contexts if isinstance(context.module, Module)]
            function = id(call.node) in called
            if not function and (len(kinds) != len(call.contexts) or set(kinds) != {"torch.nn.BCELoss"}):
                continue
            if all(_casts_on_cuda(facts, context.around) for context in call.contexts):
                instead = "binary_cross_entropy_with_logits" if function else "BCEWithLogitsLoss"
                message = (
                    f"`{facts.document.code(call.node)}` raises RuntimeError under autocast, which forbids it for "
                    f"probabilities; leave the sigmoid out and use `{instead}`"
                )
                yield self.finding(facts, call.node, message)


def _casts_on_cuda(facts: Facts, around: tuple[Value, ...]) -> bool:
    """Whether the innermost autocast region is certainly one for CUDA, and on."""
    for value in reversed(around):
        if not isinstance(value, Opaque) or not value.name.endswith("autocast"):
            continue
        if value.name == "torch.autocast":
            device = dict(value.keywords).get("device_type", value.arguments[0] if value.arguments else None)
            if device is None or device_kinds(device) != {"cuda"}:
                return False
        return value.name in AUTOCASTS - {"torch.cpu.amp.autocast"} and is_on(facts, value)
    return False
