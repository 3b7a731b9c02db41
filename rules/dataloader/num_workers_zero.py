"""Loaders without worker processes."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import AnyCall, Call, calls
from accel_advisor.records.facts import Facts, LoaderCall
from accel_advisor.records.queries.start_method import loop_that_workers_run, start_methods
from accel_advisor.rule import Rule

FALLBACK = 4
"""Workers that a fix writes where nothing was measured; `accel-advisor tune` finds the number for a machine."""

POOLS = (AnyCall("Pool"), Call("joblib.Parallel"))
"""What runs functions in processes that may have no children of their own, of whatever context it is a method."""
STARTERS = calls("multiprocessing.Process", "torch.multiprocessing.Process", "torch.multiprocessing.spawn")
"""What starts processes that may not either, where they are daemons."""


class DataLoaderNumWorkersZero(Rule):
    """A DataLoader prepares its samples in the training process, while the accelerator waits.

    What it does
        Finds a DataLoader without worker processes that feeds a training or evaluation loop on an accelerator.

    Why it costs time
        Without workers the samples of the next batch are read, decoded and augmented by the training process itself,
        while the accelerator waits. It is a warning where the data set is seen to read or decode something for each
        sample, and `info` where it computes something that may cost less.

    Example
        import torch
        from PIL import Image
        from torch import nn
        from torch.utils.data import DataLoader, Dataset
        import numpy as np

        class Photos(Dataset):
            def __init__(self, paths):
                self.paths = paths
            def __len__(self):
                return len(self.paths)
            def __getitem__(self, index):
                return torch.from_numpy(np.asarray(Image.open(self.paths[index]), dtype="float32"))

        model = nn.Linear(8, 2).cuda()
        loader = DataLoader(Photos(["a.png", "b.png"]), batch_size=2, pin_memory=True)
        for x in loader:
            model(x.cuda(non_blocking=True)).sum().backward()

    Use instead
        import torch
        from PIL import Image
        from torch import nn
        from torch.utils.data import DataLoader, Dataset
        import numpy as np

        class Photos(Dataset):
            def __init__(self, paths):
                self.paths = paths
            def __len__(self):
                return len(self.paths)
            def __getitem__(self, index):
                return torch.from_numpy(np.asarray(Image.open(self.paths[index]), dtype="float32"))

        model = nn.Linear(8, 2).cuda()
        loader = DataLoader(Photos(["a.png", "b.png"]), batch_size=2, pin_memory=True, num_workers=4)
        for x in loader:
            model(x.cuda(non_blocking=True)).sum().backward()

    When to ignore it
        Data that is in memory already is served faster without workers, and the rule is silent where it sees that, and
        where it does not see what a sample takes. It is silent too where workers would break the program: an
        IterableDataset that is not shared out, a file handle or a random generator kept in the data set, CUDA work in
        it, in a transform or in the collate function, a cache that is filled in the process, a data set that the loop
        changes or asks for what it saw, a program that works in the processes of a pool or in daemons; and, on a
        platform that does not fork them, what cannot be pickled, a loop outside of a main guard, and a notebook. A
        literal 0 with a comment beside or above it is taken as a decision.

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
        for loader in facts.loaders:
            if not loader.constructor.advises or loader.constructor.default_workers != 0:
                continue
            absent, zero = loader.gives("num_workers", None), loader.gives("num_workers", 0)
            if not (absent or zero) or not loader.evidence:
                continue
            if not loader.works and not loader.moved_by:
                continue
            dataset = loader.dataset
            if dataset is None or not dataset.reason or dataset.vetoes or dataset.on_device or dataset.cost == "memory":
                continue
            if dataset.changes or loader.suffers("device") or self._has_childless_processes(facts):
                continue
            if zero and self._is_deliberate(loader):
                continue
            if start_methods(facts, loader).anew and self._would_not_start(facts, loader):
                continue
            yield self._report(facts, loader, absent)

    def _has_childless_processes(self, facts: Facts) -> bool:
        """Whether the program works in processes that may not start workers."""
        started = facts.program.operations_of(*STARTERS)
        return facts.does(*POOLS) or any(not one.gives("daemon", False) and not one.lacks("daemon") for one in started)

    def _would_not_start(self, facts: Facts, loader: LoaderCall) -> bool:
        """Whether workers that begin with an import of the script could not be started for a loader."""
        if facts.document.notebook is not None:
            return True  # what its cells define cannot be imported
        local = any(issue.kind == "unpicklable" for issue in loader.issues)
        return local or loop_that_workers_run(facts, loader) is not None

    def _is_deliberate(self, loader: LoaderCall) -> bool:
        """An explicit zero with a comment beside or above it was thought about."""
        places = [(one.document, one.node) for one in loader.origins("num_workers")]
        for document, node in [*places, (loader.document, loader.node)]:
            row = document.span(node).start.row
            above = document.line(row - 1) if row > 1 else ""
            if above.lstrip().startswith("#") or (node is not loader.node and "#" in document.line(row)):
                return True
        return False

    def _report(self, facts: Facts, loader: LoaderCall, absent: bool) -> Finding:
        dataset = loader.dataset
        assert dataset is not None
        costly = dataset.cost == "costly"
        how = "has no worker processes" if absent else "is told to use no worker processes"
        message = (
            f"`{loader.label}` {how}, so its samples are prepared while the GPU waits: {dataset.reason}; pass "
            f"`num_workers` (`accel-advisor tune` finds the best number)"
        )
        severity = Severity.WARNING if costly and absent else Severity.INFO
        fix = None
        if absent and costly:
            edit = loader.keyword_edit("num_workers", str(FALLBACK))
            if edit is not None:
                fix = Fix(f"Pass `num_workers={FALLBACK}`", (edit,), Applicability.UNSAFE)
        return self.finding(facts, loader.node, message, severity=severity, fix=fix)
