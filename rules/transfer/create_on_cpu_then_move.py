"""Tensors that are filled on the host and moved at once."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from accel_advisor.finding import Applicability, Finding, Fix, Frequency, Severity
from accel_advisor.records.actions import Call, calls
from accel_advisor.records.facts import Facts, Transfer
from accel_advisor.records.operations import Operation, OperationContext
from accel_advisor.records.queries.training_loops import runs_often
from accel_advisor.rule import Rule, make_on_device

EXACT = calls("torch.zeros", "torch.ones", "torch.full", "torch.empty", "torch.eye")
RANDOM = calls("torch.rand", "torch.randn", "torch.randint", "torch.randperm")
STEPPED = calls("torch.arange", "torch.linspace", "torch.logspace")


class CreateOnCpuThenMove(Rule):
    """A tensor is filled on the host and then copied to the device on which it could have been filled.

    What it does
        Finds `torch.zeros(...).to(device)` and the like (`ones`, `full`, `empty`, `eye`, `arange`, `linspace`, `rand`,
        `randn`, `randint`, `randperm`) that are moved where they are made.

    Why it costs time
        The host fills the memory and the program waits while it is copied. The factory fills it on the device when it
        knows which, without a copy. Inside of a loop or of `forward` that is paid at every step.

    Example
        import torch

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        mask = torch.zeros(4, 8).to(device)

    Use instead
        import torch

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        mask = torch.zeros(4, 8, device=device)

    When to ignore it
        The rule is silent about tensors that are made from data (`torch.tensor`, `torch.from_numpy`), which have to be
        copied anyway, about factories with `out`, `generator`, `pin_memory` or `requires_grad`, and where the default
        device is not the host (`torch.set_default_device`, `with device:`).

    Fix safety
        Safe for constant fills and ranges of integers. Unsafe for random tensors, which then come from the device's
        own generator, so that the same seed gives other numbers, and for ranges of floats.

    References
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
    """

    code = "ACC205"
    name = "create-on-cpu-then-move"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each move once."""
        made = {one.node: one for one in facts.operations_of(*EXACT, *RANDOM, *STEPPED)}
        for transfer in facts.transfers:
            func = transfer.node.func
            factory = made.get(func.value) if isinstance(func, cst.Attribute) else None
            if factory is not None and self._moves(transfer) and self._plain(factory):
                yield self._report(facts, transfer, factory)

    def _moves(self, transfer: Transfer) -> bool:
        if transfer.method not in ("to", "cuda") or not transfer.contexts or transfer.discarded:
            return False  # what is thrown away was made to start CUDA, or to measure it
        return all(
            context.from_host and not context.casts and context.kinds != {"cpu"} and context.device.means_device
            for context in transfer.contexts
        )

    def _plain(self, factory: Operation) -> bool:
        unwanted = ("device", "out", "generator", "pin_memory", "requires_grad")
        return all(context.given(name).absent for context in factory.contexts for name in unwanted)

    def _report(self, facts: Facts, transfer: Transfer, factory: Operation) -> Finding:
        document = facts.document
        assert isinstance(factory.node, cst.Call)
        often = all(runs_often(facts, context) for context in factory.contexts)
        device = document.code(transfer.device) if transfer.device is not None else None
        if device is None and not transfer.node.args:
            device = '"cuda"'
        code = document.code(transfer.node)
        message = (
            f"`{code}` fills the tensor on the host and waits for its copy{' at every step' if often else ''}; pass "
            f"`device={device or '...'}` to `{document.code(factory.node.func)}` instead"
        )
        fix = None
        if device is not None:
            edits = make_on_device(document, factory.node, transfer.node, device)
            if edits is not None:
                fix = Fix(f"Create it with `device={device}`", edits, self._applicability(factory))
        severity, frequency = (Severity.WARNING, Frequency.STEP) if often else (Severity.INFO, Frequency.ONCE)
        return self.finding(facts, transfer.node, message, severity=severity, frequency=frequency, fix=fix)

    def _applicability(self, factory: Operation) -> Applicability:
        if factory.what in EXACT or (factory.what is Call("torch.arange") and all(map(_counts, factory.contexts))):
            return Applicability.SAFE
        return Applicability.UNSAFE


def _counts(context: OperationContext) -> bool:
    return all(type(one.literal) is int for one in context.values)
