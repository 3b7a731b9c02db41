"""Optimizers built before their model moves."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import AnyCall, Call, Within, calls
from accel_advisor.records.facts import Facts
from accel_advisor.records.given import Module
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule, also_at

EAGER = Call("torch.optim.Adagrad")
_SHARDS = calls("torch.distributed.fsdp.fully_shard", "torch.distributed.fsdp.FullyShardedDataParallel")


class OptimizerBeforeMove(Rule):
    """An optimizer gets its state on the host, and the model moves to the GPU after it.

    What it does
        Finds `Adagrad(model.parameters())`, and `optimizer.load_state_dict(...)` of any optimizer, before the model is
        moved with `.cuda()` or `.to(device)`; and any optimizer that is built before FSDP shards the model.

    Why it costs time
        The state lives where the parameters lived when it was made or loaded, and does not move with them: `step()`
        raises on a GPU. Other optimizers make their state at the first step and may be built before the move. FSDP
        replaces the parameters themselves, so that an optimizer from before updates what the model no longer uses.

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
        The rule is silent where the optimizer is built again after the move, where its state is moved by hand, where a
        framework relinks it, and where the order of the two is not known.

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
        if any(one.assigns_item for one in facts.transfers):
            return  # the state may be moved by hand
        moves = {one.node for one in facts.transfers if all(context.to_cuda for context in one.contexts)}
        wraps = {one.node for one in facts.operations_of(*_SHARDS) if isinstance(one.node, cst.Call)}
        for index, operation in enumerate(facts.operations):
            model = operation.given("params", 0).parameters_of if operation.builds_optimizer else None
            wrap = self._later(facts, index, model, wraps)
            if wrap is not None:
                yield self._replaced(facts, operation, wrap)
            move = self._later(facts, index, self._with_state(operation), moves)
            if move is not None:
                yield self._left_behind(facts, operation, move)

    def _with_state(self, operation: Operation) -> Module | None:
        """The model whose parameters get state here, where they do."""
        if operation.what is EAGER:
            return operation.given("params", 0).parameters_of
        if operation.does(Within("torch.optim")) and operation.does(AnyCall("load_state_dict")):
            return operation.contexts[0].subject.argument("params", 0).parameters_of
        return None

    def _later(self, facts: Facts, index: int, model: Module | None, nodes: set[cst.Call]) -> Operation | None:
        """The first of some operations that happens to a model for certain after another one, and before an optimizer
        is built anew."""
        first, found = facts.operations[index], None
        if model is None or len(first.contexts) != 1:
            return None
        for operation in facts.operations[index + 1 :]:
            for context in operation.contexts:
                together = context.functions == first.contexts[0].functions and not context.guarded
                subject = context.given("module", 0) if context.subject.absent else context.subject
                if operation.node in nodes and subject.module is model and together:
                    found = found or operation
                anew = operation.does(Within("torch.optim")) and context.given("params", 0).parameters_of is model
                if found and anew:
                    return None
        return found

    def _replaced(self, facts: Facts, operation: Operation, wrap: Operation) -> Finding:
        document = facts.document
        message = (
            f"`{document.code(wrap.node)}` replaces the parameters that `{document.code(operation.node)}` "
            f"holds, so that `step()` updates none of the model's; build the optimizer after it"
        )
        related = [also_at(document, wrap.node, "the parameters are replaced here")]
        return self.finding(facts, operation.node, message, related=related)

    def _left_behind(self, facts: Facts, operation: Operation, move: Operation) -> Finding:
        document = facts.document
        message = (
            f"`{document.code(operation.node)}` puts the optimizer's state where the model is now, and "
            f"`{document.code(move.node)}` moves the model away from it, so that `step()` raises on a GPU; move "
            f"the model first"
        )
        related = [also_at(document, move.node, "the model moves here")]
        return self.finding(facts, operation.node, message, related=related)
