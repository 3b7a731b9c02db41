"""ACC206."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import AnyCall, any_calls, calls
from accel_advisor.records.facts import Facts, Transfer
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule, make_on_device

PARAMETERS = calls("torch.nn.Parameter", "torch.nn.parameter.Parameter")
FLOATS = calls(*(f"torch.{name}" for name in ("zeros", "ones", "rand", "randn", "empty", "eye", "linspace")))
"""Factories that make tensors of the default dtype."""
CASTS = {"double": "torch.float64", "half": "torch.float16", "bfloat16": "torch.bfloat16"}
OTHERS = frozenset({*CASTS.values(), "torch.double", "torch.half"})
WITH_MODULE = "leave the move out, and move the module as a whole"


class LeafLostByTo(Rule):
    """A parameter, or a tensor that requires gradients, is moved or cast as it is made: what is kept is no leaf.

    What it does
        Finds `nn.Parameter(...).to(device)` and `torch.zeros(..., requires_grad=True).to(device)`, or `.cuda()`,
        `.double()`, `.half()`, where the result is assigned.

    Why it costs time
        It costs correctness: the move, or the cast, is an operation that autograd records, and its result is an
        ordinary tensor. A module does not register it, an optimizer refuses it, and the gradients end in the leaf that
        nobody holds. Where the device is the CPU a move does nothing, so that the fault shows on a GPU only.

    Example
        import torch

        w = torch.zeros(8, requires_grad=True).cuda()
        w.sum().backward()

    Use instead
        import torch

        w = torch.zeros(8, requires_grad=True, device="cuda")
        w.sum().backward()

    When to ignore it
        The rule is silent where the device is the host or the one that the leaf is made on, about a `Parameter` that
        needs no gradients, and where the program calls `retain_grad()`, which is for tensors that are no leaves on
        purpose.

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
        if facts.does(AnyCall("retain_grad")):
            return
        made = {one.node: one for one in facts.operations if one.makes_tensor or one.what in PARAMETERS}
        targets = {one.node: one for one in facts.transfers}
        for move in facts.operations:
            call = move.node
            if not isinstance(call, cst.Call) or move.assigned is not call:
                continue
            leaf = made.get(call.func.value) if isinstance(call.func, cst.Attribute) else None
            if leaf is None or leaf.node is call or not self._is_leaf(leaf):
                continue
            transfer = targets.get(call)
            dtype = self._cast(facts, made, leaf, move)
            if dtype is not None:
                yield self._report(facts, call, leaf, f"make it with `dtype={dtype}`")
            elif not move.does(*any_calls("to", "cuda")) or not self._from_host(leaf, transfer):
                continue
            elif transfer is not None:
                if all(context.to_cuda for context in transfer.contexts):
                    yield self._moved(facts, call, leaf, transfer)
            elif leaf.what in PARAMETERS and not self._stays(move):
                yield self._report(facts, call, leaf, WITH_MODULE)

    def _moved(self, facts: Facts, call: cst.Call, leaf: Operation, move: Transfer) -> Finding:
        if leaf.what in PARAMETERS:
            return self._report(facts, call, leaf, WITH_MODULE)
        device = '"cuda"' if move.device is None else facts.document.code(move.device)
        return self._report(facts, call, leaf, f"pass `device={device}` to the factory", device)

    def _cast(self, facts: Facts, made: dict[cst.CSTNode, Operation], leaf: Operation, cast: Operation) -> str | None:
        """The dtype that a leaf of the default one is turned into; None where it stays what it is, for all we know."""
        dtype = CASTS.get(cast.what.name)
        if cast.what.name == "to":
            dtype = cast.given("dtype").named or cast.given("dtype", 0).named
        if dtype not in OTHERS or facts.does(*calls("torch.set_default_dtype", "torch.set_default_tensor_type")):
            return None
        if leaf.what in PARAMETERS:
            held = leaf.node.args[0].value if isinstance(leaf.node, cst.Call) and leaf.node.args else None
            leaf = made.get(held, leaf) if held is not None else leaf
        return dtype if leaf.what in FLOATS and leaf.lacks("dtype") else None

    def _is_leaf(self, leaf: Operation) -> bool:
        if leaf.what in PARAMETERS:
            return not leaf.gives("requires_grad", False, 1)
        return all(context.given("requires_grad").is_literal(True) for context in leaf.contexts)

    def _from_host(self, leaf: Operation, move: Transfer | None) -> bool:
        """Whether a leaf is made on the host, for all we know: where it is on the device already, a move returns it."""
        if leaf.what in PARAMETERS:
            held = [context.given("data", 0) for context in leaf.contexts]
            return all(one.on_host for one in held if one.is_tensor)
        return move is None or all(context.from_host for context in move.contexts)

    def _stays(self, move: Operation) -> bool:
        if move.what.name == "cuda":
            return False
        return not all("cuda" in context.given("device", 0).device_kinds for context in move.contexts)

    def _report(self, facts: Facts, call: cst.Call, leaf: Operation, remedy: str, device: str | None = None) -> Finding:
        document = facts.document
        what = "Parameter" if leaf.what in PARAMETERS else "tensor that requires gradients"
        fix = None
        if device is not None:
            assert isinstance(leaf.node, cst.Call)
            edits = make_on_device(document, leaf.node, call, device)
            if edits is not None:
                fix = Fix(f"Create it with `device={device}`", edits, Applicability.UNSAFE)
        message = (
            f"`{document.code(call)}` keeps a copy of a {what}: the copy is no leaf, is not registered and is never "
            f"trained; {remedy}"
        )
        return self.finding(facts, call, message, fix=fix)
