"""Activation checkpointing without saying which implementation."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import calls
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule, pass_argument

_SINCE = (2, 0)
_CHECKPOINTS = calls("torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential")


class CheckpointUseReentrant(Rule):
    """Activation checkpointing is used without saying which of its two implementations.

    What it does
        Finds calls of `torch.utils.checkpoint.checkpoint` and `checkpoint_sequential` without `use_reentrant`.

    Why it costs time
        It warns, and takes the reentrant implementation, which runs the whole segment again even where part of it would
        do, and whose output silently has no gradient where no input of the segment requires one: its parameters then
        do not learn. `use_reentrant=False` has neither fault and is what torch recommends.

    Example
        import torch
        from torch import nn
        from torch.utils.checkpoint import checkpoint

        block = nn.Linear(8, 8)
        y = checkpoint(block, torch.zeros(4, 8))

    Use instead
        import torch
        from torch import nn
        from torch.utils.checkpoint import checkpoint

        block = nn.Linear(8, 8)
        y = checkpoint(block, torch.zeros(4, 8), use_reentrant=False)

    When to ignore it
        Where the segment relies on what only the reentrant one does: say so with `use_reentrant=True`. Where an option
        asks for checkpoints, it is `info`, and shown by `--minor` alone.

    Fix safety
        Unsafe: segments that change state as they run, or that some DDP and FSDP set-ups wrap, may behave otherwise.

    References
        - https://docs.pytorch.org/docs/stable/checkpoint.html
    """

    code = "ACC413"
    name = "checkpoint-use-reentrant"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        if not facts.supports(_SINCE):
            return
        for operation in facts.operations_of(*_CHECKPOINTS):
            if not operation.lacks("use_reentrant"):
                continue
            claim = (
                f"`{operation.what.name}(...)` does not pass `use_reentrant`, so it warns and takes the reentrant "
                "implementation, whose output has no gradient where no input requires one"
            )
            remedy = "pass `use_reentrant=False`"
            fix = pass_argument(operation, "use_reentrant", "False")
            optional = any(one.is_choice for context in operation.contexts for one in context.conditions)
            level = Severity.INFO if optional else Severity.WARNING
            yield self.finding(
                facts, operation.node, claim, remedy, severity=level, fix=fix, since=_SINCE, minor=optional
            )
