"""Moves to a device of their own in a Lightning module."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts, Transfer
from accel_advisor.rule import Rule

STEPS = frozenset({"training_step", "validation_step", "test_step", "predict_step", "forward"})


class DeviceMoveInLightning(Rule):
    """A step of a LightningModule moves something to a device that is written out.

    What it does
        Finds `.cuda()` and `.to("cuda")` in the steps and the `forward` of a LightningModule.

    Why it costs time
        Lightning has moved the batch already. With several GPUs a written device is the wrong one on every process but
        the first, and the program fails on machines without CUDA.

    Example
        import lightning as L
        import torch
        from torch import nn

        class Net(L.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(8, 2)

            def training_step(self, batch, index):
                return self.layer(batch.cuda()).sum()

    Use instead
        import lightning as L
        import torch
        from torch import nn

        class Net(L.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(8, 2)

            def training_step(self, batch, index):
                return self.layer(batch).sum()

    When to ignore it
        In code that runs outside of the Trainer. The rule is silent about `.to(self.device)`, `.to(x.device)`, and
        about helpers and `setup`.

    References
        - https://lightning.ai/docs/pytorch/stable/accelerators/accelerator_prepare.html
    """

    code = "ACC312"
    name = "device-move-in-lightning"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each move once."""
        for transfer in facts.transfers:
            if transfer.framework == "lightning" and self._written(transfer) and self._in_step(transfer):
                code = facts.document.code(transfer.node)
                claim = f"`{code}` names a device, which is wrong on every process but the first"
                remedy = "Lightning moves batches by itself, and `.to(self.device)` serves for the rest"
                yield self.finding(facts, transfer.node, claim, remedy)

    def _written(self, transfer: Transfer) -> bool:
        if transfer.method == "cuda":
            return transfer.bare
        return transfer.method == "to" and all(one.device.device_kinds == {"cuda"} for one in transfer.contexts)

    def _in_step(self, transfer: Transfer) -> bool:
        return bool(transfer.contexts) and all(
            bool(context.functions) and context.functions[-1] in STEPS for context in transfer.contexts
        )
