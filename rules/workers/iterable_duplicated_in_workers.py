"""Streams that every worker reads whole."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.dataset_facts import VetoKind
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule, also_at


class IterableDatasetDuplicatedInWorkers(Rule):
    """Every worker reads the whole of an IterableDataset, so each sample comes out once for each worker.

    What it does
        Finds an IterableDataset that does not ask which worker it runs in, at a DataLoader with two or more of them.

    Why it costs time
        Workers get a copy of the data set each, and nothing divides a stream between them: with four workers an epoch
        holds every sample four times. The model trains on the wrong data, and four times as long.

    Example
        from torch.utils.data import DataLoader, IterableDataset

        class Lines(IterableDataset):
            def __init__(self, path):
                self.path = path
            def __iter__(self):
                with open(self.path) as file:
                    for line in file:
                        yield line

        loader = DataLoader(Lines("a.txt"), batch_size=2, num_workers=4)

    Use instead
        from itertools import islice
        from torch.utils.data import DataLoader, IterableDataset, get_worker_info

        class Lines(IterableDataset):
            def __init__(self, path):
                self.path = path
            def __iter__(self):
                worker = get_worker_info()
                first, step = (worker.id, worker.num_workers) if worker else (0, 1)
                with open(self.path) as file:
                    for line in islice(file, first, None, step):
                        yield line

        loader = DataLoader(Lines("a.txt"), batch_size=2, num_workers=4)

    When to ignore it
        Where the source is divided by other means that cannot be seen in the class. The rule is silent about endless
        streams, about sources that it does not know, and where a `worker_init_fn` may divide them.

    References
        - https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset
    """

    code = "ACC103"
    name = "iterable-dataset-duplicated-in-workers"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call."""
        for loader in facts.loaders:
            workers = loader.fixed_workers
            if workers is None or workers < 2 or loader.constructor.shards or not loader.initializes_nothing:
                continue
            for _, document, node in loader.certain_vetoes(VetoKind.STREAM):
                dataset = document.code(node)
                claim = (
                    f"each of the {workers} workers of `{loader.label}` reads the whole of `{dataset}`, so every "
                    f"sample comes {workers} times in an epoch"
                )
                remedy = "divide the stream by `get_worker_info()` in `__iter__`"
                place = also_at(document, node, "the data set")
                yield self.finding(facts, loader.node, claim, remedy, related=[place])
                break
