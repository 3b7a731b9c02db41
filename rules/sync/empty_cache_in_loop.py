"""Caches emptied, or garbage collected, at every step."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import Action, Call, any_calls
from accel_advisor.records.facts import Facts, Loop
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.steps.training_steps import basis_of_each_step, loop_of_each_step
from accel_advisor.rule import Rule, also_at, remove_statement

CLEANERS: dict[Action, str] = {
    Call("torch.cuda.empty_cache"): "gives the allocator's cache back and pays for it again at the next batch",
    Call("gc.collect"): "walks all Python objects",
}
MEASURES = any_calls(
    *("memory_allocated", "memory_reserved", "max_memory_allocated", "max_memory_reserved", "memory_cached"),
    *("reset_peak_memory_stats", "mem_get_info", "memory_summary", "memory_stats", "memory_snapshot"),
)


class EmptyCacheInLoop(Rule):
    """The memory cache is emptied, or the garbage collector run, at every step.

    What it does
        Finds `torch.cuda.empty_cache()` and `gc.collect()` in the loop over a loader, or in that of a training, and in
        functions that its steps call, where no condition that varies from step to step decides whether they run.

    Why it costs time
        `empty_cache` waits for the GPU and returns memory that the next batch asks for again, which takes longer than
        the wait alone. It does not make more memory available to PyTorch. `gc.collect` looks at every object of the
        process.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, pin_memory=True):
            model(x.cuda(non_blocking=True)).sum().backward()
            torch.cuda.empty_cache()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, pin_memory=True):
            model(x.cuda(non_blocking=True)).sum().backward()

    When to ignore it
        Where other processes need the memory. The rule is silent where a condition or an exception leads there, outside
        of the loop over batches, and in functions that measure memory. In the `forward` of a class that the training
        loop only may call, it is info.

    Fix safety
        Unsafe: a program that is close to the limit of memory may behave differently.

    References
        - https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management
    """

    code = "ACC214"
    name = "empty-cache-in-loop"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        measuring = {one.function for one in facts.operations_of(*MEASURES)}
        for operation in facts.operations_of(*CLEANERS):
            loop = loop_of_each_step(operation)
            if loop is None or operation.chosen or operation.function in measuring:
                continue
            if loop.backward or loop.calls_model:
                yield self._report(facts, operation, loop)

    def _report(self, facts: Facts, operation: Operation, loop: Loop) -> Finding:
        document, statement = facts.document, operation.statement
        code, harm = document.code(operation.node), CLEANERS[operation.what]
        basis = basis_of_each_step(operation, loop)
        claim = f"`{code}` {harm}, at every step{basis.clause}"
        remedy = "drop it, or call it once an epoch"
        if not loop.holds(document, operation.node):
            place = [also_at(loop.document, loop.node, "the steps of this loop call it")]
            severity = Severity.WARNING if basis.proven else Severity.INFO
            return self.finding(facts, operation.node, claim, remedy, severity=severity, related=place, basis=basis)
        edit = remove_statement(document, statement, loop.body)
        fix = Fix("Drop the call", (edit,), Applicability.UNSAFE) if edit is not None else None
        return self.finding(facts, operation.node, claim, remedy, fix=fix)
