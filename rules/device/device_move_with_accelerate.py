"""Moves of batches that Accelerate has moved."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.facts import Facts, TransferContext
from accel_advisor.records.loaders import loader_of
from accel_advisor.records.queries.frameworks.accelerator import may_be_prepared
from accel_advisor.rule import Rule


class DeviceMoveWithAccelerate(Rule):
    """A batch that Accelerate has put on the device already is moved there again.

    What it does
        Finds `.to(accelerator.device)` on the batches of a loader that `accelerator.prepare` returned.

    Why it costs time
        Nothing is copied, but the line hides who moves the batches, and stays behind when `device_placement` changes.

    Example
        import torch
        from accelerate import Accelerator, DataLoaderConfiguration
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        accelerator = Accelerator(dataloader_config=DataLoaderConfiguration(non_blocking=True))
        loader = DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, pin_memory=True)
        model, loader = accelerator.prepare(nn.Linear(8, 2), loader)
        for (x,) in loader:
            model(x.to(accelerator.device))

    Use instead
        import torch
        from accelerate import Accelerator, DataLoaderConfiguration
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        accelerator = Accelerator(dataloader_config=DataLoaderConfiguration(non_blocking=True))
        loader = DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, pin_memory=True)
        model, loader = accelerator.prepare(nn.Linear(8, 2), loader)
        for (x,) in loader:
            model(x)

    When to ignore it
        The rule is silent about what was not prepared (a frozen encoder, tensors made in the loop), and where
        `device_placement=False` is given.

    References
        - https://huggingface.co/docs/accelerate/basic_tutorials/migration
    """

    code = "ACC313"
    name = "device-move-with-accelerate"
    severity = Severity.INFO
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each move once."""
        for transfer in facts.transfers:
            again = (self._again(facts, one) for one in transfer.contexts)
            if transfer.method == "to" and transfer.contexts and all(again):
                code = facts.document.code(transfer.node)
                claim = f"`{code}` moves a batch that Accelerate has put on the device already"
                remedy = "drop the move"
                yield self.finding(facts, transfer.node, claim, remedy)

    def _again(self, facts: Facts, context: TransferContext) -> bool:
        loader = loader_of(context.loader)
        if loader is None or loader.moved_by != "accelerate" or context.casts:
            return False
        if not may_be_prepared(facts, loader, context.loop):
            return False
        accelerator = context.device.owner
        if context.device.attribute != "device" or accelerator.made_by != "accelerate.Accelerator":
            return False
        placing = accelerator.argument("device_placement")
        return placing.absent or bool(placing.literal)
