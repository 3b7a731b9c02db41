"""Workers that are seeded alike in every epoch."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Edit, Finding, Fix, Frequency, Severity
from accel_advisor.records.dataset_facts import IssueKind, WorkerIssue
from accel_advisor.records.facts import Facts, LoaderCall
from accel_advisor.rule import Rule, also_at, remove_call, replace_node


class WorkerInitConstantSeed(Rule):
    """Workers are seeded with the same numbers in every epoch, so that augmentation repeats itself.

    What it does
        Finds a `worker_init_fn` that seeds `random`, numpy or torch with a constant, or with the worker's number alone,
        and `__getitem__` that does so with that number, for a loader that trains for several epochs.

    Why it costs time
        Workers start again in every epoch, and then draw the same numbers: every epoch shows the same crops, flips
        and noise, and more epochs teach less. torch seeds all three generators by itself, with a number that changes
        from epoch to epoch; `worker_init_fn` runs after that.

    Example
        import numpy as np
        import torch
        from torch.utils.data import DataLoader

        def seed(worker):
            np.random.seed(42 + worker)

        model = torch.nn.Linear(1, 1)
        for epoch in range(10):
            for x in DataLoader(torch.zeros(2, 1), num_workers=2, batch_size=epoch + 1, worker_init_fn=seed):
                model(x).sum().backward()

    Use instead
        import numpy as np
        import torch
        from torch.utils.data import DataLoader

        def seed(worker):
            np.random.seed(torch.initial_seed() % 2**32)

        model = torch.nn.Linear(1, 1)
        for epoch in range(10):
            for x in DataLoader(torch.zeros(2, 1), num_workers=2, batch_size=epoch + 1, worker_init_fn=seed):
                model(x).sum().backward()

    When to ignore it
        Where the samples draw no random numbers, or the same ones in every epoch are wanted. The rule is silent about
        `persistent_workers=True`, about loaders that do not train, and where anything else enters the seed.

    Fix safety
        Unsafe: other random numbers are drawn. All seeds of the function change together; a call that seeds torch goes,
        which has such a seed in each worker. The seed still follows from `torch.manual_seed`.

    References
        - https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader
    """

    code = "ACC112"
    name = "worker-init-constant-seed"
    severity = Severity.WARNING
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call."""
        for loader in facts.loaders:
            if not loader.trains or not loader.gives("persistent_workers", None) or loader.without_workers:
                continue
            if not any(loop.counts for loop in loader.around):
                continue
            seeds = [one for one in loader.issues if one.kind is IssueKind.CONSTANT_SEED]
            together = [one for one in seeds if (one.document, one.label) == (seeds[0].document, seeds[0].label)]
            if together:
                yield self._report(facts, loader, together)

    def _report(self, facts: Facts, loader: LoaderCall, seeds: list[WorkerIssue]) -> Finding:
        first = next((one for one in seeds if not one.seeds_torch), seeds[0])
        code = first.document.code(first.node)
        seed = f"{facts.torch_name or 'torch'}.initial_seed() % 2**32"
        claim = (
            f"`{code}` seeds the workers of `{loader.label}` with the same number in every epoch, so the same random "
            "numbers are drawn again"
        )
        fix = None
        if first.document is facts.document and facts.torch_name:
            edits = tuple(self._edit(one, seed) for one in seeds)
            fix = Fix(f"Seed with `{seed}`", edits, Applicability.UNSAFE)
        related = [also_at(one.document, one.node, "the seed") for one in seeds]
        return self.finding(facts, loader.node, claim, f"use `{seed}`", fix=fix, related=related)

    def _edit(self, issue: WorkerIssue, seed: str) -> Edit:
        """The edit that gives a generator another seed; torch's own has it already."""
        removed = remove_call(issue.document, issue.node) if issue.seeds_torch else None
        return removed or replace_node(issue.document, issue.seed, seed)
