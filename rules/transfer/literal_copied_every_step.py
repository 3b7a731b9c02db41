"""The same written numbers, copied from the host at every step."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Pause, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.steps.literal_copies import literal_copies
from accel_advisor.records.queries.steps.training_steps import wait_of
from accel_advisor.rule import Rule, also_at


class LiteralCopiedEveryStep(Rule):
    """A tensor of numbers that are written in the program is made on the host and copied to the GPU at every step.

    What it does
        Finds `torch.tensor([0.1, 0.2]).to(device)`, `torch.FloatTensor([0.1, 0.2]).cuda()` and the like in `forward` or
        in a loop that trains or goes over a loader, where all of the numbers are literals, also those of an array of
        numpy: moved at once, or by name before anything else happens to them, or given to the GPU, as by
        `torch.tensor([0.1, 0.2], device=device)`, `x.new_tensor([0.1, 0.2])` and the default type of tensors.

    Why it costs time
        Each step puts the same numbers into memory of the host and waits while they are copied.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, pin_memory=True):
            weight = torch.tensor([0.1, 0.9]).cuda()
            (model(x.cuda(non_blocking=True)) * weight).sum().backward()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        weight = torch.tensor([0.1, 0.9]).cuda()
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, pin_memory=True):
            (model(x.cuda(non_blocking=True)) * weight).sum().backward()

    When to ignore it
        Where something that the rule does not see changes the tensor in place. It is silent where the function does so
        (`total += loss`), by whatever name, or processes add up theirs in it, where a condition skips steps or decides
        about the copy of a single number, and about tensors that want a gradient.

    References
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
    """

    code = "ACC221"
    name = "literal-copied-every-step"
    severity = Severity.INFO
    frequency = Frequency.STEP

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each copy once."""
        for copy in literal_copies(facts):
            code, made, moved = facts.document.code(copy.node), *map(facts.document.span, (copy.maker, copy.node))
            apart = made.start.row != moved.start.row
            where = f" that are written in {made.start.line}" if apart else ""
            claim = f"`{code}` copies the same numbers{where} from the host at every step{copy.basis.clause}"
            remedy = "make the tensor once, before the loop or as a buffer of the module"
            related = [also_at(facts.document, copy.maker, "it is made here")] if apart else []
            wait = wait_of(copy.making, Pause.FILLS)
            yield self.finding(facts, copy.node, claim, remedy, related=related, basis=copy.basis, wait=wait)
