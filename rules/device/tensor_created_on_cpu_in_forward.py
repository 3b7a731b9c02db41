"""Tensors that `forward` makes on the host."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import calls
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.mixing import Meeting, meetings
from accel_advisor.rule import Node, Rule, add_keyword, also_at

EXACT = calls("torch.zeros", "torch.ones", "torch.full", "torch.empty", "torch.eye", "torch.arange")


class TensorCreatedOnCpuInForward(Rule):
    """A tensor is made on the host in `forward`, and meets tensors that are where the model is.

    What it does
        Finds a factory call without `device=` in `forward`, or in a method that it calls, whose result is combined with
        an argument of `forward`, with a parameter, or is given to a layer.

    Why it costs time
        On the CPU the code runs; on a GPU it raises "Expected all tensors to be on the same device".

    Example
        import torch
        from torch import nn

        class Net(nn.Module):
            def forward(self, x):
                noise = torch.zeros(x.size(0), 8)
                return x + noise

    Use instead
        import torch
        from torch import nn

        class Net(nn.Module):
            def forward(self, x):
                noise = torch.zeros(x.size(0), 8, device=x.device)
                return x + noise

    When to ignore it
        Where the model is never meant to leave the CPU: the rule is silent in a program that trains and moves nothing.
        It is silent about tensors without dimensions, which mix with all devices, about indices, about tensors that are
        moved before they are used, and about the branch for those without a GPU (the `else` of `if use_cuda`). In
        classes that nothing in the program uses it is `info`, said once a file.

    Fix safety
        Safe for constant fills and ranges. Unsafe for random tensors, which then come from the device's own generator.

    References
        - https://lightning.ai/docs/pytorch/stable/accelerators/accelerator_prepare.html
    """

    code = "ACC304"
    name = "tensor-created-on-cpu-in-forward"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each factory call once."""
        if facts.trains and not facts.placed:
            return
        exact = {one.node for one in facts.operations_of(*EXACT)}
        seen: set[Node] = set()
        for meeting in meetings(facts):
            born = meeting.born
            inside = "forward" in born.functions and "__init__" not in born.functions
            if inside and born.document is facts.document and born.node not in seen and born.owner is not None:
                seen.add(born.node)
                yield self._report(facts, meeting, born.node in exact)

    def _report(self, facts: Facts, meeting: Meeting, exact: bool) -> Finding:
        document, call = facts.document, meeting.born.node
        parameter, fix = meeting.parameter, None
        device = f"{parameter}.device"
        edits = add_keyword(document, call, "device", device) if parameter else None
        if edits is not None:
            applicability = Applicability.SAFE if exact else Applicability.UNSAFE
            fix = Fix(f"Create it with `device={device}`", edits, applicability)
        where = f"`device={device}`" if parameter else "the device of what it is used with"
        use = document.code(meeting.node)
        claim = (
            f"`{document.code(call)}` is on the host wherever the model is, but `{use}` combines it with what lives "
            "with the model, which raises on a GPU"
        )
        remedy = f"create it with {where}"
        related = [also_at(document, meeting.node, "they meet here")]
        severity = Severity.ERROR if facts.placed else Severity.WARNING
        group, owner = "", meeting.born.owner
        if severity is Severity.ERROR and owner is not None and not facts.is_used(owner.node):
            severity, group = Severity.INFO, "classes that nothing uses"
            remedy += f" (nothing here uses `{owner.name}` so far)"
        return self.finding(facts, call, claim, remedy, severity=severity, fix=fix, related=related, group=group)
