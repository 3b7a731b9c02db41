"""Batches that the main process works on with numpy before the model sees them."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.steps.numpy_detours import numpy_detours
from accel_advisor.rule import Rule, also_at


class BatchWorkedOnInNumpy(Rule):
    """Batches become arrays, are worked on in the main process, and become tensors again, in the training step.

    What it does
        Finds `numpy()` of a batch, or of a part of one, that is still on the host, in a training loop over a loader
        where what is computed from it is made a tensor again, or in an evaluation where that tensor is moved to the
        GPU.

    Why it costs time
        Between two batches the GPU waits for whatever the main process does with an array. The workers of the loader do
        the same ahead of time and side by side: in the data set, or for a batch as a whole in `collate_fn`. On the GPU
        it may take next to nothing.

    Example
        import numpy as np
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2)
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16):
            array = np.flip(x.numpy(), axis=1).copy()
            model(torch.from_numpy(array)).sum().backward()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2)
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16):
            model(x.flip(1)).sum().backward()

    When to ignore it
        Where the work takes little beside the step, or needs what the model computed. The rule is silent where the
        array is only looked at, where the tensor is made of the array itself or of views and slices of it, where an
        evaluation keeps the tensor on the host, as for a metric, and where a condition that varies from step to step
        decides about it.

    References
        - https://docs.pytorch.org/docs/stable/data.html#working-with-collate-fn
    """

    code = "ACC433"
    name = "batch-worked-on-in-numpy"
    severity = Severity.INFO
    frequency = Frequency.STEP

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loop once, at the first such batch."""
        for detour in numpy_detours(facts):
            code = facts.document.code(detour.taken.node)
            claim = (
                f"`{code}` takes a batch of `{detour.loader.label}` to numpy, and the main process works on it while "
                f"the GPU waits{detour.basis.clause}"
            )
            remedy = "do so in the data set or `collate_fn`, where workers do it ahead, or on the GPU"
            related = [also_at(facts.document, detour.made.node, "it is made a tensor again here")]
            yield self.finding(facts, detour.taken.node, claim, remedy, related=related, basis=detour.basis)
