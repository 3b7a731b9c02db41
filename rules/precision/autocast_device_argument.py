"""`torch.autocast` with a `torch.device`, or with no device."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Frequency, Severity
from accel_advisor.records.actions import Call
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule, insert_after


class AutocastDeviceArgument(Rule):
    """`torch.autocast` is given a `torch.device` where it wants a string, or no device at all.

    What it does
        Finds calls of `torch.autocast` (`torch.amp.autocast`) whose first argument is certainly a `torch.device`, and
        calls that name no device.

    Why it costs time
        It raises: "Expected `device_type` of type `str`", or TypeError for the argument that is missing.

    Example
        import torch

        device = torch.device("cuda")
        with torch.autocast(device, torch.bfloat16):
            y = torch.ones(2, 2, device=device) * 2

    Use instead
        import torch

        device = torch.device("cuda")
        with torch.autocast(device.type, torch.bfloat16):
            y = torch.ones(2, 2, device=device) * 2

    When to ignore it
        Never: the call cannot work. The rule is silent wherever the argument may be a string.

    Fix safety
        Safe: what is certainly a `torch.device` has a `type`, and without it the call raises. No fix is made where the
        argument is missing.

    References
        - https://docs.pytorch.org/docs/stable/amp.html#torch.autocast
    """

    code = "ACC403"
    name = "autocast-device-argument"
    severity = Severity.ERROR
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        for operation in facts.operations_of(Call("torch.autocast")):
            given = [context.given("device_type", 0) for context in operation.contexts]
            if all(value.is_device for value in given):
                yield self._report(facts, operation)
            elif all(value.absent for value in given):
                code = facts.document.code(operation.node)
                claim = f"`{code}` raises TypeError, because it does not say for which device"
                remedy = 'pass `"cuda"`, or the `type` of your device'
                yield self.finding(facts, operation.node, claim, remedy)

    def _report(self, facts: Facts, operation: Operation) -> Finding:
        argument = operation.contexts[0].argument("device_type", 0)
        node = argument.expression if argument is not None else None
        if node is None:
            claim = "`torch.autocast` raises for a `torch.device`, because it wants a string"
            remedy = "pass its `type`"
            return self.finding(facts, operation.node, claim, remedy)
        name = facts.document.code(node)
        claim = f"`{name}` is a `torch.device`, for which `torch.autocast` raises, because it wants a string"
        remedy = f"pass `{name}.type`"
        edit = insert_after(facts.document, node, ".type")
        return self.finding(facts, node, claim, remedy, fix=Fix(f"Pass `{name}.type`", (edit,), Applicability.SAFE))
