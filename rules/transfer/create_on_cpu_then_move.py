"""Tensors that are filled on the host and moved at once."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Frequency, Pause, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.steps.filled_then_moved import FilledThenMoved, filled_then_moved
from accel_advisor.records.queries.steps.training_steps import wait_of
from accel_advisor.rule import Rule, also_at, make_on_device


class CreateOnCpuThenMove(Rule):
    """A tensor is filled on the host and then copied to the device on which it could have been filled.

    What it does
        Finds `torch.zeros(...).to(device)` and the like (`ones`, `full`, `empty`, `eye`, `arange`, `linspace`, `rand`,
        `randn`, `randint`, `randperm`, `hann_window`, `torch.FloatTensor(n, m)`, `torch.LongTensor(range(n))`) that are
        moved where they are made, or by their name before anything else happens to them (in a script, only in a loop),
        also by a function of the program that moves what it is given (`to_gpu(torch.randn(n))`), and also only where
        another tensor is on the GPU; those that take the place of another tensor (`type_as`, `to(x)`,
        `x.new_tensor`), and those that get a type of tensors on the GPU. What is computed of them on the way, without
        other tensors, belongs to it: `(torch.arange(n) / n).to(device)`, `torch.triu(torch.ones(n, n)).to(device)`.

    Why it costs time
        The host fills the memory and the program waits while it is copied. The factory fills it on the device when it
        knows which, without a copy, and what is computed of it is computed there, too. Inside of a loop or of
        `forward` that is paid at every step, and grows with the tensor: random numbers take the host far longer than
        the GPU. What is made more rarely is reported only where this rule is selected by
        its code or name, as one finding a file.

    Example
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        data = TensorDataset(torch.zeros(64, 8))
        for (x,) in DataLoader(data, batch_size=16, pin_memory=True):
            noisy = x.to(device, non_blocking=True) + torch.randn(16, 8).to(device)

    Use instead
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        data = TensorDataset(torch.zeros(64, 8))
        for (x,) in DataLoader(data, batch_size=16, pin_memory=True):
            noisy = x.to(device, non_blocking=True) + torch.randn(16, 8, device=device)

    When to ignore it
        The rule is silent about tensors that are made from data (`torch.tensor`, `torch.from_numpy`), which have to be
        copied anyway, about those without elements, about factories with `out`, `generator`, `pin_memory` or
        `requires_grad`, and where the default device is not the host (`torch.set_default_device`, `with device:`). It
        is silent, too, about random tensors and ranges of floats that are made only now and then: other numbers are not
        worth what that costs. In an evaluation, in a branch such as `if not self.training`, and about a tensor of one
        number for each sample, it is `info`; what a program does that evaluates a single batch, small tensors in passes
        that train nothing, and branches that only evaluations ask for (`if test_emb:` beside `test_emb=False`,
        `if targets is None:`), are reported only if this rule is selected by its code or name.

    Fix safety
        Safe for constant fills and ranges of integers. Unsafe for random tensors, which then come from the device's
        own generator, so that the same seed gives other numbers, and for ranges of floats.

    References
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
    """

    code = "ACC205"
    name = "create-on-cpu-then-move"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each move once."""
        for one in filled_then_moved(facts):
            if one.often or one.same:
                yield self._report(facts, one)

    def _report(self, facts: Facts, one: FilledThenMoved) -> Finding:
        document = facts.document
        code, factory = document.code(one.node), document.code(one.call.func)
        when = " at every step" if one.often else ""
        made, moved = document.span(one.call).start, document.span(one.node).start
        where = "" if made.row == moved.row else f" in {made.line}"
        related = [also_at(document, one.call, "it is filled here")] if where else []
        if one.helper is not None:
            related.append(also_at(one.helper.document, one.helper.node, "a function moves it to the device here"))
        claim = f"`{code}` waits{when} for the copy of what `{factory}` fills on the host{where}{one.basis.clause}"
        remedy = f"{one.remedy} instead"
        edits = make_on_device(document, one.call, one.node, one.device) if one.device else None
        applicability = Applicability.SAFE if one.same else Applicability.UNSAFE
        fix = Fix(f"Create it with `device={one.device}`", edits, applicability) if edits else None
        severity = Severity.WARNING if one.often and one.basis.proven and not (one.apart or one.few) else Severity.INFO
        frequency = Frequency.STEP if one.often else Frequency.ONCE
        return self.finding(
            facts,
            one.node,
            claim,
            remedy,
            severity=severity,
            frequency=frequency,
            fix=fix,
            related=related,
            basis=one.basis,
            minor=one.slight or not one.often,
            since=(0, 4),
            before="make a tensor of `torch.cuda` and fill it there instead",
            wait=wait_of(one.filling, Pause.FILLS) if one.often and not one.evaluates else None,
        )
