"""Parameters that a move or cast turns into ordinary tensors."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.lost_leaves import LostLeaf, lost_leaves
from accel_advisor.rule import Rule, make_on_device


class LeafLostByTo(Rule):
    """A parameter, or a tensor that requires gradients, is moved or cast as it is made: what is kept is no leaf.

    What it does
        Finds `nn.Parameter(...).to(device)` and `torch.zeros(..., requires_grad=True).to(device)`, or `.cuda()`,
        `.double()`, `.half()`, where the result is assigned.

    Why it costs time
        It costs correctness: the move, or the cast, is an operation that autograd records, and its result is an
        ordinary tensor. A module does not register it, an optimizer refuses it, and the gradients end in the leaf that
        nobody holds. Where the device is the CPU a move does nothing, so that the fault shows on a GPU only.

    Example
        import torch

        w = torch.zeros(8, requires_grad=True).cuda()
        w.sum().backward()

    Use instead
        import torch

        w = torch.zeros(8, requires_grad=True, device="cuda")
        w.sum().backward()

    When to ignore it
        The rule is silent where the device is the host or the one that the leaf is made on, about a `Parameter` that
        needs no gradients, and where the program calls `retain_grad()`, which is for tensors that are no leaves on
        purpose.

    Fix safety
        Unsafe: what is trained changes, as it surely was meant to. A `Parameter` is not rewritten: it should be made
        without the move, and its module be moved as a whole.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_leaf.html
    """

    code = "ACC206"
    name = "leaf-lost-by-to"
    severity = Severity.ERROR
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each move once."""
        for lost in lost_leaves(facts):
            yield self._report(facts, lost)

    def _report(self, facts: Facts, lost: LostLeaf) -> Finding:
        document = facts.document
        fix, remedy = None, "leave the move out, and move the module as a whole"
        if lost.dtype is not None:
            remedy = f"make it with `dtype={lost.dtype}`"
        elif not lost.is_parameter and lost.move is not None:
            device = '"cuda"' if lost.move.device is None else document.code(lost.move.device)
            remedy = f"pass `device={device}` to the factory"
            edits = make_on_device(document, lost.factory, lost.call, device)
            if edits is not None:
                fix = Fix(f"Create it with `device={device}`", edits, Applicability.UNSAFE)
        what = "Parameter" if lost.is_parameter else "tensor that requires gradients"
        claim = (
            f"`{document.code(lost.call)}` keeps a copy of a {what}: the copy is no leaf, is not registered and is "
            "never trained"
        )
        return self.finding(facts, lost.call, claim, remedy, fix=fix)
