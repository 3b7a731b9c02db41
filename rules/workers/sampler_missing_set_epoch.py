"""Samplers that never learn the epoch."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Frequency, Severity
from accel_advisor.records.actions import AnyCall
from accel_advisor.records.facts import Facts, LoaderCall
from accel_advisor.records.queries.loaders.samplers_by_epoch import SamplerByEpoch, sampler_by_epoch
from accel_advisor.rule import Rule, also_at, insert_statement


class DistributedSamplerMissingSetEpoch(Rule):
    """A DistributedSampler does not learn the epoch, so every epoch has the same order.

    What it does
        Finds a shuffling DistributedSampler of a training loader, also one that is used on some paths only, as in
        `DistributedSampler(data) if distributed else None`, or within a BatchSampler, in a program that never calls
        `set_epoch`.

    Why it costs time
        The sampler shuffles with its seed plus the epoch, and counts no epochs by itself: without `set_epoch` each
        epoch shows every rank the same samples in the same order, and the model learns less from it.

    Example
        import torch
        from torch.utils.data import DataLoader, DistributedSampler

        model = torch.nn.Linear(1, 1)
        torch.distributed.init_process_group("gloo")
        data = torch.zeros(2, 1)
        sampler = DistributedSampler(data)
        loader = DataLoader(data, sampler=sampler)
        for epoch in range(10):
            for x in loader:
                model(x).sum().backward()

    Use instead
        import torch
        from torch.utils.data import DataLoader, DistributedSampler

        model = torch.nn.Linear(1, 1)
        torch.distributed.init_process_group("gloo")
        data = torch.zeros(2, 1)
        sampler = DistributedSampler(data)
        loader = DataLoader(data, sampler=sampler)
        for epoch in range(10):
            loader.sampler.set_epoch(epoch)
            for x in loader:
                model(x).sum().backward()

    When to ignore it
        Where the same order in every epoch is wanted. Lightning, Accelerate and the transformers Trainer call it
        themselves, and the rule is silent about them.

    Fix safety
        Unsafe: the order of the samples changes from the second epoch on. There is none where the loader has another
        sampler on other paths, which knows no `set_epoch`.

    References
        - https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
    """

    code = "ACC116"
    name = "distributed-sampler-missing-set-epoch"
    severity = Severity.WARNING
    frequency = Frequency.EPOCH

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call."""
        if facts.frameworks or facts.does(AnyCall("set_epoch")):
            return
        for loader in facts.loaders:
            sampler = sampler_by_epoch(loader) if loader.trains and loader.epoch_loops else None
            if sampler is not None:
                yield self._report(facts, loader, sampler)

    def _report(self, facts: Facts, loader: LoaderCall, sampler: SamplerByEpoch) -> Finding:
        where = "on it" if sampler.always else "on it, where there is one,"
        claim = f"the DistributedSampler of `{loader.label}` is never told the epoch, so every epoch has the same order"
        remedy = f"call `set_epoch` {where} at the start of each epoch"
        epochs = loader.epoch_loops[0]
        fix = self._fix(facts, loader, sampler.path) if sampler.always else None
        related = [also_at(epochs.document, epochs.node, "the loop over epochs")]
        return self.finding(facts, loader.node, claim, remedy, fix=fix, related=related)

    def _fix(self, facts: Facts, loader: LoaderCall, sampler: str) -> Fix | None:
        epochs = loader.epoch_loops[0]
        local = loader.name and epochs.document is facts.document and not loader.epoch_loops[0].functions
        epoch = epochs.document.code(epochs.target) if epochs.target is not None else ""
        if not local or not epoch.isidentifier():
            return None
        statement = f"{loader.name}.{sampler}.set_epoch({epoch})"
        edit = insert_statement(facts.document, epochs.body, statement)
        return Fix(f"Insert `{statement}`", (edit,), Applicability.UNSAFE) if edit is not None else None
