"""Processes that each read the whole data set."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.evaluations.unshared_evaluations import (
    reads_everything,
    trains_beside_divided,
    unshared_evaluations,
)
from accel_advisor.rule import Rule


class DdpLoaderWithoutSharding(Rule):
    """Every process of a distributed training reads the whole data set.

    What it does
        Finds a training DataLoader without a sampler in a program that trains with DistributedDataParallel or FSDP, and
        one for an evaluation among its epochs where a DistributedSampler divides the samples of the training.

    Why it costs time
        Nothing divides the samples between the processes. An epoch takes as long as on one GPU, and without shuffling
        all processes compute the same gradients. An evaluation takes as long as on one GPU, too, whether each
        process goes through it or the others wait for one.

    Example
        import torch
        from torch import nn
        from torch.nn.parallel import DistributedDataParallel
        from torch.utils.data import DataLoader, Dataset

        class Rows(Dataset):
            def __len__(self):
                return 64
            def __getitem__(self, index):
                return torch.full((8,), float(index))

        torch.distributed.init_process_group("gloo")
        model = DistributedDataParallel(nn.Linear(8, 2))
        data = Rows()
        for x in DataLoader(data, batch_size=4, shuffle=True):
            model(x).sum().backward()

    Use instead
        import torch
        from torch import nn
        from torch.nn.parallel import DistributedDataParallel
        from torch.utils.data import DataLoader, Dataset, DistributedSampler

        class Rows(Dataset):
            def __len__(self):
                return 64
            def __getitem__(self, index):
                return torch.full((8,), float(index))

        torch.distributed.init_process_group("gloo")
        model = DistributedDataParallel(nn.Linear(8, 2))
        data = Rows()
        for x in DataLoader(data, batch_size=4, sampler=DistributedSampler(data)):
            model(x).sum().backward()

    When to ignore it
        Where each process has other data already, and where an evaluation needs all samples in one place, as
        retrieval does. The rule is silent about streams, about data sets that mention a rank or are not known, about
        evaluations of up to a thousand samples, and where a framework divides the samples. What lends batches to a
        loop over other loaders, whose samples are divided, is `info`.

    References
        - https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
    """

    code = "ACC117"
    name = "ddp-loader-without-sharding"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call."""
        for loader in facts.loaders if facts.trains_in_parallel else ():
            if loader.constructor.advises and loader.trains and reads_everything(loader):
                claim = (
                    f"every process reads the whole data set of `{loader.label}`, so more GPUs make an epoch no shorter"
                )
                remedy = "pass `sampler=DistributedSampler(...)`, and drop `shuffle`"
                severity = Severity.WARNING
                if trains_beside_divided(loader):
                    claim = (
                        f"every process reads the whole data set of `{loader.label}`, while those of other loaders of "
                        "the same loop are divided"
                    )
                    remedy, severity = f"{remedy}, if an epoch goes over all of it", Severity.INFO
                yield self.finding(facts, loader.node, claim, remedy, severity=severity)
        for loader in unshared_evaluations(facts):
            claim = (
                f"the samples of `{loader.label}` are not divided between the processes, so that an evaluation takes "
                "as long as on one GPU"
            )
            remedy = "pass `sampler=DistributedSampler(..., shuffle=False)`, and add up the results"
            yield self.finding(facts, loader.node, claim, remedy, severity=Severity.INFO, frequency=Frequency.EPOCH)
