"""Values read before an asynchronous copy has brought them."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.steps.early_reads import early_reads
from accel_advisor.rule import Node, Rule, also_at, drop_argument


class AsyncDeviceToHostRead(Rule):
    """A tensor is copied to the host asynchronously, and read before the copy is done.

    What it does
        Finds `.to("cpu", non_blocking=True)` whose result is read on the host (`.item()`, `.numpy()`, `.tolist()`,
        `.mean()`, `print`, an f-string, arithmetic...) in a program that nowhere waits for the copy, and
        `host.copy_(tensor, non_blocking=True)` where `host` was made with `pin_memory=True`: into other memory the copy
        is waited for.

    Why it costs time
        It costs correctness: towards the host, `non_blocking=True` returns before the bytes have arrived, and what is
        read meanwhile is whatever the memory held. Nothing is raised.

    Example
        import torch
        from torch import nn

        model = nn.Linear(8, 2).cuda()
        out = model(torch.randn(4, 8, device="cuda"))
        host = out.to("cpu", non_blocking=True)
        print(host.mean().item())

    Use instead
        import torch
        from torch import nn

        model = nn.Linear(8, 2).cuda()
        out = model(torch.randn(4, 8, device="cuda"))
        host = out.to("cpu")
        print(host.mean().item())

    When to ignore it
        The rule is silent where the program synchronizes or waits for an event or a stream, where a value of the GPU is
        read in between (`loss.item()`), where the result is only sent back to the device, and where it is returned: the
        caller may wait.

    Fix safety
        Safe: without `non_blocking=True` the call waits for the copy, which is what the read needs.

    References
        - https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html
    """

    code = "ACC202"
    name = "async-device-to-host-read"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each copy once."""
        for copy, read in early_reads(facts):
            yield self._report(facts, copy, read)

    def _report(self, facts: Facts, copy: Node, read: Operation) -> Finding:
        document = facts.document
        claim = (
            f"`{document.code(copy)}` returns before the bytes have arrived, but `{document.code(read.node)}` reads "
            "them at once: wrong values and no error"
        )
        remedy = "drop `non_blocking=True`"
        fix = drop_argument(document, copy, "non_blocking", Applicability.SAFE, shown="non_blocking=True")
        related = [also_at(document, read.node, "it is read here")]
        return self.finding(facts, copy, claim, remedy, fix=fix, related=related)
