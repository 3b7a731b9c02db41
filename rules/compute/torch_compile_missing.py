"""Models that are trained without being compiled."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import AnyCall, Decorates, calls
from accel_advisor.records.facts import Facts
from accel_advisor.records.loaders import loaders_in
from accel_advisor.records.queries.training_loops import Training, trainings
from accel_advisor.rule import Rule

_COMPILES = (
    AnyCall("compile"),
    *calls("torch.jit.script", "torch.jit.trace", "torch.compiler.disable", "torch._dynamo.disable"),
    *calls("torch.cuda.CUDAGraph", "torch.cuda.graph", "torch.cuda.make_graphed_callables", "torch.export.export"),
    *calls("torch.autograd.set_detect_anomaly", "torch.autograd.detect_anomaly"),
    *map(Decorates, ("torch.jit.script", "torch.compiler.disable", "torch._dynamo.disable")),
)
_SINCE = (2, 2)
_PYTHONS = (((3, 12), (2, 4)), ((3, 13), (2, 6)), ((3, 14), (2, 10)))
"""Versions of Python, and the first torch that compiles on each."""
_RECURRENT = ("LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell")


class TorchCompileMissing(Rule):
    """A model is trained without being compiled.

    What it does
        Finds training loops on CUDA whose model has convolutions or attention, and gets batches of one shape, in
        programs that never use `torch.compile`.

    Why it costs time
        Each small operation is a launch of its own, which reads and writes its tensors as a whole. Compiled, most of
        them become part of a few kernels. Whether that pays is a matter of measurement.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 1, 3)).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        data = TensorDataset(torch.zeros(64, 3, 32, 32))
        for (x,) in DataLoader(data, batch_size=16, pin_memory=True):
            optimizer.zero_grad()
            model(x.cuda(non_blocking=True)).square().mean().backward()
            optimizer.step()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 1, 3)).cuda()
        model.compile()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        data = TensorDataset(torch.zeros(64, 3, 32, 32))
        for (x,) in DataLoader(data, batch_size=16, pin_memory=True):
            optimizer.zero_grad()
            model(x.cuda(non_blocking=True)).square().mean().backward()
            optimizer.step()

    When to ignore it
        With short runs, which never win back the minutes of compiling. The rule is silent with frameworks, with
        recurrent layers, which are not compiled, with a `collate_fn` or a sampler of batches, which may change the
        shapes, in programs that look for anomalies, and where torch is pinned before 2.2, or before the first that
        compiles on the project's Python.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.compile.html
    """

    code = "ACC420"
    name = "torch-compile-missing"
    severity = Severity.INFO
    enabled = False

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports a document once, at its first such loop."""
        since = max([_SINCE, *(torch for python, torch in _PYTHONS if facts.target.python.all_from(python))])
        if facts.does(*_COMPILES) or not facts.supports(since):
            return
        for training in trainings(facts):
            if (training.convolves or training.attends) and self._has_one_shape(training):
                claim = "the model of this loop runs operation by operation"
                remedy = "try `model.compile()` before it, and measure"
                yield self.finding(facts, training.loop.node, claim, remedy, since=since)
                return

    def _has_one_shape(self, training: Training) -> bool:
        plain = all(
            one.gives("collate_fn", None) and one.gives("batch_sampler", None) for one in loaders_in(training.loop)
        )
        return plain and not training.has(*_RECURRENT)
