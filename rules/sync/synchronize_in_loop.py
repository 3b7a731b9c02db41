"""Synchronization at every step that nothing needs."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Pause, Related, Severity
from accel_advisor.records.actions import AnyCall, any_calls, within
from accel_advisor.records.facts import Facts, Loop
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.steps.host_waits import READINGS, reads_beside
from accel_advisor.records.queries.steps.training_steps import happens_in_each_step, loop_of_each_step, wait_in
from accel_advisor.records.queries.waits.waits_beside import SYNCHRONIZES
from accel_advisor.rule import Rule, also_at, remove_statement

MEASURES = (
    *any_calls("Event", "Stream", "stream", "Timer"),
    *within("torch.profiler", "torch.autograd.profiler", "torch.cuda.profiler", "torch.cuda.nvtx", "nvtx"),
)


class SynchronizeInLoop(Rule):
    """A training or evaluation loop waits for the GPU at every step.

    What it does
        Finds `torch.cuda.synchronize()` in the loop over a loader, or in that of a training, in a program that has no
        events and does not copy between streams, and names the reads of the loop that would wait in its place. Where a
        step reads the clock, only trainings over a loader count.

    Why it costs time
        The host stops until the GPU has done everything, which then has nothing to do until the host queues more.

    Example
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        model = torch.nn.Linear(8, 2).cuda()
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, pin_memory=True):
            model(x.cuda(non_blocking=True)).sum().backward()
            torch.cuda.synchronize()

    Use instead
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        model = torch.nn.Linear(8, 2).cuda()
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, pin_memory=True):
            model(x.cuda(non_blocking=True)).sum().backward()

    When to ignore it
        The rule is silent where each step of an evaluation, or of a loop without a loader, reads the clock, where the
        program uses events, streams or a profiler or copies to the host asynchronously, and where an option, or a
        condition that varies, decides about the call.

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
        calls = facts.operations_of(*SYNCHRONIZES)
        timed: dict[Loop, list[Operation]] = {}
        for operation in calls if calls and not self._needed(facts) else ():
            loop = loop_of_each_step(operation)
            if loop is None or operation.chosen:
                continue
            if not happens_in_each_step(facts, loop, *READINGS):
                yield self._needless(facts, operation, loop)
            elif loop.learns and loop.loaders:
                timed.setdefault(loop, []).append(operation)
        yield from (self._timed(facts, loop, operations) for loop, operations in timed.items())

    def _needless(self, facts: Facts, operation: Operation, loop: Loop) -> Finding:
        code = facts.document.code(operation.node)
        claim = f"`{code}` lets the GPU run dry at every step"
        remedy = "drop it, PyTorch keeps the order by itself"
        related, wait = self._way(facts, operation, loop), wait_in(loop, Pause.SYNCHRONIZES)
        inside = loop.holds(facts.document, operation.node)
        edit = remove_statement(facts.document, operation.statement, loop.body) if inside else None
        fix = Fix("Drop the call", (edit,), Applicability.UNSAFE) if edit is not None else None
        return self.finding(facts, operation.node, claim, remedy, fix=fix, related=related, wait=wait)

    def _timed(self, facts: Facts, loop: Loop, operations: list[Operation]) -> Finding:
        first, *others = operations
        claim = f"`{facts.document.code(first.node)}` lets the GPU run dry at every step of the training, for a clock"
        remedy = "measure a few steps only, or many at once"
        related = [also_at(facts.document, one.node, "for a clock, too") for one in others]
        related += self._way(facts, first, loop)
        return self.finding(facts, first.node, claim, remedy, related=related, wait=wait_in(loop, Pause.SYNCHRONIZES))

    def _way(self, facts: Facts, operation: Operation, loop: Loop) -> list[Related]:
        """What waits in its place without it, and the loop that calls it, where that stands elsewhere."""
        reads = [also_at(facts.document, one, "without it, it waits here") for one in reads_beside(facts, operation)]
        inside = loop.holds(facts.document, operation.node)
        return reads if inside else [*reads, also_at(loop.document, loop.node, "the steps of this loop call it")]

    def _needed(self, facts: Facts) -> bool:
        """Whether the program measures by events, keeps several streams, or copies to the host asynchronously."""
        if facts.does(*MEASURES):
            return True
        staged = facts.program.operations_of(AnyCall("copy_"))
        moves = [transfer for each in facts.program for transfer in each.transfers if transfer.kinds == {"cpu"}]
        return any(one.gives("non_blocking", True, 1) for one in staged) or any(one.asynchronous for one in moves)
