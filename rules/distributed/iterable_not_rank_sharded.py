"""Streams that every process reads whole."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule


class IterableDatasetNotRankSharded(Rule):
    """Every process of a distributed training reads the whole of an IterableDataset.

    What it does
        Finds an IterableDataset that uses neither rank nor world size, at a training loader of a program that trains
        with DistributedDataParallel or FSDP.

    Why it costs time
        A stream takes no sampler, so nothing divides it: all processes compute the same gradients from the same
        samples, and more GPUs make the training no faster.

    Example
        import torch
        from torch import nn
        from torch.nn.parallel import DistributedDataParallel
        from torch.utils.data import DataLoader, IterableDataset

        class Rows(IterableDataset):
            def __iter__(self):
                for row in range(100):
                    yield torch.full((8,), float(row))

        torch.distributed.init_process_group("gloo")
        model = DistributedDataParallel(nn.Linear(8, 2))
        for x in DataLoader(Rows(), batch_size=4):
            model(x).sum().backward()

    Use instead
        import torch
        from torch import nn
        from torch.nn.parallel import DistributedDataParallel
        from torch.utils.data import DataLoader, IterableDataset

        class Rows(IterableDataset):
            def __iter__(self):
                rank, world = torch.distributed.get_rank(), torch.distributed.get_world_size()
                for row in range(rank, 100, world):
                    yield torch.full((8,), float(row))

        torch.distributed.init_process_group("gloo")
        model = DistributedDataParallel(nn.Linear(8, 2))
        for x in DataLoader(Rows(), batch_size=4):
            model(x).sum().backward()

    When to ignore it
        Where the stream is divided by means that cannot be seen in the class. The rule reports only where it knows all
        that the stream is read from.

    References
        - https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset
    """

    code = "ACC508"
    name = "iterable-dataset-not-rank-sharded"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call."""
        if not facts.trains_in_parallel:
            return
        for loader in facts.loaders:
            dataset = loader.dataset
            if dataset is None or not dataset.whole or loader.constructor.shards or not loader.trains:
                continue
            if loader.initializes_nothing:
                claim = f"every process reads the whole stream of `{loader.label}` and computes the same gradients"
                remedy = "divide it by `torch.distributed.get_rank()` in `__iter__`"
                yield self.finding(facts, loader.node, claim, remedy)
