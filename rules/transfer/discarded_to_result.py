"""Moves and casts of tensors whose result is thrown away."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.steps.discarded_results import DiscardedResult, discarded_results
from accel_advisor.rule import Rule, may_stand_twice, replace_node


class DiscardedToResult(Rule):
    """A tensor is moved, and the moved tensor is thrown away.

    What it does
        Finds `x.to(device)`, `x.cuda()`, `x.half()` and the like as statements of their own where `x` is a tensor.

    Why it costs time
        `Module.to` moves a module in place, `Tensor.to` does not: it returns a new tensor and leaves the old one where
        it was. The copy is made and lost, and what follows runs on the host or fails because the devices differ.

    Example
        import torch

        x = torch.randn(4, 8)
        x.to("cuda")
        print(x.mean())

    Use instead
        import torch

        x = torch.randn(4, 8)
        x = x.to("cuda")
        print(x.mean())

    When to ignore it
        Where the receiver is proven to be a tensor it is an error; where its annotation, a docstring or a method that
        only tensors have shows it, a warning. Modules, `BatchEncoding` and graph batches, which move in place, are left
        alone, and so is a tensor that has no name: `torch.zeros(1).cuda()` starts CUDA.
        In a program that synchronizes and reads the clock it reports batches only: another copy may be timed. A cast of
        what an object holds has no fix: others may need it as it is.

    Fix safety
        Unsafe: the program then computes on the device that the discarded move asked for, as it surely was meant to.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html
    """

    code = "ACC207"
    name = "discarded-to-result"
    severity = Severity.ERROR
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each discarded move once."""
        for lost in discarded_results(facts):
            yield self._report(facts, lost)

    def _report(self, facts: Facts, lost: DiscardedResult) -> Finding:
        document, call, basis = facts.document, lost.node, lost.basis
        receiver, code = document.code(lost.receiver), document.code(call)
        fate = "keeps its dtype" if lost.cast else "stays where it is"
        claim = f"`{code}` returns a new tensor, which is thrown away: `{receiver}` {fate}{basis.clause}"
        remedy = "bind what it returns to a name, or drop the call" if lost.held else f"write `{receiver} = {code}`"
        fix = None
        if may_stand_twice(lost.receiver) and not lost.held:
            edit = replace_node(document, call, f"{receiver} = {code}")
            fix = Fix(f"Assign the result to `{receiver}`", (edit,), Applicability.UNSAFE)
        severity = Severity.ERROR if basis.proven else Severity.WARNING
        return self.finding(facts, call, claim, remedy, severity=severity, fix=fix, basis=basis)
