"""Searches for unused parameters in models that use all of theirs."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import AnyCall, AnySets, Call
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.models.class_code import uses_all_parameters
from accel_advisor.rule import Rule


class DdpFindUnusedParameters(Rule):
    """DistributedDataParallel looks for unused parameters of a model that always uses the same ones.

    What it does
        Finds `find_unused_parameters=True` for a model whose `forward` has no branches, but for those that only ask
        whether it has a part (`if self.norm is not None`), and computes one result from the outputs of all its layers.

    Why it costs time
        In every step the whole autograd graph is walked once more, before the backward pass, to find parameters that
        took no part. A model without branches uses the same parameters in each step.

    Example
        import torch
        from torch import nn
        from torch.nn.parallel import DistributedDataParallel

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(8, 2)
            def forward(self, x):
                return self.layer(x)

        torch.distributed.init_process_group("gloo")
        model = DistributedDataParallel(Net(), find_unused_parameters=True)

    Use instead
        import torch
        from torch import nn
        from torch.nn.parallel import DistributedDataParallel

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(8, 2)
            def forward(self, x):
                return self.layer(x)

        torch.distributed.init_process_group("gloo")
        model = DistributedDataParallel(Net())

    When to ignore it
        Where some parameters really take no part: then the backward pass raises "Expected to have finished reduction"
        without it. The rule is silent about models with branches or several results, about models that it does not see
        whole, where no gradient reaches a layer, about frozen parameters, and where `static_graph` is given; a model of
        which nothing is known is for those who ask for it (`--minor`).

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
    """

    code = "ACC504"
    name = "ddp-find-unused-parameters"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each wrapper once."""
        if facts.does(AnyCall("requires_grad_"), AnySets("requires_grad")) or self._freezes_by_name(facts):
            return
        for operation in facts.operations_of(Call("torch.nn.parallel.DistributedDataParallel")):
            asked = operation.gives("find_unused_parameters", True)
            changes = operation.lacks("static_graph") or operation.gives("static_graph", False)
            model = operation.given("module", 0).module
            if asked and changes and (model is None or uses_all_parameters(facts, model)):
                same = ", but the `forward` of this model does the same in each" if model is not None else ""
                claim = f"`find_unused_parameters=True` walks the autograd graph once more in every step{same}"
                remedy = "drop it if every parameter is used"
                yield self.finding(facts, operation.node, claim, remedy, minor=model is None)

    def _freezes_by_name(self, facts: Facts) -> bool:
        named = facts.program.operations_of(Call("setattr"))
        return any(context.given("name", 1).is_literal("requires_grad") for one in named for context in one.contexts)
