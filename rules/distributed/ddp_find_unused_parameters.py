"""ACC504."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from accel_advisor.finding import Finding, Severity
from accel_advisor.rule import Rule
from accel_advisor.semantics.facts import Facts
from accel_advisor.semantics.operations import Operation
from accel_advisor.semantics.syntax import decides, methods_of, names_read_in
from accel_advisor.semantics.values import Constant, Module


class DdpFindUnusedParameters(Rule):
    """DistributedDataParallel looks for unused parameters of a model that always uses the same ones.

    What it does
        Finds `find_unused_parameters=True` for a model whose `forward` has no branches.

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
        without it. The rule is silent about models with branches, about models that it does not see whole, about frozen
        parameters, and where `static_graph=True` is given.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
    """

    code = "ACC504"
    name = "ddp-find-unused-parameters"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each wrapper once."""
        if facts.does(".requires_grad_", ".requires_grad ="):
            return
        for operation in facts.operations:
            if operation.name != "torch.nn.parallel.DistributedDataParallel":
                continue
            asked = operation.gives("find_unused_parameters", True)
            if asked and not operation.gives("static_graph", True) and self._is_straight(facts, operation):
                message = (
                    "`find_unused_parameters=True` walks the autograd graph once more in every step, but the `forward` "
                    "of this model has no branches; drop it if every parameter is used"
                )
                yield self.finding(facts, operation.node, message)

    def _uses_all(self, facts: Facts, model: Module) -> bool:
        """Whether every part that the model is built from is a layer of torch, and is named in ``forward``."""
        assert model.cls is not None
        methods = methods_of(model.cls.node)
        used = names_read_in(methods["forward"]) if "forward" in methods else frozenset()
        for operation in (operation for one in facts.program for operation in one.named(["Module.attribute ="])):
            for context in operation.contexts:
                if isinstance(context.receiver, Module) and context.receiver.cls is model.cls:
                    part = context.get("value", 0)
                    known = isinstance(part, Constant) or (
                        isinstance(part, Module) and part.kind.startswith("torch.nn.")
                    )
                    if not known or operation.document.code(operation.node) not in used:
                        return False
        return True

    def _is_straight(self, facts: Facts, operation: Operation) -> bool:
        """Whether the model's forward certainly does the same in every step."""
        model = operation.get("module", 0)
        if not isinstance(model, Module) or model.cls is None or len(model.cls.lineage()) > 1:
            return False
        if not self._uses_all(facts, model):
            return False
        methods = methods_of(model.cls.node)
        if not isinstance(methods.get("forward"), cst.FunctionDef) or "?" in model.cls.library_bases():
            return False
        frozen = isinstance(operation.get("requires_grad"), Constant)
        return not frozen and not any(decides(one) for name, one in methods.items() if name != "__init__")
