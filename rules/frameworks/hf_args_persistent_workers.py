"""Trainers that start their workers again for every epoch."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.given import Given
from accel_advisor.records.queries.frameworks.trainer_settings import acts_between_epochs, leaves_out, settings
from accel_advisor.rule import Rule, pass_argument

_SINCE = (4, 36)


class HfArgsPersistentWorkers(Rule):
    """A transformers Trainer starts its worker processes again for every epoch.

    What it does
        Finds `TrainingArguments` with workers, more than one epoch and no `dataloader_persistent_workers`.

    Why it costs time
        Workers end with the epoch. The next one starts them again, which takes from a fraction of a second (fork) to
        many seconds (spawn and forkserver, which import everything again), while the accelerator waits.

    Example
        from transformers import TrainingArguments

        args = TrainingArguments(
            "out",
            num_train_epochs=3,
            dataloader_num_workers=4,
            accelerator_config={"non_blocking": True},
        )

    Use instead
        from transformers import TrainingArguments

        args = TrainingArguments(
            "out",
            num_train_epochs=3,
            dataloader_num_workers=4,
            accelerator_config={"non_blocking": True},
            dataloader_persistent_workers=True,
        )

    When to ignore it
        Where the data set is changed between epochs: workers that persist keep the copy that they were started with.
        The rule is silent where a callback of the program acts when an epoch begins or ends, where the number of epochs
        or workers is not a literal, where `max_steps` is given, and in a project that pins transformers before
        4.36, which does not know the argument.

    Fix safety
        Unsafe: the workers hold their memory between epochs, and do not see a data set that changes.

    References
        - https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments
    """

    code = "ACC604"
    name = "hf-args-persistent-workers"
    severity = Severity.INFO
    frequency = Frequency.EPOCH

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        for arguments in settings(facts) if facts.supports(_SINCE, "transformers") else ():
            given = not leaves_out(facts, arguments, "dataloader_persistent_workers")
            if given or not arguments.lacks("max_steps") or acts_between_epochs(facts):
                continue
            workers, epochs = arguments.given("dataloader_num_workers"), arguments.given("num_train_epochs")
            if not _above(workers, 0) or not (epochs.absent or _above(epochs, 1)):
                continue
            claim = "the workers of this Trainer are started again for each epoch while the training waits"
            remedy = "pass `dataloader_persistent_workers=True`"
            fix = pass_argument(arguments, "dataloader_persistent_workers", "True")
            yield self.finding(facts, arguments.node, claim, remedy, fix=fix, since=_SINCE, package="transformers")


def _above(value: Given, limit: int) -> bool:
    return isinstance(value.literal, (int, float)) and value.literal > limit
