"""Samplers that Lightning would add by itself."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.actions import Call
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule


class LightningManualSampler(Rule):
    """A Lightning class builds the sampler that Lightning would add by itself.

    What it does
        Finds a `DistributedSampler` that a LightningModule or LightningDataModule builds, where the Trainer of the
        program leaves `use_distributed_sampler` on.

    Why it costs time
        Lightning gives every loader a DistributedSampler and calls its `set_epoch`. One that is built by hand has to be
        kept right for every strategy and number of devices, and fails where no process group runs.

    Example
        import lightning as L
        import torch
        from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

        class Data(L.LightningDataModule):
            def train_dataloader(self):
                data = TensorDataset(torch.zeros(64, 8))
                return DataLoader(data, sampler=DistributedSampler(data), pin_memory=True)

        trainer = L.Trainer(devices=2)

    Use instead
        import lightning as L
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        class Data(L.LightningDataModule):
            def train_dataloader(self):
                data = TensorDataset(torch.zeros(64, 8))
                return DataLoader(data, shuffle=True, pin_memory=True)

        trainer = L.Trainer(devices=2)

    When to ignore it
        Where the sampler needs arguments of its own. The rule is silent with `use_distributed_sampler` given, and where
        no Trainer is in sight.

    References
        - https://lightning.ai/docs/pytorch/stable/accelerators/accelerator_prepare.html#remove-samplers
    """

    code = "ACC610"
    name = "lightning-manual-sampler"
    severity = Severity.INFO
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each sampler once."""
        trainers = facts.program.operations_of(Call("lightning.Trainer"))
        if not trainers or not all(
            one.lacks("use_distributed_sampler") and one.lacks("replace_sampler_ddp") for one in trainers
        ):
            return
        for operation in facts.operations_of(Call("torch.utils.data.DistributedSampler")):
            if operation.framework == "lightning":
                claim = "Lightning gives each loader a `DistributedSampler` and sets its epoch"
                remedy = "leave this one out, or pass `use_distributed_sampler=False` to the Trainer"
                yield self.finding(facts, operation.node, claim, remedy)
