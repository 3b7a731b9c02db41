"""Evaluations that choose, count and gather on the host what the GPU has computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.evaluations.host_metrics import HostMetric, HostRead, host_metrics
from accel_advisor.records.queries.evaluations.host_uses import COMES_BACK, Use
from accel_advisor.records.queries.evaluations.scalar_reads import scalar_reads
from accel_advisor.rule import Rule, also_at


class MetricOnHostCopies(Rule):
    """An evaluation copies whole predictions to the host in each pass, and chooses, counts or gathers there.

    What it does
        Finds, in loops that take batches and train nothing, `.cpu()` of what a model computed where the host then (a)
        takes the best of scores of three or more dimensions (`np.argmax(out, 2)`, or over dimension 1 where the labels
        are counted or it goes image by image), (b) counts predicted labels by `bincount` or `histogram`, (c) joins it
        to all that was kept before (`kept = np.append(kept, out)`), or (d) computes a loss of it. Values are followed
        through names and functions of the program. Each evaluation is one finding; parts of the batch that the program
        itself has copied to the GPU, and copies back, are further places of it.

    Why it costs time
        The scores of a map are as many times larger as there are classes, and each copy waits for the GPU, which then
        has nothing to do while numpy works through them on one core. To join arrays in each pass copies everything that
        was kept before, so that the work grows with the square of the number of batches.

    Example
        import numpy as np
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        model = torch.nn.Conv2d(3, 5, 1).cuda().eval()
        data = TensorDataset(torch.zeros(8, 3, 16, 16), torch.zeros(8, 16, 16, dtype=torch.long))
        for epoch in range(2):
            counts = np.zeros(25, dtype=int)
            for x, y in DataLoader(data, batch_size=4, pin_memory=True):
                with torch.no_grad():
                    out = model(x.cuda(non_blocking=True)).cpu().numpy()
                counts += np.bincount((5 * y.numpy() + np.argmax(out, 1)).ravel(), minlength=25)

    Use instead
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        model = torch.nn.Conv2d(3, 5, 1).cuda().eval()
        data = TensorDataset(torch.zeros(8, 3, 16, 16), torch.zeros(8, 16, 16, dtype=torch.long))
        for epoch in range(2):
            counts = torch.zeros(25, dtype=torch.long, device="cuda")
            for x, y in DataLoader(data, batch_size=4, pin_memory=True):
                with torch.no_grad():
                    out = model(x.cuda(non_blocking=True))
                counts += torch.bincount((5 * y.cuda(non_blocking=True) + out.argmax(1)).flatten(), minlength=25)
            print(counts.cpu())

    When to ignore it
        Where the copies take little beside the passes of the model. The rule is silent where a condition picks some of
        the passes, in functions that are named for pictures or debugging, about predictions that leave for files or for
        a metric as they are, about the scores of single labels (batch x classes) that are not joined, and about the
        few boxes that a function named for non-maximum suppression leaves. It is minor in evaluations that run once, as
        those of a script for tests do, and where all there is to say is that a batch comes back.

    References
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization
    """

    code = "ACC445"
    name = "metric-on-host-copies"
    severity = Severity.INFO
    frequency = Frequency.EPOCH

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each evaluation once, at the copy whose use costs most."""
        metrics = list(host_metrics(facts))
        numbers = {one.loop: one.operations for one in scalar_reads(facts)} if metrics else {}
        for found in metrics:
            yield self._report(facts, found, numbers.get(found.loop, ()))

    def _report(self, facts: Facts, found: HostMetric, numbers: Iterable[Operation]) -> Finding:
        document, (first, *others), basis = facts.document, found.reads, found.basis
        copy, used = first.operation.node, first.use
        what, remedy = used.use.value if used is not None else COMES_BACK
        done = what.format(name=used.name if used is not None else "", basis=basis.clause)
        claim = f"in each pass of this evaluation, `{document.code(copy)}` {done}"
        related = [also_at(document, one.operation.node, self._beside(one)) for one in others]
        related += [also_at(document, one.node, "a number is read here, too") for one in numbers]
        if found.loop.document is not document:
            related.append(also_at(found.loop.document, found.loop.node, "the loop of the evaluation"))
        minor = used is None or not found.each_epoch
        return self.finding(facts, copy, claim, remedy, related=related, basis=basis, minor=minor)

    def _beside(self, other: HostRead) -> str:
        if other.use is not None and other.use.use is Use.JOINED:
            return "it is joined to all that was kept so far, which is copied once more"
        if other.returns:
            return "a part of the batch comes back from the GPU here; keep the tensor that the loader gave"
        return "it is copied to the host here, too"
