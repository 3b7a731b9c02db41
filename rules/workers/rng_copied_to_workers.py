"""Random generators of which every worker gets the same copy."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.dataset_facts import VetoKind
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule, also_at


class DatasetRngCopiedToWorkers(Rule):
    """A data set keeps a random generator, of which every worker gets the same copy.

    What it does
        Finds a generator of numpy, `random` or torch that a data set makes in `__init__` and draws from for samples, at
        a training DataLoader with worker processes.

    Why it costs time
        All workers draw the same numbers, and, because their copies die with them, the same ones in every epoch. What
        was meant as augmentation repeats itself, so that more epochs teach less. The global generators of `random`,
        numpy and torch do not have this fault: torch seeds them for each worker.

    Example
        import numpy as np
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Noisy(Dataset):
            def __init__(self, x):
                self.x = x
                self.rng = np.random.default_rng(0)
            def __len__(self):
                return len(self.x)
            def __getitem__(self, index):
                return self.x[index] + self.rng.normal()

        model = torch.nn.Linear(8, 1)
        for x in DataLoader(Noisy(torch.zeros(64, 8)), num_workers=2):
            model(x.float()).sum().backward()

    Use instead
        import numpy as np
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Noisy(Dataset):
            def __init__(self, x):
                self.x = x
                self.rng = None
            def __len__(self):
                return len(self.x)
            def __getitem__(self, index):
                if self.rng is None:
                    self.rng = np.random.default_rng(torch.initial_seed() % 2**32)
                return self.x[index] + self.rng.normal()

        model = torch.nn.Linear(8, 1)
        for x in DataLoader(Noisy(torch.zeros(64, 8)), num_workers=2):
            model(x.float()).sum().backward()

    When to ignore it
        Where the same noise in every epoch is wanted. The rule is silent where the generator is made or seeded again
        outside of `__init__`, where the loader has a `worker_init_fn`, and about loaders that do not train.

    References
        - https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader
    """

    code = "ACC111"
    name = "dataset-rng-copied-to-workers"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once for each generator."""
        for loader in facts.loaders:
            workers = loader.fixed_workers or 0
            if workers < 1 or not loader.initializes_nothing or not loader.trains:
                continue
            for veto, document, node in loader.certain_vetoes(VetoKind.GENERATOR):
                generator = f"self.{veto.attribute} = {document.code(node)}"
                again = "the same numbers in every epoch" if workers == 1 else "the same numbers in all of them"
                claim = f"`{generator}` is copied to the workers of `{loader.label}` and draws {again}"
                remedy = "make it in the worker, from `torch.initial_seed()`"
                place = also_at(document, node, "made here")
                yield self.finding(facts, loader.node, claim, remedy, related=[place])
