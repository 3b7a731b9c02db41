"""Gradient scalers that raise, do nothing or train wrongly."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import AnyCall
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.scalers import certain_steps, halving_before, needless_scalers, unscaled_backwards
from accel_advisor.rule import Rule, pass_argument


class GradScalerMisuse(Rule):
    """A GradScaler is used in a way that raises, does nothing or trains wrongly.

    What it does
        Finds four habits: a scaler for a model whose own parameters are float16; `scaler.step(...)` in a loop without
        `scaler.update()`; `loss.backward()` without `scaler.scale(loss)` before `scaler.step(...)`; and a scaler for
        bfloat16, which needs none.

    Why it costs time
        The first raises "Attempting to unscale FP16 gradients", the second "step() has already been called". The third
        divides gradients by a scale that they were never multiplied with. The fourth works and wastes a pass over all
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
        code, steps = facts.document.code, certain_steps(facts)
        for step in steps:
            cast = halving_before(facts, step)
            if cast is not None:
                claim = (
                    f"`{code(cast.node)}` makes the parameters float16, whose gradients the scaler refuses to unscale, "
                    f"so that `{code(step.node)}` raises ValueError"
                )
                remedy = "leave them in float32 under autocast"
                yield self.finding(facts, cast.node, claim, remedy)
            if not facts.does(AnyCall("update")) and all(context.inner is not None for context in step.contexts):
                claim = (
                    f"`{code(step.node)}` is never followed by `update()`, so that the second one raises RuntimeError "
                    "and the scale never adapts"
                )
                remedy = "call `update()` after it"
                yield self.finding(facts, step.node, claim, remedy)
        for backward, step in unscaled_backwards(facts, steps):
            claim = (
                f"`{code(backward.node)}` does not scale the loss, and `{code(step.node)}` divides its gradients by "
                "the scale, so that the updates are far too small"
            )
            remedy = "call `backward()` on what the scaler's `scale` returns"
            yield self.finding(facts, backward.node, claim, remedy, severity=Severity.WARNING)
        for scaler in needless_scalers(facts):
            claim = (
                f"`{code(scaler.node)}` scales the loss for bfloat16, which has the range of float32 and needs no "
                "scaling: each step pays a pass over the gradients and a wait"
            )
            remedy = "pass `enabled=False`"
            fix = pass_argument(scaler, "enabled", "False")
            yield self.finding(facts, scaler.node, claim, remedy, severity=Severity.INFO, fix=fix)
