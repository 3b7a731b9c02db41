"""Processes that each read the whole data set."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts, LoaderCall
from accel_advisor.rule import Rule


class DdpLoaderWithoutSharding(Rule):
    """Every process of a distributed training reads the whole data set.

    What it does
        Finds a training DataLoader without a sampler in a program that trains with DistributedDataParallel or FSDP.

    Why it costs time
        Nothing divides the samples between the processes. An epoch takes as long as on one GPU, and without shuffling
        all processes compute the same gradients.

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
        Where each process has other data already. The rule is silent about streams, about data sets that mention a rank
        or are not known, and where a framework divides the samples.

    References
        - https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
    """

    code = "ACC117"
    name = "ddp-loader-without-sharding"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call."""
        if not facts.trains_in_parallel:
            return
        for loader in facts.loaders:
            if loader.constructor.advises and not loader.constructor.shards and self._reads_everything(loader):
                message = (
                    f"every process reads the whole data set of `{loader.label}`, so more GPUs make an epoch no "
                    f"shorter; pass `sampler=DistributedSampler(...)`, and drop `shuffle`"
                )
                yield self.finding(facts, loader.node, message)

    def _reads_everything(self, loader: LoaderCall) -> bool:
        dataset = loader.dataset
        if dataset is None or dataset.iterable or dataset.ranked or not loader.trains:
            return False
        if not all(one.is_object or one.made_by for one in dataset.given.alternatives):
            return False
        # `use_ddp` is how dgl's loader is set to make a DistributedSampler by itself
        given = [one for name in ("sampler", "batch_sampler", "use_ddp") for one in loader.given(name).alternatives]
        return all(one.absent or (one.written and not one.literal) for one in given)
