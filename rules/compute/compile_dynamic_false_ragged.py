"""Models compiled for fixed shapes, and a last batch of another size."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import Call
from accel_advisor.records.facts import Facts, LoaderCall
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule

_RECORDS = ("reduce-overhead", "max-autotune")


class CompileDynamicFalseRagged(Rule):
    """A model that is compiled for fixed shapes trains on a last batch of another size.

    What it does
        Finds loaders without `drop_last=True` whose batches train a model that was compiled with `dynamic=False`, or
        with a mode that records CUDA graphs (`reduce-overhead`, `max-autotune`).

    Why it costs time
        The last batch of an epoch is smaller unless the samples divide evenly. For its shape everything is compiled, or
        recorded, once more: a pause in the first epoch, and memory for a second set of graphs.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = torch.compile(nn.Linear(8, 2), dynamic=False)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loader = DataLoader(TensorDataset(torch.load("samples.pt")), batch_size=32, shuffle=True)
        for (x,) in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = torch.compile(nn.Linear(8, 2), dynamic=False)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loader = DataLoader(TensorDataset(torch.load("samples.pt")), batch_size=32, shuffle=True, drop_last=True)
        for (x,) in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()

    When to ignore it
        Where the batch size divides the number of samples, or every sample counts in every epoch. The rule is silent
        about evaluation, about batches of one, with a sampler of batches, and where the samples are known to divide
        evenly.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.compile.html
    """

    code = "ACC422"
    name = "compile-dynamic-false-ragged"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once."""
        compiling = facts.program.operations_of(Call("torch.compile")) if facts.loaders else []
        fixed = {id(one.node): why for one in compiling if (why := self._fixed(one)) is not None}
        if not fixed:
            return
        for loader in facts.loaders:
            why = next((fixed[id(call)] for call in self._compiled(facts, loader) if id(call) in fixed), None)
            if why is not None and loader.trains and loader.ends_ragged:
                claim = f"with {why} the model is compiled once more for the last, smaller batch of `{loader.label}`"
                remedy = "pass `drop_last=True`"
                yield self.finding(facts, loader.node, claim, remedy)

    def _fixed(self, operation: Operation) -> str | None:
        """How a call of ``torch.compile`` says that shapes do not change; None where it does not."""
        if operation.gives("dynamic", False):
            return "`dynamic=False`"
        mode = operation.given("mode")
        if mode.is_literal(*_RECORDS) and operation.lacks("dynamic"):
            return f'`mode="{mode.literal}"`'
        return None

    def _compiled(self, facts: Facts, loader: LoaderCall) -> Iterator[object]:
        """The calls that compiled the models that a loader's batches are given to."""
        for each in facts.program:
            for call in each.module_calls:
                for context in call.contexts:
                    if context.model is not None and context.loop in loader.loops:
                        yield context.model.compiled
