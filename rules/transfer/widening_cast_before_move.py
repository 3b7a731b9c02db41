"""Casts to a larger dtype before the copy to the GPU."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import Action, Method
from accel_advisor.records.facts import Facts, Transfer
from accel_advisor.records.operations import Operation, OperationContext
from accel_advisor.rule import Node, Rule, replace_node

BYTES = {
    "torch.uint8": 1,
    "torch.int8": 1,
    "torch.bool": 1,
    "torch.int16": 2,
    "torch.float16": 2,
    "torch.half": 2,
    "torch.bfloat16": 2,
    "torch.int32": 4,
    "torch.float32": 4,
    "torch.float": 4,
    "torch.int64": 8,
    "torch.long": 8,
    "torch.float64": 8,
    "torch.double": 8,
}
CASTS: dict[Action, int] = {
    Method("Tensor", "float"): 4,
    Method("Tensor", "double"): 8,
    Method("Tensor", "long"): 8,
    Method("Tensor", "int"): 4,
}


class WideningCastBeforeMove(Rule):
    """A tensor is made larger by a cast on the host, and copied to the GPU after it.

    What it does
        Finds `x.float().cuda()` and the like where `x` has fewer bytes an element than the cast gives it.

    Why it costs time
        Images of bytes are a quarter of what they are as floats: the copy takes four times as long, and the host does
        a cast that the GPU would do in passing. The result of the cast is not in pinned memory either.

    Example
        import torch

        x = torch.zeros(4, 3, 8, 8, dtype=torch.uint8)
        x = x.float().cuda()

    Use instead
        import torch

        x = torch.zeros(4, 3, 8, 8, dtype=torch.uint8)
        x = x.cuda().float()

    When to ignore it
        The rule is silent where the dtype is not known, and where the cast makes the tensor smaller, which belongs
        before the copy.

    Fix safety
        Unsafe: the copy on the device and its cast both take memory there for a moment.

    References
        - https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html
    """

    code = "ACC213"
    name = "widening-cast-before-move"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each move once."""
        casts: dict[Node | None, Operation] = {one.node: one for one in facts.operations_of(*CASTS)}
        for transfer in facts.transfers:
            cast = casts.get(transfer.receiver)
            if cast is None or transfer.method not in ("to", "cuda") or not transfer.contexts:
                continue
            width = CASTS[cast.what]
            moves = all(one.to_cuda and not one.casts for one in transfer.contexts)
            if moves and cast.contexts and all(self._narrow(one, width) for one in cast.contexts):
                yield self._report(facts, transfer, cast)

    def _narrow(self, context: OperationContext, width: int) -> bool:
        born = context.subject.born
        return born is not None and context.subject.on_host and BYTES.get(born.dtype or "", width) < width

    def _report(self, facts: Facts, move: Transfer, cast: Operation) -> Finding:
        document = facts.document
        assert cast.receiver is not None
        source, inner, whole = document.code(cast.receiver), document.code(cast.node), document.code(move.node)
        turned = f"{source}{whole.removeprefix(inner)}{inner.removeprefix(source)}"
        claim = f"`{whole}` makes the tensor larger and then copies it"
        remedy = f"write `{turned}`, which copies fewer bytes and casts on the GPU"
        fix = Fix("Copy first, then cast", (replace_node(document, move.node, turned),), Applicability.UNSAFE)
        return self.finding(facts, move.node, claim, remedy, fix=fix)
