"""Gradients that are filled with zeros at each step."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import AnyCall, calls
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule, drop_argument

_SINCE = (2, 0)
_GRAPHS = calls("torch.cuda.CUDAGraph", "torch.cuda.graph", "torch.cuda.make_graphed_callables")
_KEEPS = (".grad", "gradient_as_bucket_view", "_foreach_zero_")
"""Words of programs that read gradients, and may rely on the zeros, or that keep them where they are on purpose."""


class ZeroGradSetToNoneFalse(Rule):
    """Gradients are filled with zeros at each step, where they could be dropped.

    What it does
        Finds `zero_grad(set_to_none=False)` on an optimizer or a module, with the value written out.

    Why it costs time
        Every gradient is written once to be zero and then read and written again to be added to. Dropped, which is
        the default since torch 2.0, it is written once, by the backward pass, and takes no memory in between.

    Example
        import torch
        from torch import nn

        model = nn.Linear(8, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer.zero_grad(set_to_none=False)

    Use instead
        import torch
        from torch import nn

        model = nn.Linear(8, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer.zero_grad()

    When to ignore it
        Where parameters that took part in no loss need a gradient of zero, and with CUDA graphs, which need gradients
        that stay where they are. The rule is silent where the program captures one, asks DDP for gradients that are
        views of its buckets, or touches a `.grad` at all: to drop gradients would break `p.grad.zero_()`.

    Fix safety
        Unsafe: under momentum or weight decay a parameter without a gradient is skipped, while one with a gradient of
        zero keeps moving.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html
    """

    code = "ACC411"
    name = "zero-grad-set-to-none-false"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        if not facts.supports(_SINCE) or facts.does(*_GRAPHS):
            return
        if any(word in one.document.text for one in facts.program for word in _KEEPS):
            return
        for operation in facts.operations_of(AnyCall("zero_grad")):
            if self._clears(operation):
                code = facts.document.code(operation.node)
                message = (
                    f"`{code}` writes zeros into every gradient only for the next ones to be added to them; drop the "
                    f"argument, and the gradients are dropped instead"
                )
                fix = drop_argument(
                    facts.document, operation.node, "set_to_none", position=0, shown="set_to_none=False"
                )
                yield self.finding(facts, operation.node, message, fix=fix, since=_SINCE)

    def _clears(self, operation: Operation) -> bool:
        subjects = [context.subject for context in operation.contexts]
        owners = all(one.module is not None or one.made_by.startswith("torch.optim.") for one in subjects)
        return owners and operation.gives("set_to_none", False, 0)
