"""Models that are called on the samples of a batch one by one."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.loaders import loader_of
from accel_advisor.records.transfers import ModuleCallContext
from accel_advisor.rule import Rule


class PythonLoopOverBatch(Rule):
    """A model is called on the samples of a batch one by one.

    What it does
        Finds loops over the rows of a loader's batch (`for i in range(x.size(0))`) that call a model on one row
        (`model(x[i])`) and on nothing else.

    Why it costs time
        Every sample launches all kernels of the model for itself, each with too little work for the device.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2)
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16):
            outputs = [None] * x.size(0)
            for i in range(x.size(0)):
                outputs[i] = model(x[i])
            torch.stack(outputs).sum().backward()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2)
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16):
            model(x).sum().backward()

    When to ignore it
        Where the samples differ in shape after all, or the model treats its input as one sample. The rule is silent
        about lists of samples and what a `collate_fn` may return, about steps through time (calls that are given a
        state as well, recurrent cells, other dimensions than the first), and in loops with a condition or a slice, by
        which rows may come to differ.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.vmap.html
    """

    code = "ACC431"
    name = "python-loop-over-batch"
    severity = Severity.INFO
    enabled = False

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        for call in facts.module_calls:
            if not call.loss and call.contexts and all(self._takes_one_row(context) for context in call.contexts):
                name = facts.document.code(call.callee)
                claim = f"`{name}` is called on every sample of the batch by itself"
                remedy = "call it once on the whole batch"
                yield self.finding(facts, call.node, claim, remedy)

    def _takes_one_row(self, context: ModuleCallContext) -> bool:
        loop, module = context.inner, context.model
        loader = loader_of(loop.rows) if loop is not None else None
        if loop is None or loader is None or len(context.arguments) != 1:
            return False
        if not loader.gives("collate_fn", None) or not loop.treats_alike:
            return False  # rows may differ in length
        row = context.arguments[0].given
        if row.source is not loader or row.path != (*loop.rows.path, ...):
            return False
        return module is not None and module.has_state and not module.kind.endswith("Cell")
