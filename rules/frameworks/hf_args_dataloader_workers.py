"""Trainers that load every batch in the main process."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.frameworks.trainer_settings import (
    leaves_out,
    prepares_beforehand,
    settings,
    stays_on_host,
    streams,
)
from accel_advisor.records.queries.loaders.wanting_workers import FALLBACK
from accel_advisor.rule import Rule, pass_argument


class HfArgsDataloaderWorkers(Rule):
    """A transformers Trainer loads every batch in the main process.

    What it does
        Finds `TrainingArguments(...)` without `dataloader_num_workers`, which is not set later either.

    Why it costs time
        The default is 0: between two steps the accelerator waits until the main process has fetched, tokenized and
        collated the next batch.

    Example
        from transformers import TrainingArguments

        args = TrainingArguments("o", max_steps=9, accelerator_config={"non_blocking": True})

    Use instead
        from transformers import TrainingArguments

        args = TrainingArguments("o", max_steps=9, accelerator_config={"non_blocking": True},
                                 dataloader_num_workers=4)

    When to ignore it
        Where `accel-advisor tune` shows no wait. The rule is silent where the data sets are mapped beforehand
        (`load_dataset(...).map(tokenize)`), in a program with streamed data sets, which can use no more workers than
        they have shards, on the CPU, and where the arguments come from a dict or a command line.

    Fix safety
        Unsafe: how many workers pay depends on the machine and the data.

    References
        - https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments
    """

    code = "ACC601"
    name = "hf-args-dataloader-workers"
    severity = Severity.INFO
    knob = "num_workers"

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        for arguments in settings(facts):
            given = not leaves_out(facts, arguments, "dataloader_num_workers")
            if given or stays_on_host(arguments) or streams(facts) or prepares_beforehand(facts):
                continue
            claim = (
                f"`{arguments.what.name}(...)` leaves `dataloader_num_workers` at 0, so that each batch is loaded "
                "between two steps of the training"
            )
            remedy = "pass some workers"
            fix = pass_argument(arguments, "dataloader_num_workers", str(FALLBACK), workers=FALLBACK)
            yield self.finding(facts, arguments.node, claim, remedy, fix=fix)
