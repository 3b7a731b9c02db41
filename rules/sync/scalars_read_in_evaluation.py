"""Evaluations that read numbers from the GPU in each of their passes."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.evaluations.host_metrics import host_metrics
from accel_advisor.records.queries.evaluations.scalar_reads import ScalarReads, scalar_reads
from accel_advisor.rule import Rule, also_at


class ScalarsReadInEvaluation(Rule):
    """An evaluation reads numbers from the GPU in each of its passes.

    What it does
        Finds `.item()`, `float(loss)`, `print(loss)`, `add_scalar` and a tensor in an f-string, of tensors that are on
        the GPU, in loops that take batches and train nothing; once for each loop. Each finding is minor: shown with
        `--minor`, since it is worth little where a pass of the model takes long.

    Why it costs time
        Each read waits until the GPU has done all work that is queued, and while the host prepares the next batch the
        GPU has none. Sums that stay on the GPU are read once, behind the loop.

    Example
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        model = torch.nn.Linear(8, 2).cuda().eval()
        data = TensorDataset(torch.zeros(64, 8))
        for epoch in range(2):
            total = largest = smallest = 0.0
            for (x,) in DataLoader(data, batch_size=16, pin_memory=True):
                with torch.no_grad():
                    out = model(x.cuda(non_blocking=True))
                total += out.sum().item()
                largest = max(largest, out.max().item())
                smallest = min(smallest, out.min().item())

    Use instead
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        model = torch.nn.Linear(8, 2).cuda().eval()
        data = TensorDataset(torch.zeros(64, 8))
        for epoch in range(2):
            found = []
            for (x,) in DataLoader(data, batch_size=16, pin_memory=True):
                with torch.no_grad():
                    out = model(x.cuda(non_blocking=True))
                found.append(torch.stack([out.sum(), out.max(), out.min()]))
            totals, maxima, minima = torch.stack(found).unbind(1)
            total, largest, smallest = torch.stack([totals.sum(), maxima.max(), minima.min()]).tolist()

    When to ignore it
        Where a pass of the model takes long beside what the host does. The rule is silent where ACC445 has a finding
        about the same loop, under a condition that picks some of the passes, and in functions that are named for
        pictures or debugging.

    References
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization
    """

    code = "ACC446"
    name = "scalars-read-in-evaluation"
    severity = Severity.INFO
    frequency = Frequency.EPOCH

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each evaluation once, at the first number that it reads."""
        told = {one.loop for one in host_metrics(facts)}
        yield from (self._report(facts, found) for found in scalar_reads(facts) if found.loop not in told)

    def _report(self, facts: Facts, found: ScalarReads) -> Finding:
        document, (first, *others), count = facts.document, found.operations, len(found.operations)
        times = f"{count} times, first " if count > 1 else ""
        claim = (
            f"each pass of this evaluation waits for the GPU {times}at "
            f"`{document.code(first.node)}`{found.basis.clause}"
        )
        remedy = "add up on the GPU, and read the sums behind the loop"
        related = [also_at(document, one.node, "it waits here too") for one in others]
        if found.loop.document is not document:
            related.append(also_at(found.loop.document, found.loop.node, "the loop of the evaluation"))
        return self.finding(facts, first.node, claim, remedy, related=related, basis=found.basis, minor=True)
