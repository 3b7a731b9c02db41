"""Moves and casts of tensors whose result is thrown away."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from accel_advisor.finding import Applicability, Finding, Fix, Frequency, Severity
from accel_advisor.records.actions import Action, AnyCall, Call, Method
from accel_advisor.records.clock import CLOCKS
from accel_advisor.records.facts import Facts, Transfer
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule, replace_node

CASTS: dict[Action, str] = {
    Method("Tensor", "half"): "torch.float16",
    Method("Tensor", "bfloat16"): "torch.bfloat16",
    Method("Tensor", "double"): "torch.float64",
}


class DiscardedToResult(Rule):
    """A tensor is moved, and the moved tensor is thrown away.

    What it does
        Finds `x.to(device)`, `x.cuda()`, `x.half()` and the like as statements of their own where `x` is a tensor.

    Why it costs time
        `Module.to` moves a module in place, `Tensor.to` does not: it returns a new tensor and leaves the old one where
        it was. The copy is made and lost, and what follows runs on the host or fails because the devices differ.

    Example
        import torch

        x = torch.randn(4, 8)
        x.to("cuda")
        print(x.mean())

    Use instead
        import torch

        x = torch.randn(4, 8)
        x = x.to("cuda")
        print(x.mean())

    When to ignore it
        The rule reports only where the receiver is proven to be a tensor. Modules, `BatchEncoding` and graph batches,
        which move in place, are left alone, and so is a tensor that has no name: `torch.zeros(1).cuda()` starts CUDA.
        In a program that synchronizes and reads the clock it reports batches only: another copy may be timed.

    Fix safety
        Unsafe: the program then computes on the device that the discarded move asked for, as it surely was meant to.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html
    """

    code = "ACC207"
    name = "discarded-to-result"
    severity = Severity.ERROR
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each discarded move once."""
        measures = facts.does(AnyCall("synchronize")) and facts.does(*CLOCKS, Call("torch.cuda.Event"))
        for transfer in facts.transfers:
            discarded = transfer.discarded and _is_kept(transfer.node)
            if discarded and transfer.method in ("to", "cuda") and self._moves_a_tensor(transfer):
                if measures and all(context.loader is None for context in transfer.contexts):
                    continue  # the copy itself may be what is measured
                yield self._report(facts, transfer.node, "stays where it is")
        for operation in facts.operations_of(*CASTS):
            discarded = operation.discarded and _is_kept(operation.node) and self._changes(operation)
            if discarded and all(context.subject.is_plain_tensor for context in operation.contexts):
                assert isinstance(operation.node, cst.Call)
                yield self._report(facts, operation.node, "keeps its dtype")

    def _changes(self, operation: Operation) -> bool:
        """Whether a cast gives another dtype than the tensor is known to have."""
        births = [context.subject.born for context in operation.contexts]
        return all(born is None or born.dtype != CASTS[operation.what] for born in births)

    def _moves_a_tensor(self, transfer: Transfer) -> bool:
        return bool(transfer.contexts) and all(
            context.moved.is_tensor and context.proven and not context.stays for context in transfer.contexts
        )

    def _report(self, facts: Facts, call: cst.Call, fate: str) -> Finding:
        document = facts.document
        assert isinstance(call.func, cst.Attribute)
        receiver = document.code(call.func.value)
        code = document.code(call)
        message = (
            f"`{code}` returns a new tensor, which is thrown away: `{receiver}` {fate}; write `{receiver} = {code}`"
        )
        fix = None
        if isinstance(call.func.value, (cst.Name, cst.Attribute)):
            edit = replace_node(document, call, f"{receiver} = {code}")
            fix = Fix(f"Assign the result to `{receiver}`", (edit,), Applicability.UNSAFE)
        return self.finding(facts, call, message, fix=fix)


def _is_kept(node: cst.CSTNode) -> bool:
    """Whether the receiver of a method is still there after the call."""
    kinds = (cst.Name, cst.Attribute, cst.Subscript)
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and isinstance(node.func.value, kinds)
