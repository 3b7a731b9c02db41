"""Values that are read from the GPU and logged after every batch."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import Call, any_calls, methods
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Node, Rule

_LOGS = {
    "log": ("wandb", "wandb.init"),
    "log_metric": ("mlflow",),
    "log_metrics": ("mlflow",),
    "add_scalar": ("SummaryWriter",),
    "add_scalars": ("SummaryWriter",),
    "append": ("neptune.init_run",),
}
"""What logs a value, by its name, and how the name of its owner ends."""
_READS = (*methods("Tensor", "item", "tolist", "cpu"), Call("float"))


class LogEveryStep(Rule):
    """A value is read from the GPU and logged after every batch.

    What it does
        Finds calls of a logger (`wandb.log`, `add_scalar`, `log_metric`) in a training loop over a loader that are
        given a tensor on the GPU, or read one (`.item()`), where no condition decides about it.

    Why it costs time
        To know the value the host waits until the GPU has done everything that was queued; then it writes, while the
        GPU has nothing to do.

    Example
        import mlflow
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loader = DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, pin_memory=True)
        for step, (x,) in enumerate(loader):
            optimizer.zero_grad()
            loss = model(x.cuda(non_blocking=True)).sum()
            loss.backward()
            optimizer.step()
            mlflow.log_metric("loss", loss, step)

    Use instead
        import mlflow
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loader = DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, pin_memory=True)
        for step, (x,) in enumerate(loader):
            optimizer.zero_grad()
            loss = model(x.cuda(non_blocking=True)).sum()
            loss.backward()
            optimizer.step()
            if step % 100 == 0:
                mlflow.log_metric("loss", loss, step)

    When to ignore it
        Where a step is long. The rule is silent under any condition in the loop, about values that are on the host,
        and in loops that do not train.

    References
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization
    """

    code = "ACC428"
    name = "log-every-step"
    severity = Severity.INFO
    enabled = False

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        reading = {id(one.statement) for one in facts.operations_of(*_READS) if self._reads(one)}
        waiting: dict[Node, str] = {}
        for operation in facts.operations_of(*any_calls(*_LOGS)):
            name = operation.what.name
            if not operation.what.owner.endswith(_LOGS[name]) or not self._is_in_every_step(operation):
                continue
            given = [value for context in operation.contexts for value in context.values]
            if id(operation.statement) in reading or any(value.on_accelerator for value in given):
                waiting.setdefault(operation.node, name)  # `add_scalars` writes several
        for node, name in waiting.items():
            claim = f"`{name}(...)` waits for the GPU after every batch"
            remedy = "log every so many steps"
            yield self.finding(facts, node, claim, remedy)

    def _reads(self, operation: Operation) -> bool:
        return all((one.value if one.subject.absent else one.subject).on_accelerator for one in operation.contexts)

    def _is_in_every_step(self, operation: Operation) -> bool:
        return operation.at_every_step and all(one.loop and one.loop.backward for one in operation.contexts)
