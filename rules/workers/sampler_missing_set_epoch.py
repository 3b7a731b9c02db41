"""Samplers that never learn the epoch."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from accel_advisor.finding import Applicability, Finding, Fix, Frequency, Severity
from accel_advisor.records.actions import AnyCall
from accel_advisor.records.facts import Facts, LoaderCall
from accel_advisor.records.given import Given
from accel_advisor.rule import Rule, also_at, insert_statement


class DistributedSamplerMissingSetEpoch(Rule):
    """A DistributedSampler does not learn the epoch, so every epoch has the same order.

    What it does
        Finds a shuffling DistributedSampler of a training loader, be it only on some paths as in
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
            if loader.trains and loader.epoch_loops:
                batches = loader.given("batch_sampler").alternatives
                inner = [one for each in batches for one in each.argument("sampler", 0).alternatives if _batches(each)]
                samplers = (*loader.given("sampler").alternatives, *inner)
                if any(map(_shuffles_by_epoch, samplers)):
                    always = not any(one.unknown for one in batches) and sum(not one.absent for one in samplers) == 1
                    yield self._report(facts, loader, always=always, batched=bool(inner))

    def _report(self, facts: Facts, loader: LoaderCall, *, always: bool, batched: bool) -> Finding:
        where = "on it" if always else "on it, where there is one,"
        message = (
            f"the DistributedSampler of `{loader.label}` is never told the epoch, so every epoch has the same order; "
            f"call `set_epoch` {where} at the start of each epoch"
        )
        epochs = loader.epoch_loops[0]
        sampler = "batch_sampler.sampler" if batched else "sampler"
        fix = self._fix(facts, loader, sampler) if always else None
        related = [also_at(epochs.document, epochs.node, "the loop over epochs")]
        return self.finding(facts, loader.node, message, fix=fix, related=related)

    def _fix(self, facts: Facts, loader: LoaderCall, sampler: str) -> Fix | None:
        epochs = loader.epoch_loops[0]
        local = loader.name and epochs.document is facts.document and not loader.epoch_loops[0].functions
        if not local or not isinstance(epochs.node, cst.For) or not isinstance(epochs.node.target, cst.Name):
            return None
        statement = f"{loader.name}.{sampler}.set_epoch({epochs.node.target.value})"
        edit = insert_statement(facts.document, epochs.node.body, statement)
        return Fix(f"Insert `{statement}`", (edit,), Applicability.UNSAFE) if edit is not None else None


def _batches(sampler: Given) -> bool:
    """Whether it makes batches of what another sampler gives."""
    return sampler.made_by == "torch.utils.data.BatchSampler"


def _shuffles_by_epoch(sampler: Given) -> bool:
    """Whether it is a DistributedSampler that certainly shuffles."""
    shuffle = sampler.argument("shuffle", 3)
    distributed = sampler.made_by == "torch.utils.data.DistributedSampler"
    return distributed and (shuffle.absent or shuffle.is_literal(True))
