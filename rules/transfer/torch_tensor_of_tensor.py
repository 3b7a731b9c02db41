"""ACC218."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from accel_advisor.editing.edits import replace_node
from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule
from accel_advisor.values.values import Tensor


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
        The rule speaks only about what is proven to be a tensor; numpy arrays and lists are left alone.

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
        for operation in facts.operations:
            if operation.name == "torch.tensor" and operation.contexts and self._of_tensor(operation):
                call = operation.node
                assert isinstance(call, cst.Call)
                document = facts.document
                source = document.code(call.args[0].value)
                simple = isinstance(call.args[0].value, (cst.Name, cst.Attribute, cst.Call, cst.Subscript))
                instead = f"{source}.detach().clone()" if simple else f"({source}).detach().clone()"
                fix = None
                if len(call.args) == 1:
                    fix = Fix(f"Write `{instead}`", (replace_node(document, call, instead),), Applicability.SAFE)
                message = (
                    f"`{document.code(call)}` copies a tensor that `{source}` is already, and warns; write `{instead}`"
                )
                yield self.finding(facts, call, message, fix=fix)

    def _of_tensor(self, operation: Operation) -> bool:
        values = [context.get("data", 0) for context in operation.contexts]
        return all(isinstance(one, Tensor) and one.proven for one in values)
