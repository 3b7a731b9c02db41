"""Times of launches taken for times of GPU work."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.steps.early_reads import timed_launches
from accel_advisor.rule import Rule


class TimingWithoutSync(Rule):
    """The host's clock is read before the GPU has done what is timed.

    What it does
        Finds differences of `time.time()`, `time.perf_counter()` and the like around calls of a model on CUDA, or other
        work there, after which nothing waits for the GPU before the second reading.

    Why it costs time
        Work on the GPU is only queued when a call returns. The difference is how long the host took to launch it,
        not how long it takes, and whatever is concluded from it is wrong.

    Example
        import time

        import torch
        from torch import nn

        model = nn.Linear(8, 2).cuda()
        x = torch.zeros(4, 8, device="cuda")
        start = time.perf_counter()
        model(x)
        print(time.perf_counter() - start)

    Use instead
        import time

        import torch
        from torch import nn

        model = nn.Linear(8, 2).cuda()
        x = torch.zeros(4, 8, device="cuda")
        torch.cuda.synchronize()
        start = time.perf_counter()
        model(x)
        torch.cuda.synchronize()
        print(time.perf_counter() - start)

    When to ignore it
        Where the time to launch is what you want to know. The rule is silent where anything after the work waits for
        the GPU (`.item()`, `.cpu()`, an event), about epochs and about steps that are timed from one to the next, in
        which the last launches do not matter, and with `CUDA_LAUNCH_BLOCKING`. Outside of
        loops it is silent, too, where anything after the work is not known. A finding is minor where each pass of a
        loop waits for the GPU between the readings, and launches more behind that.

    References
        - https://docs.pytorch.org/docs/stable/notes/cuda.html#asynchronous-execution
    """

    code = "ACC217"
    name = "timing-without-sync"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each difference once."""
        for timed in timed_launches(facts):
            code = facts.document.code(timed.operation.node)
            misses = (
                "leaves out what the GPU was given after it was waited for last"
                if timed.waits
                else "is over before the GPU has done what was launched, and tells the time of the launches only"
            )
            claim, minor = f"`{code}` {misses}{timed.basis.clause}", timed.waits and not timed.basis.proven
            remedy = "call `torch.cuda.synchronize()` before each reading of the clock"
            yield self.finding(facts, timed.operation.node, claim, remedy, minor=minor, basis=timed.basis)
