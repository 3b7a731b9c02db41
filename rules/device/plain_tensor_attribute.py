"""Tensors of a module that do not move with it."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.mixing import Meeting
from accel_advisor.records.queries.models.plain_attributes import tensors_left_behind
from accel_advisor.rule import Rule, also_at, replace_node


class PlainTensorAttribute(Rule):
    """A module keeps a tensor as a plain attribute, which stays on the host when the module moves.

    What it does
        Finds `self.x = torch.zeros(...)` in `__init__` of a module where `forward` combines `self.x` with its arguments
        or gives it to a layer, without moving it.

    Why it costs time
        `module.to(device)` moves parameters and buffers. A plain attribute stays behind, and `forward` raises "Expected
        all tensors to be on the same device" on a GPU.

    Example
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(8, 8)
                self.scale = torch.ones(8)

            def forward(self, x):
                return self.layer(x) * self.scale

    Use instead
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(8, 8)
                self.register_buffer("scale", torch.ones(8), persistent=False)

            def forward(self, x):
                return self.layer(x) * self.scale

    When to ignore it
        The rule is silent about tensors without dimensions, about attributes that `forward` moves, where the class has
        a `to`, `cuda` or `_apply` of its own, and in a program that trains and moves nothing.

    Fix safety
        Unsafe: a buffer is broadcast by DistributedDataParallel and cast by `half()`. With `persistent=False` the state
        dict stays as it was.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer
    """

    code = "ACC305"
    name = "plain-tensor-attribute"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each attribute once, where it is assigned."""
        if facts.trains and not facts.placed:
            return
        for assigned, meeting in tensors_left_behind(facts):
            yield self._report(facts, meeting, assigned)

    def _report(self, facts: Facts, meeting: Meeting, assigned: Operation) -> Finding:
        document = facts.document
        assert assigned.receiver is not None
        name, holder = document.code(assigned.node), document.code(assigned.receiver)
        claim = (
            f"`{name}` is a plain tensor, which stays on the host when the module moves, so that "
            f"`{document.code(meeting.node)}` raises on a GPU"
        )
        remedy = "register it as a buffer"
        fix = None
        if assigned.assigned is not None:
            attribute, value = name.rpartition(".")[2].strip(), document.code(assigned.assigned)
            edit = replace_node(
                document, assigned.statement, f'{holder}.register_buffer("{attribute}", {value}, persistent=False)'
            )
            fix = Fix("Register it as a buffer", (edit,), Applicability.UNSAFE)
        related = [also_at(document, meeting.node, "it is used here")]
        severity = Severity.ERROR if facts.placed else Severity.WARNING
        return self.finding(facts, assigned.statement, claim, remedy, severity=severity, fix=fix, related=related)
