"""Optimizers built before their model moves."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.optimizer_order import replaced_parameters, stranded_states
from accel_advisor.rule import Rule, also_at


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
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each optimizer once, where it is built or loaded."""
        if facts.frameworks:
            return
        if any(one.assigns_item for one in facts.transfers):
            return  # the state may be moved by hand
        code = facts.document.code
        for operation, wrap in replaced_parameters(facts):
            claim = (
                f"`{code(wrap.node)}` replaces the parameters that `{code(operation.node)}` holds, so that `step()` "
                "updates none of the model's"
            )
            remedy, said = "build the optimizer after it", "the parameters are replaced here"
            yield self._early(facts, operation, claim, remedy, wrap, said)
        for operation, move in stranded_states(facts):
            claim = (
                f"`{code(operation.node)}` puts the optimizer's state where the model is now, and `{code(move.node)}` "
                "moves the model away from it, so that `step()` raises on a GPU"
            )
            yield self._early(facts, operation, claim, "move the model first", move, "the model moves here")

    def _early(
        self, facts: Facts, operation: Operation, claim: str, remedy: str, late: Operation, said: str
    ) -> Finding:
        return self.finding(facts, operation.node, claim, remedy, related=[also_at(facts.document, late.node, said)])
