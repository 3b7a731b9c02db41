"""Synchronization at every step that nothing needs."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import AnyCall, Call, any_calls, calls, within
from accel_advisor.records.clock import CLOCKS
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule, remove_statement

WAITS = calls("torch.cuda.synchronize", "torch.accelerator.synchronize")
MEASURES = (
    *any_calls("Event", "Stream", "stream", "Timer", "process_time"),
    *(*CLOCKS, Call("datetime.datetime.now")),
    *within("torch.profiler", "torch.autograd.profiler", "torch.cuda.profiler", "torch.cuda.nvtx", "nvtx"),
)


class SynchronizeInLoop(Rule):
    """A training or evaluation loop waits for the GPU at every step.

    What it does
        Finds `torch.cuda.synchronize()` in the loop over a loader, in a program that neither measures time nor copies
        between streams.

    Why it costs time
        The host stops until the GPU has done everything that was queued, and the GPU then has nothing to do until the
        host queues more. PyTorch orders the work on a stream by itself.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, pin_memory=True):
            model(x.cuda(non_blocking=True)).sum().backward()
            torch.cuda.synchronize()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, pin_memory=True):
            model(x.cuda(non_blocking=True)).sum().backward()

    When to ignore it
        The rule is silent where the program takes times, uses events, streams or a profiler, copies to the host
        asynchronously, and where a condition decides about the call.

    Fix safety
        Unsafe: code that is not seen may rely on the wait.

    References
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
    """

    code = "ACC215"
    name = "synchronize-in-loop"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        found = [one for one in facts.operations_of(*WAITS) if one.at_every_step]
        if not found or self._needed(facts):
            return
        for operation in found:
            message = (
                f"`{facts.document.code(operation.node)}` lets the GPU run dry at every step; drop it, PyTorch keeps "
                f"the order by itself"
            )
            edit = None
            loop = operation.contexts[0].inner
            if loop is not None and loop.document is facts.document and isinstance(loop.node, (cst.For, cst.While)):
                edit = remove_statement(facts.document, operation.statement, loop.node.body)
            fix = Fix("Drop the call", (edit,), Applicability.UNSAFE) if edit is not None else None
            yield self.finding(facts, operation.node, message, fix=fix)

    def _needed(self, facts: Facts) -> bool:
        """Whether the program measures, keeps several streams, or copies to the host asynchronously."""
        if facts.does(*MEASURES):
            return True
        staged = facts.program.operations_of(AnyCall("copy_"))
        moves = [transfer for each in facts.program for transfer in each.transfers if transfer.kinds == {"cpu"}]
        return any(one.gives("non_blocking", True, 1) for one in staged) or any(one.asynchronous for one in moves)
