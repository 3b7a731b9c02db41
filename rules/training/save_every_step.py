"""Checkpoints that are written after every batch."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import AnyCall, Call
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule


class SaveEveryStep(Rule):
    """A checkpoint is written after every batch.

    What it does
        Finds `torch.save` and `save_pretrained` in a training loop over a DataLoader, where no condition decides
        about it.

    Why it costs time
        In each step everything is copied from the device, serialized and written to the disk, while the device waits.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8))):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
            torch.save(model.state_dict(), "model.pt")

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step, (x,) in enumerate(DataLoader(TensorDataset(torch.zeros(64, 8)))):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
            if step % 1000 == 0:
                torch.save(model.state_dict(), "model.pt")

    When to ignore it
        In demonstrations of a few steps. The rule is silent under any condition in the loop, in loops that do not
        train, end with the first batch or take a literal number of them, and about what is kept in memory.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.save.html
    """

    code = "ACC427"
    name = "save-every-step"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        for operation in facts.operations_of(Call("torch.save"), AnyCall("save_pretrained")):
            if self._is_in_every_step(operation):
                claim = f"`{operation.what.name}(...)` writes to the disk after every batch, while the device waits"
                remedy = "do it every so many steps, or after the epoch"
                yield self.finding(facts, operation.node, claim, remedy)

    def _is_in_every_step(self, operation: Operation) -> bool:
        if not operation.at_every_step or not all(one.loop and one.loop.backward for one in operation.contexts):
            return False
        kept = [context.given("f", 1).made_by == "io.BytesIO" for context in operation.contexts]
        return not any(kept) and not any(one.loop and one.loop.takes_first_few for one in operation.contexts)
