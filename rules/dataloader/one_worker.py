"""Costly samples that one worker prepares, or two."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.loaders.wanting_workers import loaders_with_few_workers
from accel_advisor.rule import Rule


class OneWorker(Rule):
    """One worker, or two, prepare batches whose samples are read or decoded one by one.

    What it does
        Finds DataLoaders with `num_workers=1`, written there or the default of an option, from which a model on a
        GPU learns or on which it is evaluated, and whose data set reads or decodes a file for each sample; and with
        `num_workers=2`, where files are decoded and batches have 16 samples or more. It names the option for the number
        of workers that the program has and such a loader ignores.

    Why it costs time
        One process prepares all samples of a batch, one after the other. With a batch of 128 pictures of 10 ms each
        this takes more than a second, and the GPU waits for whatever a step takes less.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader
        from torchvision.datasets import ImageFolder

        data = ImageFolder("photos")
        loader = DataLoader(data, batch_size=64, num_workers=1, pin_memory=True, persistent_workers=True)
        model = nn.Linear(8, 2).cuda()
        for x, y in loader:
            model(x.cuda(non_blocking=True)).sum().backward()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader
        from torchvision.datasets import ImageFolder

        data = ImageFolder("photos")
        loader = DataLoader(data, batch_size=64, num_workers=4, pin_memory=True, persistent_workers=True)
        model = nn.Linear(8, 2).cuda()
        for x, y in loader:
            model(x.cuda(non_blocking=True)).sum().backward()

    When to ignore it
        On a machine with one core to spare, or where a step takes longer than its batch. The rule is silent
        about two workers beside `persistent_workers` or `prefetch_factor`, which speak of a number that was
        measured. It is silent about trainings on batches of a few samples, loaders for no model, and where a
        comment explains the number, or more workers would break something.

    References
        - https://docs.pytorch.org/docs/stable/data.html#single-and-multi-process-data-loading
    """

    code = "ACC125"
    name = "one-worker"
    severity = Severity.INFO
    frequency = Frequency.STEP
    knob = "num_workers"

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call."""
        for one in loaders_with_few_workers(facts):
            dataset = one.loader.dataset
            reason = dataset.reason if dataset is not None else ""
            decided = f" (decided by `{one.decided_by}`)" if one.decided_by else ""
            workers = "one worker" if one.workers == 1 else "two workers"
            single = one.loader.given("batch_size").is_literal(1)
            samples = "one sample after the other" if single else "all samples of a batch one after the other"
            each = "prepare each a whole batch, one sample after the other"
            prepares = f"prepares {samples}" if one.workers == 1 else each
            more = f"give it the number of `{one.unused}`, which it ignores" if one.unused else "give it more"
            claim = f"`{one.loader.label}` has {workers}{decided}, which {prepares}: {reason}"
            remedy = f"{more} (`accel-advisor tune` finds the number)"
            yield self.finding(facts, one.loader.node, claim, remedy, group="few workers")
