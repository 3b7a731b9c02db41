"""`broadcast_buffers`, which torch 2.13 replaced."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.actions import Call
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule


class DdpBroadcastBuffersDeprecated(Rule):
    """DistributedDataParallel is given `broadcast_buffers`, which torch 2.13 replaced by two arguments.

    What it does
        Finds a literal `broadcast_buffers` in a call of DistributedDataParallel, where the project supports no torch
        before 2.13.

    Why it costs time
        It warns, and will be removed. The argument that takes its place, `forward_sync_buffers`, is not the same:
        buffers are still made equal once, when the model is wrapped.

    Example
        import torch
        from torch import nn
        from torch.nn.parallel import DistributedDataParallel

        torch.distributed.init_process_group("gloo")
        model = DistributedDataParallel(nn.Linear(8, 2), broadcast_buffers=False)

    Use instead
        import torch
        from torch import nn
        from torch.nn.parallel import DistributedDataParallel

        torch.distributed.init_process_group("gloo")
        model = DistributedDataParallel(nn.Linear(8, 2), forward_sync_buffers=False)

    When to ignore it
        Where the program must run with a torch before 2.13, which does not know the new argument: the rule is silent if
        the dependencies of the project say so. It is off by default, because most do not say.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
    """

    code = "ACC505"
    name = "ddp-broadcast-buffers-deprecated"
    severity = Severity.INFO
    frequency = Frequency.ONCE
    enabled = False

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each wrapper once."""
        if facts.allows_before((2, 13)):
            return
        for operation in facts.operations_of(Call("torch.nn.parallel.DistributedDataParallel")):
            given = operation.given("broadcast_buffers").literal
            if isinstance(given, bool):
                remedy = (
                    "drop it, since True is the default"
                    if given
                    else "if buffers may be made equal once at the start, pass `forward_sync_buffers=False`"
                )
                claim = f"`broadcast_buffers={given}` is deprecated since torch 2.13"
                yield self.finding(facts, operation.node, claim, remedy)
