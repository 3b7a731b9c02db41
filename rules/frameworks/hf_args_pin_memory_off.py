"""Trainers that do not pin their batches."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import Within
from accel_advisor.records.facts import Facts, Program
from accel_advisor.records.queries.frameworks.trainer_settings import settings, stays_on_host
from accel_advisor.rule import Rule

_SAMPLES = frozenset({"__getitem__", "__getitems__", "__iter__", "__call__", "torch_call"})
"""Methods of data sets and collators."""


class HfArgsPinMemoryOff(Rule):
    """A transformers Trainer is set not to pin the memory of its batches.

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
        Where samples or batches are on the GPU already, which cannot be pinned, and on machines without CUDA. The rule
        is silent where a data set or a collator of the program puts something on a GPU, with `use_cpu=True`, and where
        the program names the device `mps`.

    References
        - https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments
    """

    code = "ACC602"
    name = "hf-args-pin-memory-off"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        found = [one for one in settings(facts) if one.gives("dataloader_pin_memory", False) and not stays_on_host(one)]
        unused = not facts.target.has_cuda or facts.names_device("mps")
        if not found or unused or facts.program.once(_samples_move):
            return
        for arguments in found:
            claim = "`dataloader_pin_memory=False` makes every copy of a batch to the GPU block"
            remedy = "drop it, unless the collator puts batches on the GPU"
            yield self.finding(facts, arguments.node, claim, remedy)


def _samples_move(program: Program) -> bool:
    """Whether what makes samples or batches of them puts something on a GPU, as far as its name says."""
    made: list[tuple[tuple[str, ...], bool]] = []
    for one in program:
        made += [(at.functions, "cuda" in at.kinds) for each in one.transfers for at in each.contexts]
    for each in program.operations_of(Within("torch")):
        made += [(at.functions, "cuda" in at.given("device").device_kinds) for at in each.contexts]
    return any(
        there and any(name in _SAMPLES or "collat" in name.lower() for name in functions) for functions, there in made
    )
