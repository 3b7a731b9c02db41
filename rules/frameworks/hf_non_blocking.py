"""Trainers that wait for each copy although they pin."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.frameworks.trainer_settings import leaves_out, settings, stays_on_host
from accel_advisor.rule import Rule, pass_argument

_SINCE = (4, 41)


class HfNonBlocking(Rule):
    """A transformers Trainer pins its batches and still waits for each copy to the GPU.

    What it does
        Finds `TrainingArguments` without `accelerator_config`, where pinning is not switched off.

    Why it costs time
        Copies from pinned memory can run while the program goes on, but transformers asks for that only with
        `accelerator_config={"non_blocking": True}`.

    Example
        from transformers import TrainingArguments

        args = TrainingArguments("o", max_steps=9, dataloader_num_workers=4)

    Use instead
        from transformers import TrainingArguments

        args = TrainingArguments("o", max_steps=9, dataloader_num_workers=4,
                                 accelerator_config={"non_blocking": True})

    When to ignore it
        On machines without CUDA. The rule is silent with `use_cpu=True`, where the program names the device `mps`,
        where the arguments come from a dict or a command line, and in a project that pins transformers before 4.41.

    Fix safety
        Unsafe: on MPS an asynchronous copy may be read before it is done.

    References
        - https://github.com/huggingface/transformers/pull/30465
    """

    code = "ACC606"
    name = "hf-non-blocking"
    severity = Severity.INFO
    enabled = False

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        if not facts.target.has_cuda or facts.names_device("mps") or not facts.supports(_SINCE, "transformers"):
            return
        for arguments in settings(facts):
            pins = arguments.lacks("dataloader_pin_memory") or arguments.gives("dataloader_pin_memory", True)
            if stays_on_host(arguments) or not pins or not leaves_out(facts, arguments, "accelerator_config"):
                continue
            claim = "the Trainer waits for the copy of every batch to the GPU although it pins them"
            remedy = 'pass `accelerator_config={"non_blocking": True}`'
            fix = pass_argument(arguments, "accelerator_config", '{"non_blocking": True}', title="Copy without waiting")
            yield self.finding(facts, arguments.node, claim, remedy, fix=fix, since=_SINCE, package="transformers")
