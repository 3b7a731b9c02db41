"""Batches that the training loop itself pins."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import calls
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.steps.repeated_copies import pinned_in_the_loop
from accel_advisor.rule import Rule

_THREADS = calls(
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
        Pinning copies the batch into page-locked memory, while the loop waits and the workers need the processors.
        Together with the copy to the GPU that can take longer than the copy from pageable memory. A loader with workers
        pins in a thread of its own, beside the computation.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, num_workers=2):
            model(x.pin_memory().to("cuda", non_blocking=True)).sum().backward()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, num_workers=2, pin_memory=True):
            model(x.to("cuda", non_blocking=True)).sum().backward()

    When to ignore it
        The rule is silent where the loader has no workers, so that the main process pins in any case, where it pins its
        batches itself, so that nothing is pinned again, about batches that no loader delivers (a prefetcher that takes
        the next batch meanwhile can win by pinning), where the loop itself copies for its next pass, under a stream, in
        threads, and about batches with a `pin_memory` of their own.

    References
        - https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html
    """

    code = "ACC204"
    name = "pin-memory-in-hot-loop"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loop once."""
        if facts.does(*_THREADS):
            return
        for source in pinned_in_the_loop(facts):
            claim = f"`{facts.document.code(source)}` copies each batch once more while the loop waits"
            remedy = "drop it, and let the loader pin with `pin_memory=True` where it has workers"
            yield self.finding(facts, source, claim, remedy)
