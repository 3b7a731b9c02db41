"""`torch.tensor` of what is a tensor already."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import Call
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule, replace_node, takes_method


class TorchTensorOfTensor(Rule):
    """A tensor is copied by way of `torch.tensor`, which is meant for Python data.

    What it does
        Finds `torch.tensor(t)` where `t` is a tensor already.

    Why it costs time
        PyTorch warns at every call, and the copy says nothing of whether gradients were meant to flow.

    Example
        import torch

        t = torch.zeros(8)
        copied = torch.tensor(t)

    Use instead
        import torch

        t = torch.zeros(8)
        copied = t.detach().clone()

    When to ignore it
        The rule reports only what is proven to be a tensor; numpy arrays and lists are left alone.

    Fix safety
        Safe: `torch.tensor(t)` does the same, with a warning.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.tensor.html
    """

    code = "ACC218"
    name = "torch-tensor-of-tensor"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        for operation in facts.operations_of(Call("torch.tensor")):
            if all(context.given("data", 0).is_plain_tensor for context in operation.contexts):
                document, call, copied = facts.document, operation.node, operation.arguments[0].value
                source = document.code(copied)
                instead = f"{source}.detach().clone()" if takes_method(copied) else f"({source}).detach().clone()"
                fix = None
                if len(operation.arguments) == 1 and operation.names_it:
                    fix = Fix(f"Write `{instead}`", (replace_node(document, call, instead),), Applicability.SAFE)
                claim = f"`{document.code(call)}` copies a tensor that `{source}` is already, and warns"
                remedy = f"write `{instead}`"
                yield self.finding(facts, call, claim, remedy, fix=fix)
