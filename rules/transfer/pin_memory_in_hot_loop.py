"""Batches that the training loop itself pins."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import Method, calls
from accel_advisor.records.facts import Facts, Transfer
from accel_advisor.records.loaders import loader_of
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule

THREADS = calls(
    *("threading.Thread", "concurrent.futures.ThreadPoolExecutor", "concurrent.futures.thread.ThreadPoolExecutor"),
    *("multiprocessing.dummy.Pool", "multiprocessing.pool.ThreadPool", "asyncio.to_thread"),
    *("prefetch_generator.BackgroundGenerator", "prefetch_generator.background"),
)


class PinMemoryInHotLoop(Rule):
    """Each batch is pinned by the loop itself, right before it is copied.

    What it does
        Finds `x.pin_memory().to(device)` and `x.pin_memory().cuda()` on a loader's batches, in the loop over the
        loader.

    Why it costs time
        Pinning allocates page-locked memory and copies the batch into it, while the loop waits. Together with the copy
        to the GPU it takes longer than the copy from pageable memory. A loader with workers pins in a thread of its
        own, beside the computation.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, pin_memory=True):
            model(x.pin_memory().to("cuda", non_blocking=True)).sum().backward()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, pin_memory=True):
            model(x.to("cuda", non_blocking=True)).sum().backward()

    When to ignore it
        The rule is silent about batches that no loader delivers (a prefetcher that fetches the next batch meanwhile can
        win by pinning), where the loop itself copies for its next pass, under a stream, in threads, and about batches
        with a `pin_memory` of their own.

    References
        - https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html
    """

    code = "ACC204"
    name = "pin-memory-in-hot-loop"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loop once."""
        if facts.does(*THREADS):
            return
        pinned = {one.node for one in facts.operations_of(Method("Tensor", "pin_memory")) if self._in_loop(one)}
        seen: set[object] = set()
        for move in facts.transfers:
            call = move.node
            source = call.func.value if isinstance(call.func, cst.Attribute) else None
            if (
                source not in pinned
                or self._is_for_the_next_step(facts, move)
                or not all(context.to_cuda for context in move.contexts)
            ):
                continue
            loop = move.contexts[0].loop
            if loop not in seen:
                seen.add(loop)
                yield self._report(facts, call, source)

    def _in_loop(self, operation: Operation) -> bool:
        for context in operation.contexts:
            loader = loader_of(context.subject)
            own = loader is not None and loader.plain_samples and context.subject.is_plain_tensor
            streams = any("tream" in one.made_by for one in context.regions)
            if not own or context.loop is None or streams:
                return False
        return bool(operation.contexts)

    def _is_for_the_next_step(self, facts: Facts, move: Transfer) -> bool:
        """Whether a pass uses what the pass before has copied, so that the copy has a whole step's time."""
        if not isinstance(move.statement, cst.Assign):
            return False
        targets = [one.target for one in move.statement.targets]
        parts = [part.value for one in targets if isinstance(one, cst.Tuple) for part in one.elements]
        held = [facts.document.code(one) for one in (*targets, *parts)]
        loops = [context.loop for context in move.contexts if context.loop is not None]
        here = [loop for loop in loops if loop.holds(facts.document, move.node)]
        return any(loop.carries(holder) for loop in here for holder in held)

    def _report(self, facts: Facts, call: cst.Call, source: cst.BaseExpression | None) -> Finding:
        document = facts.document
        assert isinstance(source, cst.Call)
        assert isinstance(source.func, cst.Attribute)
        message = (
            f"`{document.code(source)}` copies each batch once more while the loop waits; drop it, and let the "
            f"loader pin with `pin_memory=True` where it has workers"
        )
        return self.finding(facts, source, message)
