"""A last batch of one sample, which batch norm refuses."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts, LoaderCall
from accel_advisor.records.queries.models.layer_order import successions
from accel_advisor.rule import Rule


class BnLastBatchOfOne(Rule):
    """A batch norm may be given a last batch of one sample, which it refuses.

    What it does
        Finds training loaders without `drop_last=True` in programs whose model has a `BatchNorm1d` right behind a
        `Linear`, so that there is one value for each channel and sample.

    Why it costs time
        Where the number of samples is one more than a multiple of the batch size, the last step of the epoch raises
        ValueError: "Expected more than 1 value per channel when training".

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Sequential(nn.Linear(8, 2), nn.BatchNorm1d(2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loader = DataLoader(TensorDataset(torch.load("samples.pt")), batch_size=32, shuffle=True)
        for (x,) in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Sequential(nn.Linear(8, 2), nn.BatchNorm1d(2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loader = DataLoader(TensorDataset(torch.load("samples.pt")), batch_size=32, shuffle=True, drop_last=True)
        for (x,) in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()

    When to ignore it
        Where the number of samples is known and leaves no single one. The rule is silent about batch norm over images
        and signals, which have many values for each channel, about evaluation, and with a sampler of batches.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html
    """

    code = "ACC425"
    name = "bn-last-batch-of-one"
    severity = Severity.INFO
    enabled = False

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once."""
        pairs = {(one.kind, two.kind) for each in facts.program for one, two in successions(each)}
        if ("torch.nn.Linear", "torch.nn.BatchNorm1d") not in pairs:
            return
        for loader in facts.loaders:
            if loader.trains and loader.ends_ragged and loader.last_batch in (None, 1) and self._feeds(facts, loader):
                claim = (
                    f"the last batch of `{loader.label}` may be a single sample, for which `BatchNorm1d` raises "
                    "ValueError"
                )
                remedy = "pass `drop_last=True`"
                yield self.finding(facts, loader.node, claim, remedy)

    def _feeds(self, facts: Facts, loader: LoaderCall) -> bool:
        return any(
            "torch.nn.BatchNorm1d" in facts.layers.of(context.model)
            for each in facts.program
            for call in each.module_calls
            for context in call.contexts
            if context.model is not None and context.loop in loader.loops
        )
