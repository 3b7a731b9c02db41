"""Moves that raise on a machine without CUDA."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import any_calls, calls
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule, also_at

_CHOICES = any_calls("is_available", "device_count", "current_accelerator", "init_process_group", "jit")
_KERNELS = calls(*(f"torch.utils.cpp_extension.{name}" for name in ("load", "load_inline", "CUDAExtension")))
"""What builds CUDA code of the project's own."""


class HardCodedCuda(Rule):
    """Things are moved to CUDA without asking whether there is any.

    What it does
        Finds `.cuda()` and `.to("cuda")` in a program that nowhere asks whether a GPU is available.

    Why it costs time
        It costs portability: on a machine without an NVIDIA or AMD GPU the program raises at the first move.

    Example
        import torch
        from torch import nn

        model = nn.Linear(8, 2).cuda()

    Use instead
        import torch
        from torch import nn

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(8, 2).to(device)

    When to ignore it
        The rule is off by default: many programs need CUDA anyway. It is silent where NCCL, Triton or
        CUDA code of the project's own is used.

    References
        - https://docs.pytorch.org/docs/stable/notes/cuda.html#device-agnostic-code
    """

    code = "ACC309"
    name = "hard-coded-cuda"
    severity = Severity.INFO
    enabled = False

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each file once, at the first move."""
        if facts.does(*_CHOICES, *_KERNELS):
            return
        guarded = {one.node for one in facts.operations if any(context.guarded for context in one.contexts)}
        moves = [one for one in facts.transfers if one.method in ("to", "cuda") and one.kinds == {"cuda"}]
        moves = [one for one in moves if one.node not in guarded]
        if moves:
            document = facts.document
            claim = f"`{document.code(moves[0].node)}` raises on a machine without CUDA"
            remedy = 'choose the device once, with `torch.device("cuda" if torch.cuda.is_available() else "cpu")`'
            related = [also_at(document, one.node, "and here") for one in moves[1:]]
            yield self.finding(facts, moves[0].node, claim, remedy, related=related)
