"""Gradients that DistributedDataParallel keeps twice."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import AnyCall, Call
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule

_SINCE = (1, 7)


class DdpGradientAsBucketView(Rule):
    """DistributedDataParallel keeps every gradient twice.

    What it does
        Finds DistributedDataParallel without `gradient_as_bucket_view`.

    Why it costs time
        Gradients are copied into buckets to be sent, and stay where they were: as much memory again as the gradients
        take, and a copy in every step. With `gradient_as_bucket_view=True` the gradients are views of the buckets.

    Example
        import torch
        from torch import nn
        from torch.nn.parallel import DistributedDataParallel

        torch.distributed.init_process_group("gloo")
        model = DistributedDataParallel(nn.Linear(8, 2))

    Use instead
        import torch
        from torch import nn
        from torch.nn.parallel import DistributedDataParallel

        torch.distributed.init_process_group("gloo")
        model = DistributedDataParallel(nn.Linear(8, 2), gradient_as_bucket_view=True)

    When to ignore it
        Where gradients are detached in place, as some optimizers of other libraries do: views cannot be. The rule is
        silent where the program calls `detach_()`, and where torch is pinned before 1.7.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
    """

    code = "ACC506"
    name = "ddp-gradient-as-bucket-view"
    severity = Severity.INFO
    enabled = False

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each wrapper once."""
        if facts.does(AnyCall("detach_")) or not facts.supports(_SINCE):
            return
        for operation in facts.operations_of(Call("torch.nn.parallel.DistributedDataParallel")):
            if operation.lacks("gradient_as_bucket_view"):
                claim = f"`{facts.document.code(operation.node)}` keeps its gradients and copies of them in buckets"
                remedy = "pass `gradient_as_bucket_view=True`"
                yield self.finding(facts, operation.node, claim, remedy, since=_SINCE)
