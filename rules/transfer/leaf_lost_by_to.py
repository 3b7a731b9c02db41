"""ACC206."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.rule import Rule
from accel_advisor.semantics.catalog import TENSOR_FACTORIES
from accel_advisor.semantics.devices import device_kinds
from accel_advisor.semantics.edits import add_keyword
from accel_advisor.semantics.facts import Facts
from accel_advisor.semantics.operations import Operation
from accel_advisor.semantics.values import Constant

PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})


class LeafLostByTo(Rule):
    """A parameter, or a tensor that requires gradients, is moved as it is made: what is kept is no leaf.

    What it does
        Finds `nn.Parameter(...).to(device)` and `torch.zeros(..., requires_grad=True).to(device)`, or `.cuda()`.

    Why it costs time
        It costs correctness: the move is an operation that autograd records, and its result is an ordinary tensor. A
        module does not register it, an optimizer refuses it, and the gradients end in the leaf that nobody holds.
        Where the device is the CPU the move does nothing, so that the fault shows on a GPU only.

    Example
        import torch

        w = torch.zeros(8, requires_grad=True).cuda()
        w.sum().backward()

    Use instead
        import torch

        w = torch.zeros(8, requires_grad=True, device="cuda")
        w.sum().backward()

    When to ignore it
        The rule is silent where the device is the host, and where the program calls `retain_grad()`, which is for
        tensors that are no leaves on purpose.

    Fix safety
        Unsafe: what is trained changes, as it surely was meant to. A `Parameter` is not rewritten: it should be made
        without the move, and its module be moved as a whole.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_leaf.html
    """

    code = "ACC206"
    name = "leaf-lost-by-to"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each move once."""
        if facts.does(".retain_grad"):
            return
        made = {one.node: one for one in facts.operations if one.name in PARAMETERS or one.name in TENSOR_FACTORIES}
        targets = {one.node: one for one in facts.transfers}
        for move in facts.operations:
            call = move.node
            if not isinstance(call, cst.Call) or not move.name.endswith((".to", ".cuda")) or move.discarded:
                continue
            leaf = made.get(call.func.value) if isinstance(call.func, cst.Attribute) else None
            if leaf is None or leaf.node is call or not self._is_leaf(leaf):
                continue
            transfer = targets.get(call)
            if transfer is not None:
                if all("cuda" in context.kinds for context in transfer.contexts):
                    device = '"cuda"' if transfer.device is None else facts.document.code(transfer.device)
                    yield self._report(facts, call, leaf, device)
            elif leaf.name in PARAMETERS and not self._stays(move):
                yield self._report(facts, call, leaf, None)

    def _is_leaf(self, leaf: Operation) -> bool:
        if leaf.name in PARAMETERS:
            return True
        given = [context.get("requires_grad") for context in leaf.contexts]
        return all(isinstance(one, Constant) and one.value is True for one in given)

    def _stays(self, move: Operation) -> bool:
        target = [context.get("device", 0) for context in move.contexts]
        if move.name.endswith(".cuda"):
            return False
        return not all("cuda" in device_kinds(one) for one in target)

    def _report(self, facts: Facts, call: cst.Call, leaf: Operation, device: str | None) -> Finding:
        document = facts.document
        what = "Parameter" if leaf.name in PARAMETERS else "tensor that requires gradients"
        remedy = "leave the move out, and move the module as a whole"
        fix = None
        if leaf.name not in PARAMETERS and device is not None:
            remedy = f"pass `device={device}` to the factory"
            assert isinstance(leaf.node, cst.Call)
            edit = add_keyword(document, leaf.node, "device", device)
            if edit is not None and len(call.args) <= 1:
                start, end = document.span(leaf.node).end.offset, document.span(call).end.offset
                edits = (edit, document.edit(start, end, ""))
                fix = Fix(f"Create it with `device={device}`", edits, Applicability.UNSAFE)
        message = (
            f"`{document.code(call)}` keeps a copy of a {what}: the copy is no leaf, is not registered and is never "
            f"trained; {remedy}"
        )
        return self.finding(facts, call, message, fix=fix)
