"""Gradient scalers that raise, do nothing or train wrongly."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import AnyCall, Method, calls
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.scalers import halving_before, hands_scaler_over, is_always_on, scaler_calls
from accel_advisor.rule import Rule, pass_argument


class GradScalerMisuse(Rule):
    """A GradScaler is used in a way that raises, does nothing or trains wrongly.

    What it does
        Finds four habits: a scaler for a model whose own parameters are float16; `scaler.step(...)` in a loop without
        `scaler.update()`; `loss.backward()` without `scaler.scale(loss)` before `scaler.step(...)`; and a scaler for
        bfloat16, which needs none.

    Why it costs time
        The first raises "Attempting to unscale FP16 gradients", the second "step() has already been called". The third
        divides gradients by a scale that nobody multiplied them with. The fourth works and wastes a pass over all
        gradients and a wait for the device in each step.

    Example
        import torch
        from torch import nn

        model = nn.Linear(8, 2).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cuda")
        for step in range(100):
            optimizer.zero_grad()
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = model(torch.randn(4, 8, device="cuda")).sum()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()

    Use instead
        import torch
        from torch import nn

        model = nn.Linear(8, 2).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cuda", enabled=False)
        for step in range(100):
            optimizer.zero_grad()
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = model(torch.randn(4, 8, device="cuda")).sum()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()

    When to ignore it
        The rule is silent where `enabled` is given, where the dtype is chosen at run time, and where the scaler is
        given to a library, which may scale and update.

    Fix safety
        Unsafe: bfloat16 gradients are no longer scaled, which may change their last bits, and steps with infinite
        gradients are no longer skipped. The other three habits have no fix.

    References
        - https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling
    """

    code = "ACC405"
    name = "gradscaler-misuse"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each habit at the call that shows it."""
        if hands_scaler_over(facts):
            return
        steps = [one for one in scaler_calls(facts, "step") if is_always_on(facts, one)]
        for step in steps:
            yield from self._half_parameters(facts, step)
            yield from self._no_update(facts, step)
        yield from self._unscaled(facts, steps)
        yield from self._bfloat16(facts)

    def _half_parameters(self, facts: Facts, step: Operation) -> Iterator[Finding]:
        cast = halving_before(facts, step)
        if cast is not None:
            message = (
                f"`{facts.document.code(cast.node)}` makes the parameters float16, whose gradients the scaler refuses "
                f"to unscale, so that `{facts.document.code(step.node)}` raises ValueError; leave them in float32 "
                f"under autocast"
            )
            yield self.finding(facts, cast.node, message)

    def _no_update(self, facts: Facts, step: Operation) -> Iterator[Finding]:
        in_loop = all(context.inner is not None for context in step.contexts)
        if in_loop and not facts.does(AnyCall("update")):
            code = facts.document.code(step.node)
            message = (
                f"`{code}` is never followed by `update()`, so that the second one raises RuntimeError and the scale "
                f"never adapts; call `update()` after it"
            )
            yield self.finding(facts, step.node, message)

    def _unscaled(self, facts: Facts, steps: list[Operation]) -> Iterator[Finding]:
        if facts.does(AnyCall("scale")):
            return
        for backward in facts.operations_of(Method("Tensor", "backward"), Method("?", "backward")):
            step = next((one for one in steps if one.runs_with(backward)), None)
            if step is not None:
                message = (
                    f"`{facts.document.code(backward.node)}` does not scale the loss, and "
                    f"`{facts.document.code(step.node)}` divides its gradients by the scale, so that the updates are "
                    f"far too small; call `backward()` on what the scaler's `scale` returns"
                )
                yield self.finding(facts, backward.node, message, severity=Severity.WARNING)

    def _bfloat16(self, facts: Facts) -> Iterator[Finding]:
        casts = facts.program.operations_of(AnyCall("autocast"))
        if not casts or not all(one.given("dtype", 1).named == "torch.bfloat16" for one in casts):
            return
        scales = scaler_calls(facts, "scale")
        if not scales or not all(is_always_on(facts, one) for one in scales):
            return
        for operation in facts.operations_of(*calls("torch.amp.GradScaler", "torch.cuda.amp.GradScaler")):
            if not operation.lacks("enabled"):
                continue
            message = (
                f"`{facts.document.code(operation.node)}` scales the loss for bfloat16, which has the range of float32 "
                f"and needs no scaling: each step pays a pass over the gradients and a wait; pass `enabled=False`"
            )
            fix = pass_argument(operation, "enabled", "False")
            yield self.finding(facts, operation.node, message, severity=Severity.INFO, fix=fix)
