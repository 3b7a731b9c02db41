"""ACC308."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from accel_advisor.finding import Finding, Related, Severity
from accel_advisor.rule import Rule
from accel_advisor.semantics.facts import Facts
from accel_advisor.semantics.operations import Operation
from accel_advisor.semantics.values import Module, Opaque, Value

EAGER = frozenset({"torch.optim.Adagrad"})


class OptimizerBeforeMove(Rule):
    """An optimizer gets its state on the host, and the model moves to the GPU after it.

    What it does
        Finds `Adagrad(model.parameters())`, and `optimizer.load_state_dict(...)` of any optimizer, before the model is
        moved with `.cuda()` or `.to(device)`.

    Why it costs time
        The state lives where the parameters lived when it was made or loaded, and does not move with them: `step()`
        raises on a GPU. Other optimizers make their state at the first step and may be built before the move.

    Example
        import torch
        from torch import nn

        model = nn.Linear(8, 2)
        optimizer = torch.optim.Adagrad(model.parameters())
        model.cuda()

    Use instead
        import torch
        from torch import nn

        model = nn.Linear(8, 2)
        model.cuda()
        optimizer = torch.optim.Adagrad(model.parameters())

    When to ignore it
        The rule is silent where the optimizer is built again after the move, where a framework relinks it, and where
        the order of the two is not known.

    References
        - https://docs.pytorch.org/docs/stable/optim.html#constructing-it
    """

    code = "ACC308"
    name = "optimizer-before-move"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each optimizer once, where it is built or loaded."""
        if facts.frameworks:
            return
        moves = {one.node for one in facts.transfers if all("cuda" in context.kinds for context in one.contexts)}
        for index, operation in enumerate(facts.operations):
            model = self._has_state(operation)
            if model is None:
                continue
            move = self._moved_later(facts.operations[index + 1 :], operation, model, moves)
            if move is not None:
                yield self._report(facts, operation, move)

    def _has_state(self, operation: Operation) -> Module | None:
        """The model whose parameters get state here, where they do."""
        if len(operation.contexts) != 1:
            return None
        context = operation.contexts[0]
        if operation.name in EAGER:
            return _model_of(context.get("params", 0))
        if operation.name.startswith("torch.optim.") and operation.name.endswith(".load_state_dict"):
            optimizer = context.receiver
            given = dict(optimizer.keywords).get("params") if isinstance(optimizer, Opaque) else None
            if isinstance(optimizer, Opaque) and optimizer.arguments:
                given = optimizer.arguments[0]
            return _model_of(given)
        return None

    def _moved_later(
        self, later: list[Operation], first: Operation, model: Module, moves: set[cst.Call]
    ) -> Operation | None:
        found = None
        for operation in later:
            for context in operation.contexts:
                together = context.functions == first.contexts[0].functions and not context.guarded
                if operation.node in moves and context.receiver is model and together:
                    found = found or operation
                if found and operation.name.startswith("torch.optim.") and _model_of(context.get("params", 0)) is model:
                    return None
        return found

    def _report(self, facts: Facts, operation: Operation, move: Operation) -> Finding:
        document = facts.document
        message = (
            f"`{document.code(operation.node)}` puts the optimizer's state where the model is now, and "
            f"`{document.code(move.node)}` moves the model away from it, so that `step()` raises on a GPU; move "
            f"the model first"
        )
        related = [Related(document.filename, document.span(move.node), "the model moves here")]
        return self.finding(facts, operation.node, message, related=related)


def _model_of(value: Value | None) -> Module | None:
    if isinstance(value, Opaque) and value.name == "module.parameters" and isinstance(value.arguments[0], Module):
        return value.arguments[0]
    return None
