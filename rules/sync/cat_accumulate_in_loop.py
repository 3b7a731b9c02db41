"""Results joined to a growing tensor at every step."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import calls
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.steps.repeated_copies import grown_by
from accel_advisor.rule import Rule


class CatAccumulateInLoop(Rule):
    """Results are joined to a growing tensor at every step.

    What it does
        Finds `kept = torch.cat([kept, out])` in the loop over a loader.

    Why it costs time
        Every step allocates a new tensor and copies everything that was kept so far: the work grows with the square of
        the number of steps. A list keeps the parts, and one `torch.cat` behind the loop joins them.

    Example
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        kept = torch.zeros(0, 8)
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16):
            kept = torch.cat([kept, x * 2])
        print(kept)

    Use instead
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        parts = []
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16):
            parts.append(x * 2)
        kept = torch.cat(parts)
        print(kept)

    When to ignore it
        The rule is silent where a step needs the whole tensor, or resets it, and where the loop may end after a few
        batches (`break`, `islice`). It is about loops over loaders only, where no condition decides about the call.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.cat.html
    """

    code = "ACC216"
    name = "cat-accumulate-in-loop"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        for operation in facts.operations_of(*calls("torch.cat", "torch.concat", "torch.hstack", "torch.vstack")):
            grown = grown_by(operation) if operation.at_every_step else None
            holder = facts.document.code(grown) if grown is not None else ""
            if holder and self._only_grows(facts, operation, holder):
                claim = f"`{holder}` is copied whole at every step, which is quadratic in their number"
                remedy = f"append to a list and call `{operation.what.full}` once behind the loop"
                yield self.finding(facts, operation.node, claim, remedy)

    def _only_grows(self, facts: Facts, operation: Operation, holder: str) -> bool:
        """Whether there are many passes, and none needs what is kept, or resets it."""
        loops, besides = [one.loop for one in operation.contexts if one.loop is not None], operation.statement
        return all(
            loop.holds(facts.document, operation.node)
            and not loop.may_be_short
            and not loop.reads(holder, besides)
            and not loop.renews(holder, besides)
            for loop in loops
        )
