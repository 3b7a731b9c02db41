"""Training on one sample at a time."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule


class DataLoaderBatchSizeOne(Rule):
    """A model is trained on one sample at a time, because no batch size was given.

    What it does
        Finds a training DataLoader with neither `batch_size` nor `batch_sampler`.

    Why it costs time
        The default is 1. An accelerator then spends most of a step on starting kernels, and little on computing.

    Example
        import torch
        from torch.utils.data import DataLoader

        model = torch.nn.Linear(1, 1)
        for x in DataLoader(torch.zeros(2, 1)):
            model(x).sum().backward()

    Use instead
        import torch
        from torch.utils.data import DataLoader

        model = torch.nn.Linear(1, 1)
        for x in DataLoader(torch.zeros(2, 1), batch_size=2):
            model(x).sum().backward()

    When to ignore it
        Where one sample fills the memory, or samples differ in size. The rule is silent about graphs, about data for
        the detection of objects, about streams, about data of libraries that it does not know, and where a collate
        function of the program's own puts samples together.

    References
        - https://docs.pytorch.org/docs/stable/data.html#loading-batched-and-non-batched-data
    """

    code = "ACC122"
    name = "dataloader-batch-size-one"
    severity = Severity.INFO
    enabled = False
    knob = "batch_size"

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call."""
        for loader in facts.loaders:
            if not loader.of_torch or not loader.trains:
                continue
            absent = all(loader.gives(name, None) for name in ("batch_size", "batch_sampler", "collate_fn"))
            if absent and loader.dataset is not None and loader.dataset.even and not loader.dataset.may_stream:
                claim = f"`{loader.label}` has no `batch_size`, so the model learns from one sample at a time"
                remedy = "pass as many as fit in memory"
                yield self.finding(facts, loader.node, claim, remedy)
