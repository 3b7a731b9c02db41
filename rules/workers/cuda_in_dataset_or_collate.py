"""Data sets and collate functions that use the GPU."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.dataset_facts import IssueKind, WorkerIssue
from accel_advisor.records.facts import Facts, LoaderCall
from accel_advisor.records.queries.loaders.start_method import start_methods
from accel_advisor.rule import Rule, also_at


class CudaInDatasetOrCollate(Rule):
    """A data set or its collate function uses the GPU, which workers cannot do, or do badly.

    What it does
        Finds moves to a CUDA device and calls of `torch.cuda` in `__getitem__` and `__iter__` of a data set, in a
        `collate_fn` and in a `worker_init_fn`.

    Why it costs time
        A forked worker cannot use CUDA at all and raises RuntimeError. A worker that is spawned makes a CUDA context of
        its own, which takes hundreds of megabytes of the GPU. Without workers each sample is copied by itself, which is
        far slower than one copy of the batch, and such samples cannot be pinned.

    Example
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Points(Dataset):
            def __init__(self, x):
                self.x = x
            def __len__(self):
                return len(self.x)
            def __getitem__(self, index):
                return self.x[index].to("cuda")

        loader = DataLoader(Points(torch.zeros(64, 8)), batch_size=16, num_workers=2)

    Use instead
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Points(Dataset):
            def __init__(self, x):
                self.x = x
            def __len__(self):
                return len(self.x)
            def __getitem__(self, index):
                return self.x[index]

        loader = DataLoader(Points(torch.zeros(64, 8)), batch_size=16, num_workers=2)

    When to ignore it
        Where samples are made by the GPU on purpose, in a single process. A data set whose tensors were put on the GPU
        in `__init__`, and that has no workers, is fine, and the rule is silent about it. Where a condition decides
        whether the GPU is used, it is silent about loaders with workers, and gives information about others.

    References
        - https://docs.pytorch.org/docs/stable/notes/multiprocessing.html#poison-fork-in-multiprocessing
        - https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading
    """

    code = "ACC109"
    name = "cuda-in-dataset-or-collate"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call, with all places."""
        for loader in facts.loaders:
            without = loader.fixed_workers == 0 or loader.given("num_workers").absent
            issues = [one for one in loader.issues if one.kind is IssueKind.DEVICE and (one.certain or without)]
            if issues and loader.constructor.advises:
                yield self._report(facts, loader, sorted(issues, key=lambda one: not one.certain))

    def _report(self, facts: Facts, loader: LoaderCall, issues: list[WorkerIssue]) -> Finding:
        issue = issues[0]
        workers = (loader.fixed_workers or 0) > 0
        forks = workers and start_methods(facts, loader).forks
        severity = Severity.ERROR if forks else Severity.WARNING if issue.certain else Severity.INFO
        collates = issue.label == "collate_fn"
        if forks:
            consequence = "raises RuntimeError, because forked workers cannot use CUDA"
        elif workers:
            consequence = "gives every worker a CUDA context of its own"
        elif collates:
            consequence = "keeps the loading in the main process, because workers could not run it"
        else:
            consequence = "copies every sample by itself, and could not run in workers"
        makes = "batches" if collates else "samples"
        claim = (
            f"`{issue.document.code(issue.node)}` in `{issue.label}`, which makes the {makes} of `{loader.label}`, "
            f"{consequence}"
        )
        remedy = "move the batch to the GPU in the loop"
        places = {id(one.node): one for one in issues}.values()
        related = [also_at(one.document, one.node, "the GPU is used here") for one in places]
        return self.finding(facts, loader.node, claim, remedy, severity=severity, related=related)
