"""Optimizers that update parameters one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import Call, Within, any_calls, calls
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule, drop_argument

_SPARES = (
    *calls("torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential"),
    *any_calls("gradient_checkpointing_enable", "FullyShardedDataParallel", "fully_shard"),
    *calls("torch.cuda.set_per_process_memory_fraction", "torch.autograd.graph.save_on_cpu"),
)
"""What programs do that are short of memory."""
_SINCE = (2, 0)
_MEMORY = re.compile(r"#.*(?:\bmem|\boom\b)", re.IGNORECASE)


class OptimizerForeachFalse(Rule):
    """An optimizer is set to update parameters one by one.

    What it does
        Finds optimizers of torch with a literal `foreach=False` and without `fused=True`, in programs that use CUDA.

    Why it costs time
        On CUDA the default treats all parameters in a few launches. With `foreach=False` a loop in Python launches
        several kernels for each parameter. That weighs the more, the smaller the parameters are: with large ones (24
        linear layers of 2,048, AdamW) steps took 1.03 times as long on an H200 (docs/costs.md).

    Example
        import torch
        from torch import nn

        model = nn.Linear(8, 2).cuda()
        optimizer = torch.optim.RMSprop(model.parameters(), foreach=False)

    Use instead
        import torch
        from torch import nn

        model = nn.Linear(8, 2).cuda()
        optimizer = torch.optim.RMSprop(model.parameters())

    When to ignore it
        Where memory is short: the default needs temporary tensors as large as the parameters. The rule is silent in
        programs that show it (checkpoints of activations, FSDP), and where a comment beside the argument or above it
        mentions memory.

    Fix safety
        Unsafe: it takes more memory at each step.

    References
        - https://docs.pytorch.org/docs/stable/optim.html#algorithms
    """

    code = "ACC416"
    name = "optimizer-foreach-false"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each optimizer once."""
        if not facts.supports(_SINCE) or not facts.names_gpu_anywhere or facts.does(*_SPARES):
            return
        for operation in facts.operations_of(Within("torch.optim")):
            last = operation.what.name
            if operation.what is not Call(f"torch.optim.{last}") or not last[:1].isupper():
                continue
            if not operation.gives("foreach", False):
                continue
            if not operation.lacks("fused") and not operation.gives("fused", False):
                continue
            if self._is_explained(facts, operation):
                continue
            claim = f"`foreach=False` makes `{last}` launch several kernels for every single parameter"
            remedy = "drop it, unless memory is short"
            fix = drop_argument(facts.document, operation.node, "foreach", shown="foreach=False")
            yield self.finding(facts, operation.node, claim, remedy, fix=fix, since=_SINCE)

    def _is_explained(self, facts: Facts, operation: Operation) -> bool:
        """Whether a comment beside the argument, or above it or the call, mentions memory."""
        document, argument = facts.document, operation.contexts[0].argument("foreach")
        rows = {document.span(operation.node).start.row}
        if argument is not None and argument.node is not None:
            rows.add(document.span(argument.node).start.row)
        return any(_MEMORY.search(text) for row in rows for text in (document.line(row), document.comment_above(row)))
