"""Loaders without worker processes."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.facts import Facts, LoaderCall
from accel_advisor.records.queries.loaders.wanting_workers import FALLBACK, loaders_wanting_workers
from accel_advisor.rule import Rule, also_at, pass_argument, replace_node


class DataLoaderNumWorkersZero(Rule):
    """A DataLoader prepares its samples in the main process, while the accelerator waits.

    What it does
        Finds a DataLoader without worker processes that feeds a training or evaluation loop on an accelerator; also
        where an option of the command line decides, which is 0 unless it is given.

    Why it costs time
        Without workers the samples of the next batch are read, decoded and augmented by the main process itself,
        while the accelerator waits. It is a warning where the data set is seen to read or decode something for each
        sample, and `info` where it computes something that may cost less.

    Example
        import torch
        from PIL import Image
        from torch.utils.data import DataLoader, Dataset
        import numpy as np

        class Photos(Dataset):
            def __init__(self, paths):
                self.paths = paths
            def __len__(self):
                return len(self.paths)
            def __getitem__(self, index):
                return torch.from_numpy(np.asarray(Image.open(self.paths[index]), dtype="float32"))

        model = torch.nn.Linear(8, 2).cuda()
        loader = DataLoader(Photos(["a.png", "b.png"]), batch_size=2, pin_memory=True)
        for x in loader:
            model(x.cuda(non_blocking=True)).sum().backward()

    Use instead
        import torch
        from PIL import Image
        from torch.utils.data import DataLoader, Dataset
        import numpy as np

        class Photos(Dataset):
            def __init__(self, paths):
                self.paths = paths
            def __len__(self):
                return len(self.paths)
            def __getitem__(self, index):
                return torch.from_numpy(np.asarray(Image.open(self.paths[index]), dtype="float32"))

        model = torch.nn.Linear(8, 2).cuda()
        loader = DataLoader(Photos(["a.png", "b.png"]), batch_size=2, pin_memory=True, num_workers=4)
        for x in loader:
            model(x.cuda(non_blocking=True)).sum().backward()

    When to ignore it
        Data in memory is served faster without workers, and the rule is silent where it sees that, where it does not
        see what a sample takes, where there is one, and where it takes little and is drawn before the backward pass,
        while the GPU computes. It is silent too where workers would break the program: an IterableDataset that is not
        shared out, a file handle or a random generator kept in the data set, CUDA work in it, in a transform or in the
        collate function, a cache that is filled in the process, a data set that the loop changes or asks for what it
        saw, a program in the processes of a pool or in daemons; and, on a platform that does not fork them, what cannot
        be pickled, a loop outside of a main guard, and a notebook. A literal 0 with a comment beside it, or one above
        that speaks of workers, is taken as a decision, code that was commented out is not.

    Fix safety
        Always unsafe: another number of workers draws other random numbers for the same seed, takes shared memory and
        needs a data set that can be pickled where workers are not forked. How many workers are best depends on the
        machine: `accel-advisor tune` measures it.

    References
        - https://docs.pytorch.org/docs/stable/data.html#single-and-multi-process-data-loading
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
    """

    code = "ACC102"
    name = "dataloader-num-workers-zero"
    severity = Severity.WARNING
    knob = "num_workers"

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call."""
        for loader in loaders_wanting_workers(facts):
            yield self._report(facts, loader)

    def _report(self, facts: Facts, loader: LoaderCall) -> Finding:
        dataset, given = loader.dataset, loader.given("num_workers")
        assert dataset is not None
        costs = f"so its samples are prepared while the GPU waits: {dataset.reason}"
        best = "(`accel-advisor tune` finds the best number)"
        if given.decided_by:
            option, defaults = given.decided_by, loader.origins("num_workers")
            claim = f"the workers of `{loader.label}` are decided by `{option}`, 0 by default, {costs}"
            edits = tuple(replace_node(one.document, one.node, str(FALLBACK)) for one in defaults)
            fix = Fix(f"Let `{option}` be {FALLBACK} by default", edits, Applicability.DISPLAY) if edits else None
            related = [also_at(one.document, one.node, "the default") for one in defaults]
            raised = f"raise the default {best}"
            return self.finding(facts, loader.node, claim, raised, severity=Severity.INFO, fix=fix, related=related)
        how = "has no worker processes" if given.absent else "is told to use no worker processes"
        claim, remedy = f"`{loader.label}` {how}, {costs}", f"pass `num_workers` {best}"
        clear = given.absent and dataset.cost == "costly"
        fix = pass_argument(loader, "num_workers", str(FALLBACK), workers=FALLBACK) if clear else None
        return self.finding(facts, loader.node, claim, remedy, severity=None if clear else Severity.INFO, fix=fix)
