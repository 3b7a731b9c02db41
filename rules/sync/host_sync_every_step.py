"""Training loops that wait for the GPU several times a step."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.steps.host_waits import waits_of_each_step
from accel_advisor.rule import Rule, also_at

WARN_FROM = 3


class HostSyncEveryStep(Rule):
    """Every step of a training loop waits for the GPU several times to read single values.

    What it does
        Finds what reads a tensor that is on the GPU, where a training loop does two or more of it at every step:
        `.item()`, `.tolist()`, `.cpu()`, `float(loss)`, `print(loss)`, a tensor in an f-string, `if loss > 3:`, and
        what has to count first, as `nonzero`, `unique`, `repeat_interleave` by a tensor and indexing with a mask
        (`out[labels > 0]`) do.

    Why it costs time
        The host runs ahead of the GPU and queues its work. To read a value it has to wait until everything queued is
        done; the GPU then idles until new work arrives.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        criterion = nn.MSELoss()
        data = TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2))
        total = largest = 0.0
        for x, y in DataLoader(data, batch_size=16, pin_memory=True):
            out = model(x.cuda(non_blocking=True))
            loss = criterion(out, y.cuda(non_blocking=True))
            loss.backward()
            total += loss.item()
            largest = max(largest, out.max().item())

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        criterion = nn.MSELoss()
        data = TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2))
        losses, maxima = [], []
        for x, y in DataLoader(data, batch_size=16, pin_memory=True):
            out = model(x.cuda(non_blocking=True))
            loss = criterion(out, y.cuda(non_blocking=True))
            loss.backward()
            losses.append(loss.detach())
            maxima.append(out.detach().max())
        total, largest = torch.stack(losses).sum().item(), torch.stack(maxima).max().item()

    When to ignore it
        Where a step is long: a wait costs little then. The rule is silent about one wait at each step, about what a
        condition guards (`if step % 100 == 0`), about evaluation, where the optimizer is LBFGS, and where the loop
        steps an environment (`state, reward, ... = env.step(action)`), which has to know what the model decided.

    References
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
    """

    code = "ACC208"
    name = "host-sync-every-step"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loop once, at the first wait."""
        for found in waits_of_each_step(facts):
            if len(found) > 1:
                yield self._report(facts, found)

    def _report(self, facts: Facts, found: list[Operation]) -> Finding:
        document = facts.document
        first, *others = found
        message = (
            f"this training loop waits for the GPU {len(found)} times at every step, first at "
            f"`{document.code(first.node)}`; keep the values as tensors (`.detach()`) and read them "
            f"once an epoch or every few hundred steps"
        )
        related = [also_at(document, one.node, "it waits here too") for one in others]
        severity = Severity.WARNING if len(found) >= WARN_FROM else Severity.INFO
        return self.finding(facts, first.node, message, severity=severity, related=related)
