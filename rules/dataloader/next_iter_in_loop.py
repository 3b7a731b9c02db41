"""Loaders that are begun again for every batch."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import Act
from accel_advisor.records.facts import Facts, LoaderCall
from accel_advisor.records.loaders import loader_of
from accel_advisor.records.operations import Operation, OperationContext
from accel_advisor.records.queries.trial_code import is_for_tries
from accel_advisor.rule import Rule


class NextIterInLoop(Rule):
    """A loop starts a new pass over a DataLoader for every batch that it takes.

    What it does
        Finds `next(iter(loader))` in the body of a loop.

    Why it costs time
        `iter(loader)` starts all of its workers, lets each of them load several batches ahead, and one batch is used.
        The next turn of the loop ends them and starts others. Without shuffling it is the first batch every time.

    Example
        import torch
        from torch.utils.data import DataLoader

        loader = DataLoader([1, 2, 3], num_workers=2)
        for step in range(100):
            x = next(iter(loader))
            print(x)

    Use instead
        import torch
        from torch.utils.data import DataLoader

        loader = DataLoader([1, 2, 3], num_workers=2)
        batches = iter(loader)
        for step in range(3):
            x = next(batches)
            print(x)

    When to ignore it
        Where one fixed batch is meant: take it once, before the loop. The rule is silent outside of loops, under a
        condition, in an `except` clause, once in an epoch, where a loader without workers has an order of its own, and
        in files, functions and conditions whose names mention debugging, benchmarks or overfitting.

    References
        - https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading
    """

    code = "ACC108"
    name = "next-iter-in-loop"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        for operation in facts.operations_of(Act.TAKES_FIRST_BATCH):
            if not operation.contexts:
                continue
            loaders = [self._loader(facts, context) for context in operation.contexts]
            known = all(loader is not None for loader in loaders)
            if known and loaders[0] is not None and not is_for_tries(operation):
                yield self._report(facts, operation, loaders[0])

    def _loader(self, facts: Facts, context: OperationContext) -> LoaderCall | None:
        """The loader that is begun again in every turn of a loop; None where that is not so, or does no harm."""
        loop, loader = context.inner, loader_of(context.subject)
        if loop is None or context.guarded or loader is None:
            return None
        # once in an epoch, or for each of several models, beside a loop over batches, is not often
        if any(one.loaders and one.is_within(loop) for facts in facts.program for one in facts.loops):
            return None
        built_here = any(loop in one.loops for one in loader.contexts)
        in_order = loader.gives("shuffle", None) or loader.gives("shuffle", False)
        own_order = not (loader.gives("sampler", None) and loader.gives("batch_sampler", None))
        harmless = loader.without_workers and (own_order or not in_order)
        return None if built_here or harmless or loader.opaque or loader.constructor.delivers != "host" else loader

    def _report(self, facts: Facts, operation: Operation, loader: LoaderCall) -> Finding:
        code = facts.document.code(operation.node)
        same = loader.gives("shuffle", None) or loader.gives("shuffle", False)
        own_order = loader.gives("sampler", None) and loader.gives("batch_sampler", None)
        if loader.without_workers:
            what = "begins the loader again and takes its first batch" if own_order else "begins the loader again"
        elif same and own_order:
            what = "starts its workers again and takes the same first batch"
        else:
            what = "starts its workers again"
        claim = f"`{code}` {what} in every turn of the loop"
        remedy = "make the iterator once, before the loop"
        return self.finding(facts, operation.node, claim, remedy)
