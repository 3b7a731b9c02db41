"""ACC602."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.rule import Rule
from accel_advisor.semantics.facts import Facts
from accel_advisor.semantics.frameworks import TRAINING_ARGUMENTS


class HfArgsPinMemoryOff(Rule):
    """A transformers Trainer is told not to pin the memory of its batches.

    What it does
        Finds `TrainingArguments(dataloader_pin_memory=False)`.

    Why it costs time
        A copy from ordinary memory to the GPU is staged through a buffer of the driver, and the program waits for it.
        Pinning is the default of transformers.

    Example
        from transformers import TrainingArguments

        args = TrainingArguments(
            "out", max_steps=1000, dataloader_num_workers=4, dataloader_pin_memory=False, accelerator_config={}
        )

    Use instead
        from transformers import TrainingArguments

        args = TrainingArguments("out", max_steps=1000, dataloader_num_workers=4, accelerator_config={})

    When to ignore it
        Where the collator returns tensors that are on the GPU already, which cannot be pinned, and on machines without
        CUDA. The rule is silent with `use_cpu=True`, and where the program names the device `mps`.

    References
        - https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments
    """

    code = "ACC602"
    name = "hf-args-pin-memory-off"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        if not facts.target.has_cuda:
            return
        names_mps = any("mps" in device.kinds for one in facts.program for device in one.devices)
        for arguments in facts.named(TRAINING_ARGUMENTS):
            if not arguments.gives("dataloader_pin_memory", False) or names_mps:
                continue
            if arguments.gives("use_cpu", True) or arguments.gives("no_cuda", True):
                continue
            message = (
                "`dataloader_pin_memory=False` makes every copy of a batch to the GPU block; drop it, unless the "
                "collator puts batches on the GPU"
            )
            yield self.finding(facts, arguments.node, message)
