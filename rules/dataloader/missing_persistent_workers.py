"""Workers that are started again in every epoch."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.facts import Facts, LoaderCall
from accel_advisor.records.queries.loaders.epochs import (
    epochs_of,
    evidence_of_workers,
    restarted_loaders,
    weight_of,
    what_epochs_grant,
    when_restarted,
    where_workers,
    workers_are,
    workers_live_on_since,
)
from accel_advisor.records.queries.loaders.start_method import start_methods
from accel_advisor.rule import Rule, also_at, pass_argument


class DataLoaderMissingPersistentWorkers(Rule):
    """A DataLoader starts its worker processes again in every epoch.

    What it does
        Finds a DataLoader with workers but without `persistent_workers` that is iterated in every epoch, or begun again
        where `next` has used it up, and beside it those of some epochs. It is `info` where workers or data are unknown.

    Why it costs time
        At the end of each epoch the workers end, and the next one starts others: each is a process that imports torch
        and unpickles the data set where it is not forked, as on macOS, on Windows and from Python 3.14 on. The GPU
        waits until the first batch is there. With fork the start is cheap, and the finding is only `info`.

    Example
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Halves(Dataset):
            def __len__(self):
                return 2
            def __getitem__(self, index):
                return torch.full((1,), index / 2).square()

        model = torch.nn.Linear(1, 1)
        loader = DataLoader(Halves(), num_workers=8)
        for epoch in range(10):
            for x in loader:
                model(x).sum().backward()

    Use instead
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Halves(Dataset):
            def __len__(self):
                return 2
            def __getitem__(self, index):
                return torch.full((1,), index / 2).square()

        model = torch.nn.Linear(1, 1)
        loader = DataLoader(Halves(), num_workers=8, persistent_workers=True)
        for epoch in range(10):
            for x in loader:
                model(x).sum().backward()

    When to ignore it
        Where the data set changes between epochs: workers that live on keep the copy that they began with. The rule is
        silent where it sees that, where the loop over epochs names an unknown data set, where samples are in memory,
        where a loop over a loader stands in one over it, for torchrec, and where loops make many loaders. Select it for
        loaders that only evaluate, large data, epochs of over 1000 batches, under 100 epochs where nothing says that
        they are short, and workers that only a file of settings counts. Few workers for unknown data are one finding.

    Fix safety
        Unsafe: random generators and caches of the workers live on from one epoch to the next.

    References
        - https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
    """

    code = "ACC106"
    name = "dataloader-missing-persistent-workers"
    severity = Severity.INFO
    frequency = Frequency.EPOCH
    knob = "persistent_workers"

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call."""
        yield from (self._report(facts, one) for one in restarted_loaders(facts))

    def _report(self, facts: Facts, loader: LoaderCall) -> Finding:
        loop, (minor, aside) = epochs_of(loader)[0], weight_of(facts, loader)
        starts, basis, keep = start_methods(facts, loader), evidence_of_workers(loader), where_workers(loader)
        cost = f", by {starts.fresh}, which imports torch in each of them" if starts.fresh else ""
        when = f"started again {when_restarted(facts, loader)}{cost}{what_epochs_grant(loader)}"
        return self.finding(
            facts,
            loader.node,
            f"{workers_are(loader)} {when}",
            f"pass `persistent_workers={keep}`",
            severity=Severity.WARNING if starts.fresh and basis.proven else Severity.INFO,
            fix=pass_argument(loader, "persistent_workers", keep),
            related=[also_at(loop.document, loop.node, "the loop over epochs")],
            basis=basis,
            since=workers_live_on_since(loader),
            group="workers",
            minor=minor,
            aside=aside,
        )
