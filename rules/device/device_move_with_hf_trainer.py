"""Moves of batches that the Trainer has moved."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule


class DeviceMoveWithHfTrainer(Rule):
    """A Trainer's `compute_loss` moves what the Trainer has moved already.

    What it does
        Finds `.to(...)` and `.cuda()` in the `compute_loss` of a subclass of the transformers Trainer.

    Why it costs time
        The Trainer has put the inputs on its device before it calls `compute_loss`. A device that is written out is the
        wrong one on every process but the first.

    Example
        from transformers import Trainer

        class Mine(Trainer):
            def compute_loss(self, model, inputs):
                return model(inputs["x"].cuda()).sum()

    Use instead
        from transformers import Trainer

        class Mine(Trainer):
            def compute_loss(self, model, inputs):
                return model(inputs["x"]).sum()

    When to ignore it
        The rule is off by default. Code for evaluation and generation may have to move things by itself.

    References
        - https://huggingface.co/docs/transformers/main_classes/trainer
    """

    code = "ACC314"
    name = "device-move-with-hf-trainer"
    severity = Severity.INFO
    enabled = False

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each move once."""
        for transfer in facts.transfers:
            inside = all(bool(one.functions) and one.functions[-1] == "compute_loss" for one in transfer.contexts)
            moves = transfer.method in ("to", "cuda") and transfer.kinds != {"cpu"}
            if transfer.framework == "transformers" and moves and transfer.contexts and inside:
                code = facts.document.code(transfer.node)
                claim = f"`{code}` moves what the Trainer has put on its device already"
                remedy = "drop the move"
                yield self.finding(facts, transfer.node, claim, remedy)
