"""ACC504."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule
from accel_advisor.syntax.shapes import called_for_result, decides, methods_of, names_read_in
from accel_advisor.values.values import Constant, Module

_CUTS = frozenset({"detach", "data", "no_grad", "item", "argmax", "set_grad_enabled"})
"""Names of what no gradient flows through."""


class DdpFindUnusedParameters(Rule):
    """DistributedDataParallel looks for unused parameters of a model that always uses the same ones.

    What it does
        Finds `find_unused_parameters=True` for a model whose `forward` has no branches, and computes one result from
        the outputs of all of its layers.

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
        whole, where no gradient reaches a layer, about frozen parameters, and where `static_graph` is given.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
    """

    code = "ACC504"
    name = "ddp-find-unused-parameters"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each wrapper once."""
        if facts.does(".requires_grad_", ".requires_grad =") or self._freezes_by_name(facts):
            return
        for operation in facts.operations:
            if operation.name != "torch.nn.parallel.DistributedDataParallel":
                continue
            asked = operation.gives("find_unused_parameters", True)
            changes = operation.lacks("static_graph") or operation.gives("static_graph", False)
            if asked and changes and self._is_straight(facts, operation):
                message = (
                    "`find_unused_parameters=True` walks the autograd graph once more in every step, but the `forward` "
                    "of this model has no branches; drop it if every parameter is used"
                )
                yield self.finding(facts, operation.node, message)

    def _uses_all(self, facts: Facts, model: Module) -> bool:
        """Whether every part that the model is built from is a layer of torch whose output goes into the one result
        of ``forward``."""
        assert model.cls is not None
        methods = methods_of(model.cls.node)
        used = called_for_result(methods["forward"]) if "forward" in methods else frozenset()
        for operation in (operation for one in facts.program for operation in one.named(["Module.attribute ="])):
            for context in operation.contexts:
                if isinstance(context.receiver, Module) and context.receiver.cls is model.cls:
                    part = context.get("value", 0)
                    known = isinstance(part, Constant) or (
                        isinstance(part, Module) and part.kind.startswith("torch.nn.")
                    )
                    if not known or (isinstance(part, Module) and _name_of(operation) not in used):
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
        if names_read_in(methods["forward"]) & _CUTS:
            return False
        return not any(decides(one) for name, one in methods.items() if name != "__init__")

    def _freezes_by_name(self, facts: Facts) -> bool:
        return any("requires_grad" in one.document.code(one.node) for one in facts.program.named("setattr"))


def _name_of(operation: Operation) -> str:
    return operation.node.attr.value if isinstance(operation.node, cst.Attribute) else ""
