"""Checkpointed models whose graph never changes."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import Call, calls
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.models.class_code import may_change
from accel_advisor.rule import Rule

_SINCE = (1, 11)
_CHECKPOINTS = calls("torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential")


class DdpStaticGraph(Rule):
    """DistributedDataParallel of a checkpointed model does not know that its graph never changes.

    What it does
        Finds DistributedDataParallel without `static_graph` in a program that uses activation checkpointing.

    Why it costs time
        With `static_graph=True` the wrapper learns the order of the gradients in the first step and relies on it: it
        needs no search for unused parameters, and works with reentrant checkpointing, which otherwise raises when a
        parameter is used twice.

    Example
        import torch
        from torch import nn
        from torch.nn.parallel import DistributedDataParallel
        from torch.utils.checkpoint import checkpoint

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(8, 2)
            def forward(self, x):
                return checkpoint(self.layer, x, use_reentrant=False)

        torch.distributed.init_process_group("gloo")
        model = DistributedDataParallel(Net())

    Use instead
        import torch
        from torch import nn
        from torch.nn.parallel import DistributedDataParallel
        from torch.utils.checkpoint import checkpoint

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(8, 2)
            def forward(self, x):
                return checkpoint(self.layer, x, use_reentrant=False)

        torch.distributed.init_process_group("gloo")
        model = DistributedDataParallel(Net(), static_graph=True)

    When to ignore it
        Where the graph differs from step to step: another set of parameters is used, or used another number of times.
        The rule is silent where the model has branches, where unused parameters are looked for, and where torch is
        pinned before 1.11.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
    """

    code = "ACC507"
    name = "ddp-static-graph"
    severity = Severity.INFO
    enabled = False

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each wrapper once."""
        if not facts.supports(_SINCE) or not facts.does(*_CHECKPOINTS):
            return
        for operation in facts.operations_of(Call("torch.nn.parallel.DistributedDataParallel")):
            model = operation.given("module", 0).module
            unused = not operation.lacks("find_unused_parameters") and not operation.gives(
                "find_unused_parameters", False
            )
            if operation.lacks("static_graph") and not unused and (model is None or not may_change(model)):
                claim = (
                    f"`{facts.document.code(operation.node)}` wraps a checkpointed model without knowing that its "
                    "graph stays the same"
                )
                remedy = "pass `static_graph=True` if it does"
                yield self.finding(facts, operation.node, claim, remedy, since=_SINCE)
