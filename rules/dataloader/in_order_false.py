"""Batches that are taken out of order."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule


class InOrderFalse(Rule):
    """A training DataLoader takes batches as they come, so that no two runs see the same order.

    What it does
        Finds `in_order=False` at a training DataLoader with workers.

    Why it costs time
        Batches of fast workers come first, and samples that take long come last. Runs cannot be repeated, and where
        slow samples are of one kind, the model sees them together.

    Example
        import torch
        from torch.utils.data import DataLoader

        model = torch.nn.Linear(1, 1)
        for x in DataLoader(torch.zeros(2, 1), num_workers=2, in_order=False):
            model(x).sum().backward()

    Use instead
        import torch
        from torch.utils.data import DataLoader

        model = torch.nn.Linear(1, 1)
        for x in DataLoader(torch.zeros(2, 1), num_workers=2):
            model(x).sum().backward()

    When to ignore it
        Where samples take very different times and the order does not matter. Streams are left alone, and what may be
        one.

    References
        - https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
    """

    code = "ACC123"
    name = "in-order-false"
    severity = Severity.INFO
    enabled = False

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call."""
        for loader in facts.loaders:
            if not loader.trains or not (loader.fixed_workers or 0) > 0 or not loader.gives("in_order", False):
                continue
            if loader.dataset is not None and not loader.dataset.may_stream:
                claim = (
                    f"`{loader.label}` gives its batches out of order, so runs cannot be repeated and slow samples "
                    "come late"
                )
                remedy = "drop `in_order=False`"
                yield self.finding(facts, loader.node, claim, remedy)
