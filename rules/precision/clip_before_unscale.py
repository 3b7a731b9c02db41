"""Gradients clipped while they are still scaled."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import AnyCall, Within, calls
from accel_advisor.records.facts import Facts
from accel_advisor.records.given import Given, Module
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.precision import hands_scaler_over, is_of_scaler, is_off
from accel_advisor.rule import Rule, indentation_at, newline_of

_CLIPS = calls(*(f"torch.nn.utils.{name}" for name in ("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm")))


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
        for index, clip in enumerate(facts.operations):
            if clip.what not in _CLIPS:
                continue
            before = [one for one in facts.operations[:index] if one.runs_with(clip)]
            after = [one for one in facts.operations[index:] if one.runs_with(clip)]
            scales = [one for one in before if is_of_scaler(one, "scale")]
            steps = [one for one in after if is_of_scaler(one, "step") and _is_on(one)]
            if scales and steps and not _may_be_right(facts, clip, scales) and not _is_of_another(facts, clip, steps):
                yield self._report(facts, clip, steps)

    def _report(self, facts: Facts, clip: Operation, steps: list[Operation]) -> Finding:
        document = facts.document
        calls = {document.code(one.node.func) for one in steps if isinstance(one.node, cst.Call)}
        given = {document.code(one.node.args[0]) for one in steps if isinstance(one.node, cst.Call) and one.node.args}
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
        message = (
            f"`{document.code(clip.node)}` clips gradients that are still multiplied by the scaler's scale, so that "
            f"next to nothing is left of each update; {remedy}"
        )
        return self.finding(facts, clip.node, message, fix=fix)


def _is_on(step: Operation) -> bool:
    """Whether the scaler is not certainly switched off."""
    scalers = [context.subject for context in step.contexts]
    return not all(is_off(one) for one in scalers if one.made_by)


def _may_be_right(facts: Facts, clip: Operation, scales: list[Operation]) -> bool:
    if hands_scaler_over(facts):
        return True
    for other in (operation for one in facts.program for operation in one.operations):
        if is_of_scaler(other, "unscale_") and other.runs_with(clip):
            return True
        if clip.guarded and other.does(AnyCall("backward")) and other.runs_with(clip):
            func = other.node.func if isinstance(other.node, cst.Call) else None
            owner = func.value if isinstance(func, cst.Attribute) else None
            if not any(owner is one.node for one in scales):
                return True
    return False


def _is_of_another(facts: Facts, clip: Operation, steps: list[Operation]) -> bool:
    """Whether what is clipped may belong to an optimizer that steps beside the scaler's, without the scaler."""
    beside = [
        one
        for one in facts.program.operations_of(AnyCall("step"))
        if one.does(Within("torch.optim")) and one.runs_with(clip)
    ]
    if clip.guarded or not beside or any(one.guarded for one in beside):
        return False
    scaled = {_model_of(context.given("optimizer", 0)) for one in steps for context in one.contexts} - {None}
    return any(_owner_of(context.given("parameters", 0)) not in scaled for context in clip.contexts)


def _model_of(optimizer: Given) -> Module | None:
    """The model whose parameters an optimizer was made for, where it is known."""
    return _owner_of(optimizer.argument("", 0))


def _owner_of(parameters: Given) -> Module | None:
    """The model that parameters belong to, where they are all of a known one."""
    return parameters.parameters_of.plain if parameters.parameters_of is not None else None
