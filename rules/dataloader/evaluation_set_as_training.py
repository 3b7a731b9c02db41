"""Loaders for evaluations that shuffle, or drop their last batch."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.loaders.training_flags import evaluations_with_training_flags
from accel_advisor.rule import Rule, also_at


class EvaluationSetAsTraining(Rule):
    """A loader for an evaluation shuffles its samples, or drops its last batch, as that of a training does.

    What it does
        Finds DataLoaders with `shuffle=True` or `drop_last=True` on whose batches a model is evaluated, in whole
        passes, and from which nothing learns; with `shuffle=True` alone where one file holds the samples.

    Why it costs time
        Samples of one large file, as of HDF5, are read at random places of it, so that neither its chunks nor what
        the system reads ahead serve the next ones, and what is near in the data set, such as the captions of a picture,
        is far apart. With `drop_last=True`, the samples of the last batch are never evaluated: together with
        `shuffle=True` others each time, so that the metric changes although the model does not.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        data = TensorDataset(torch.zeros(100, 8), torch.zeros(100))
        val_loader = DataLoader(data, batch_size=32, shuffle=True, drop_last=True)
        model = nn.Linear(8, 2)
        model.eval()
        correct = 0
        with torch.no_grad():
            for x, y in val_loader:
                correct += (model(x).argmax(1) == y).sum()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        data = TensorDataset(torch.zeros(100, 8), torch.zeros(100))
        val_loader = DataLoader(data, batch_size=32)
        model = nn.Linear(8, 2)
        model.eval()
        correct = 0
        with torch.no_grad():
            for x, y in val_loader:
                correct += (model(x).argmax(1) == y).sum()

    When to ignore it
        Where a model needs batches of one size, or a part of the samples is evaluated in random order on purpose. The
        rule is silent where a training takes batches of the same loader, or learns from what a model makes of them,
        where a pass may end early, and where samples are shown.

    References
        - https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
    """

    code = "ACC129"
    name = "evaluation-set-as-training"
    severity = Severity.INFO
    frequency = Frequency.EPOCH

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call."""
        for one in evaluations_with_training_flags(facts):
            flags = " and ".join(["`shuffle=True`"] * one.shuffles + ["`drop_last=True`"] * one.drops)
            costs = ["reads its samples in random order for nothing"] * one.shuffles
            costs += ["never evaluates those of the last batch"] * one.drops
            claim = (
                f"`{one.loader.label}` has {flags}, although it only serves an evaluation, which so "
                f"{' and '.join(costs)}"
            )
            remedy = f"leave {'them' if len(costs) > 1 else 'it'} to the training"
            related = [also_at(loop.document, loop.node, "evaluates on its batches") for loop in one.loops]
            yield self.finding(facts, one.loader.node, claim, remedy, related=related, group="evaluations")
