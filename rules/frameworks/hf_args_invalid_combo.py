"""Settings of a Trainer that exclude each other."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.frameworks.trainer_settings import settings
from accel_advisor.rule import Rule, drop_argument


class HfArgsInvalidCombo(Rule):
    """Two settings of a transformers Trainer exclude each other.

    What it does
        Finds `TrainingArguments` with `dataloader_prefetch_factor` and no workers, or with both `fp16=True` and
        `bf16=True`.

    Why it costs time
        Either raises ValueError: nothing can be fetched ahead without a worker, and a model trains in one precision.

    Example
        from transformers import TrainingArguments

        args = TrainingArguments(
            "out", dataloader_num_workers=0, accelerator_config={"non_blocking": True}, dataloader_prefetch_factor=2
        )

    Use instead
        from transformers import TrainingArguments

        args = TrainingArguments(
            "out", dataloader_num_workers=0, accelerator_config={"non_blocking": True}
        )

    When to ignore it
        Never: the call raises. The rule is silent where a value is not a literal.

    Fix safety
        Safe: a `dataloader_prefetch_factor` without workers is dropped, which is what its value then means. Which of
        two precisions was meant is not known, and that has no fix.

    References
        - https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments
    """

    code = "ACC603"
    name = "hf-args-invalid-combo"
    severity = Severity.ERROR
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once for each pair."""
        for arguments in settings(facts):
            ahead = arguments.given("dataloader_prefetch_factor").literal
            idle = arguments.lacks("dataloader_num_workers") or arguments.gives("dataloader_num_workers", 0)
            if ahead is not None and idle:
                claim = f"`dataloader_prefetch_factor={ahead}` without workers raises ValueError"
                remedy = "drop it, or pass `dataloader_num_workers`"
                fix = drop_argument(facts.document, arguments.node, "dataloader_prefetch_factor", Applicability.SAFE)
                yield self.finding(facts, arguments.node, claim, remedy, fix=fix)
            if arguments.gives("fp16", True) and arguments.gives("bf16", True):
                claim = "`fp16=True` and `bf16=True` together raise ValueError"
                remedy = "keep one of them"
                yield self.finding(facts, arguments.node, claim, remedy)
