"""Weights of a loss on the host, for outputs on the GPU."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import Action, Call
from accel_advisor.records.facts import Facts, ModuleCall, ModuleCallContext
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Node, Rule, also_at

_LOSSES = ("CrossEntropyLoss", "NLLLoss", "BCELoss", "BCEWithLogitsLoss", "MultiLabelSoftMarginLoss")
_FUNCTIONS = ("cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits")
_WEIGHTED: dict[Action, int] = {
    **{Call(f"torch.nn.{name}"): 0 for name in _LOSSES},
    **{Call(f"torch.nn.functional.{name}"): 2 for name in _FUNCTIONS},
}
"""Losses that take ``weight``, and at which position: first, or after the input and the target."""


class LossWeightOnCpu(Rule):
    """The class weights of a loss are on the host, and the outputs that they weigh are on the GPU.

    What it does
        Finds `nn.CrossEntropyLoss(weight=...)`, `nn.BCEWithLogitsLoss(pos_weight=...)` and their functions, where the
        weights were made on the host, the loss is never moved, and it is called on the output of a model on the GPU.

    Why it costs time
        On the CPU the code runs; on a GPU it raises "Expected all tensors to be on the same device".

    Example
        import torch
        from torch import nn

        model = nn.Linear(8, 2).cuda()
        criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0]))
        x = torch.zeros(4, 8, device="cuda")
        y = torch.zeros(4, dtype=torch.long, device="cuda")
        criterion(model(x), y).backward()

    Use instead
        import torch
        from torch import nn

        model = nn.Linear(8, 2).cuda()
        criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0])).cuda()
        x = torch.zeros(4, 8, device="cuda")
        y = torch.zeros(4, dtype=torch.long, device="cuda")
        criterion(model(x), y).backward()

    When to ignore it
        The rule is silent where the weights or the loss are moved, where the loss is part of a module, and where a
        framework moves things.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html
    """

    code = "ACC307"
    name = "loss-weight-on-cpu"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loss once, at the weights."""
        if facts.frameworks:
            return
        built = {one.node: one for one in facts.operations_of(*_WEIGHTED)}
        seen: set[Node] = set()
        for call in facts.module_calls:
            if not call.loss or call.framework or not call.contexts:
                continue
            module = call.contexts[0].model
            source = built.get(module.node if module is not None else call.node)
            weights = self._on_host(source) if source is not None else None
            if weights is not None and weights not in seen and all(map(self._on_gpu, call.contexts)):
                seen.add(weights)
                yield self._report(facts, weights, call)

    def _on_host(self, source: Operation) -> Node | None:
        for name, position in (("weight", _WEIGHTED[source.what]), ("pos_weight", None)):
            given = [context.argument(name, position) for context in source.contexts]
            places = [one is not None and one.given.on_host and not one.given.is_scalar for one in given]
            first = given[0].expression if given and given[0] is not None else None
            if first is not None and all(places):
                return first
        return None

    def _on_gpu(self, context: ModuleCallContext) -> bool:
        moved = context.model is not None and not context.on_host
        on_gpu = any(output.given.on_accelerator for output in context.arguments[:1])
        return on_gpu and not moved and not context.escaped

    def _report(self, facts: Facts, weights: Node, call: ModuleCall) -> Finding:
        document = facts.document
        use = document.code(call.node)
        claim = f"`{document.code(weights)}` is on the host, and `{use}` applies it to outputs on the GPU, which raises"
        remedy = "move the weights, or the loss as a whole, to the same device"
        related = [also_at(document, call.node, "the loss is computed here")]
        return self.finding(facts, weights, claim, remedy, related=related)
