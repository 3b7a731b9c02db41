"""Gradients clipped while they are still scaled."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.scalers import scaled_clips
from accel_advisor.rule import Rule, indentation_at, newline_of


class ClipBeforeUnscale(Rule):
    """Gradients are clipped while they are still multiplied by the scale of a GradScaler.

    What it does
        Finds `clip_grad_norm_` and `clip_grad_value_` between `scaler.scale(loss).backward()` and `scaler.step(...)`,
        with no `scaler.unscale_(...)` anywhere in the same loop.

    Why it costs time
        The scale starts at 65536, so that the norm of every gradient is far above the limit and each of them is clipped
        to it; the step then divides by the scale. Updates become tens of thousands of times too small, and the
        training stalls without a word.

    Example
        import torch
        from torch import nn

        model = nn.Linear(8, 2).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cuda")
        for step in range(100):
            optimizer.zero_grad()
            with torch.autocast("cuda"):
                loss = model(torch.randn(4, 8, device="cuda")).sum()
            scaler.scale(loss).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()

    Use instead
        import torch
        from torch import nn

        model = nn.Linear(8, 2).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cuda")
        for step in range(100):
            optimizer.zero_grad()
            with torch.autocast("cuda"):
                loss = model(torch.randn(4, 8, device="cuda")).sum()
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()

    When to ignore it
        Never where the scaler is in use. The rule is silent for `GradScaler(enabled=False)`, for clipping after the
        step, for a clip under a condition in a loop that also runs `backward()` without the scaler, for the parameters
        of a model that another optimizer updates without it, and where the scaler is given to a library, which may
        unscale. It leaves alone what reads `.grad` by itself in between: that may well divide by the scale.

    Fix safety
        Unsafe: the training takes another course, the intended one. No fix is made where several optimizers step.

    References
        - https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping
    """

    code = "ACC404"
    name = "clip-before-unscale"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each clip once."""
        for clip, steps in scaled_clips(facts):
            yield self._report(facts, clip, steps)

    def _report(self, facts: Facts, clip: Operation, steps: list[Operation]) -> Finding:
        document = facts.document
        calls = {document.code(one.callee) for one in steps}
        given = {document.code(one.arguments[0]) for one in steps if one.arguments}
        remedy = "`unscale_` the optimizer before"
        fix = None
        if len(calls) == len(given) == 1:
            statement = f"{calls.pop().removesuffix('.step')}.unscale_({given.pop()})"
            remedy = f"call `{statement}` before"
            start = document.span(clip.statement).start.offset
            row = document.location(start).row
            if document.line(row)[: document.location(start).column - 1].strip() == "":
                text = f"{statement}{newline_of(document)}{indentation_at(document, start)}"
                fix = Fix(f"Call `{statement}` first", (document.edit(start, start, text),), Applicability.UNSAFE)
        claim = (
            f"`{document.code(clip.node)}` clips gradients that are still multiplied by the scaler's scale, so that "
            "next to nothing is left of each update"
        )
        return self.finding(facts, clip.node, claim, remedy, fix=fix)
