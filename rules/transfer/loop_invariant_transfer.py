"""The same tensor copied for every batch."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Pause, Severity
from accel_advisor.records.facts import Facts, Transfer
from accel_advisor.records.queries.steps.repeated_copies import copies_of_the_same
from accel_advisor.records.queries.steps.settled_copies import SettledCopy, settled_copies
from accel_advisor.records.queries.steps.training_steps import wait_for_batches, wait_of
from accel_advisor.rule import Rule, also_at


class LoopInvariantTransfer(Rule):
    """The same tensor is copied to the GPU again for every batch.

    What it does
        Finds `.to(device)` and `.cuda()` in a loop over a loader, on a tensor that was made before the loop and that
        stays on the host. In `forward` and in what a step calls, too, it finds tensors that an attribute keeps, slices
        and views of them (`self.table[:, :n].to(x.device)`), and arrays and lists that an attribute, a constant or a
        configuration keeps, as in `torch.from_numpy(self.table).to(device)`.

    Why it costs time
        The same bytes are copied at every step, and every copy waits.

    Example
        import torch
        import torch.nn.functional as F
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        weight = torch.tensor([1.0, 5.0])
        data = TensorDataset(torch.zeros(64, 8), torch.zeros(64, dtype=torch.long))
        for x, y in DataLoader(data, batch_size=16, pin_memory=True):
            out = model(x.cuda(non_blocking=True))
            F.cross_entropy(out, y.cuda(non_blocking=True), weight.cuda()).backward()

    Use instead
        import torch
        import torch.nn.functional as F
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        weight = torch.tensor([1.0, 5.0], device="cuda")
        data = TensorDataset(torch.zeros(64, 8), torch.zeros(64, dtype=torch.long))
        for x, y in DataLoader(data, batch_size=16, pin_memory=True):
            out = model(x.cuda(non_blocking=True))
            F.cross_entropy(out, y.cuda(non_blocking=True), weight).backward()

    When to ignore it
        Where the tensor is too large to stay on the device. The rule is silent where the loop changes the tensor, or
        may, rebinds its name (`w = w.to(device)` copies once) or copies on a condition, about modules, and about
        attributes that another method than `__init__` sets.

    References
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
    """

    code = "ACC212"
    name = "loop-invariant-transfer"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        for transfer in copies_of_the_same(facts):
            yield self._report(facts, transfer)
        for copy in settled_copies(facts):
            yield self._of_settled(facts, copy)

    def _of_settled(self, facts: Facts, copy: SettledCopy) -> Finding:
        code, source = facts.document.code(copy.node), facts.document.code(copy.source)
        where = ", where it is no parameter" if copy.chosen else ""
        claim = (
            f"`{code}` copies `{source}`, which does not change, from the host at every step{where}{copy.basis.clause}"
        )
        remedy = "keep it as a tensor on the GPU, in a module as a buffer"
        severity = Severity.WARNING if copy.basis.proven else Severity.INFO
        step, wait = Frequency.STEP, wait_of(copy.operation, Pause.FILLS)
        return self.finding(
            facts, copy.node, claim, remedy, severity=severity, basis=copy.basis, frequency=step, wait=wait
        )

    def _report(self, facts: Facts, transfer: Transfer) -> Finding:
        document = facts.document
        born = transfer.contexts[0].moved.born
        assert born is not None
        assert transfer.receiver is not None
        name = document.code(transfer.receiver)
        claim = f"`{document.code(transfer.node)}` copies the same tensor to the GPU for every batch"
        remedy = f"move `{name}` once, before the loop"
        related = [also_at(born.document, born.node, "it is made here")]
        wait = wait_for_batches(transfer.contexts, Pause.FILLS)
        return self.finding(facts, transfer.node, claim, remedy, related=related, wait=wait)
