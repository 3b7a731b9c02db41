"""Asynchronous copies to MPS, which corrupts them."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import Act
from accel_advisor.records.facts import Facts, Transfer, TransferContext
from accel_advisor.rule import Rule, may_stand_twice, replace_node


class NonBlockingToMps(Rule):
    """A tensor is copied asynchronously to a device that may be MPS, where such copies can corrupt data.

    What it does
        Finds `.to(device, non_blocking=True)` where the device is, or on some machine is, `mps`.

    Why it costs time
        It costs correctness: on MPS the copy may read memory of the host that was given back or reused meanwhile. The
        tensor then holds wrong values, and nothing is raised.

    Example
        import torch

        use_mps = torch.backends.mps.is_available()
        device = torch.device("mps" if use_mps else "cpu")
        x = torch.randn(4, 8)
        x = x.to(device, non_blocking=True)

    Use instead
        import torch

        use_mps = torch.backends.mps.is_available()
        device = torch.device("mps" if use_mps else "cpu")
        x = torch.randn(4, 8)
        x = x.to(device, non_blocking=device.type == "cuda")

    When to ignore it
        The rule is silent where the device cannot be MPS, in a project that does not run on macOS, where
        `non_blocking` is not a literal, where a condition decides about the call, and where the program leaves on some
        kind of device (`if device.type == "mps": return`).

    Fix safety
        Safe where the device is a `torch.device`. Unsafe where it is a string: `str(device).startswith("cuda")` is
        written.

    References
        - https://github.com/pytorch/pytorch/issues/139550
        - https://github.com/huggingface/transformers/pull/43042
    """

    code = "ACC203"
    name = "non-blocking-to-mps"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        if not facts.target.runs_on("macos") or facts.does(Act.EXITS_BY_DEVICE):
            return
        for transfer in facts.transfers:
            if not transfer.asynchronous or transfer.method != "to" or not transfer.contexts:
                continue
            if all(self._goes_to_mps(context) for context in transfer.contexts):
                yield self._report(facts, transfer)

    def _goes_to_mps(self, context: TransferContext) -> bool:
        return "mps" in context.kinds and not context.stays and not context.guarded

    def _report(self, facts: Facts, transfer: Transfer) -> Finding:
        document = facts.document
        device = document.code(transfer.device) if transfer.device is not None else "the device"
        fix = self._fix(facts, transfer)
        remedy = fix.title[0].lower() + fix.title[1:] if fix is not None else "copy without `non_blocking`"
        claim = (
            f"`{document.code(transfer.node)}` copies asynchronously, and `{device}` can be MPS, where that silently "
            "corrupts data"
        )
        return self.finding(facts, transfer.node, claim, remedy, fix=fix)

    def _fix(self, facts: Facts, transfer: Transfer) -> Fix | None:
        given = transfer.keywords.get("non_blocking")
        if given is None or transfer.device is None or not may_stand_twice(transfer.device):
            return None
        device = facts.document.code(transfer.device)
        typed = all(context.device.is_device for context in transfer.contexts)
        expression = f'{device}.type == "cuda"' if typed else f'str({device}).startswith("cuda")'
        edit = replace_node(facts.document, given, expression)
        applicability = Applicability.SAFE if typed else Applicability.UNSAFE
        return Fix(f"Write `non_blocking={expression}`", (edit,), applicability)
