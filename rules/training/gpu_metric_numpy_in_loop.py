"""Metrics that NumPy computes after every training batch."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import within
from accel_advisor.records.facts import Facts, Loop
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule


class GpuMetricNumpyInLoop(Rule):
    """A metric is computed with NumPy on what is copied from the GPU after every training batch.

    What it does
        Finds functions of `sklearn.metrics` and `numpy` that are given arrays of tensors in a training loop that
        copies from the GPU at every step, where no condition decides about it.

    Why it costs time
        The copy waits for the GPU, which ACC208 reports, and while the host computes the metric the GPU has nothing to
        do.

    Example
        import numpy as np
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        data = TensorDataset(torch.zeros(64, 8), torch.zeros(64, dtype=torch.long))
        for x, y in DataLoader(data, batch_size=16, pin_memory=True):
            out = model(x.cuda(non_blocking=True))
            nn.functional.cross_entropy(out, y.cuda(non_blocking=True)).backward()
            optimizer.step()
            with torch.no_grad():
                np.bincount(out.argmax(1).cpu().numpy())  # accel: ignore[ACC208]

    Use instead
        import numpy as np
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        data = TensorDataset(torch.zeros(64, 8), torch.zeros(64, dtype=torch.long))
        guesses = []
        for x, y in DataLoader(data, batch_size=16, pin_memory=True):
            out = model(x.cuda(non_blocking=True))
            nn.functional.cross_entropy(out, y.cuda(non_blocking=True)).backward()
            optimizer.step()
            with torch.no_grad():
                guesses.append(out.argmax(1))
        np.bincount(torch.cat(guesses).cpu().numpy())

    When to ignore it
        Where a step is long. The rule is silent in evaluation, under any condition in the loop, and about arrays that
        never were on the GPU.

    References
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization
    """

    code = "ACC429"
    name = "gpu-metric-numpy-in-loop"
    severity = Severity.INFO
    enabled = False

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        for operation in facts.operations_of(*within("sklearn.metrics", "numpy")):
            if not operation.at_every_step:
                continue
            loops = {context.loop for context in operation.contexts}
            loop = loops.pop() if len(loops) == 1 else None
            if loop is not None and loop.backward and self._takes_arrays(operation) and self._copies(facts, loop):
                claim = f"`{facts.document.code(operation.node)}` lets the GPU wait for the host after every batch"
                remedy = "keep the tensors, and compute it once an epoch"
                yield self.finding(facts, operation.node, claim, remedy)

    def _takes_arrays(self, operation: Operation) -> bool:
        """Whether the call is given the arrays of tensors, and in every case."""
        return all(any(one.made_by == "Tensor.numpy" for one in context.values) for context in operation.contexts)

    def _copies(self, facts: Facts, loop: Loop) -> bool:
        """Whether a loop copies from the GPU at every step."""
        contexts = (context for transfer in facts.transfers for context in transfer.contexts)
        return any(one.kinds == {"cpu"} and one.loop is loop and one.from_accelerator for one in contexts)
