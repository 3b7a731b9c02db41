"""Mixed precision under names that torch is taking away."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from accel_advisor.finding import Applicability, Edit, Finding, Fix, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.old_precision_names import old_names
from accel_advisor.rule import Rule

_POSITIONS = ("enabled", "dtype", "cache_enabled")


class AmpDeprecatedApi(Rule):
    """Mixed precision is asked for under names that torch is taking away.

    What it does
        Finds calls of `autocast`, `GradScaler`, `custom_fwd` and `custom_bwd` from `torch.cuda.amp` and
        `torch.cpu.amp`.

    Why it costs time
        Each of them warns (FutureWarning) and binds the code to one kind of accelerator. The new names take the device
        first, and everything after it moves: `autocast(False)` is `torch.autocast("cuda", enabled=False)`, while
        `torch.autocast("cuda", False)` takes `False` for a dtype and raises TypeError.

    Example
        import torch

        scaler = torch.cuda.amp.GradScaler(2.0**16)
        with torch.cuda.amp.autocast(True):
            y = torch.ones(2, 2) @ torch.ones(2, 2)

    Use instead
        import torch

        scaler = torch.amp.GradScaler("cuda", 2.0**16)
        with torch.autocast("cuda", enabled=True):
            y = torch.ones(2, 2) @ torch.ones(2, 2)

    When to ignore it
        Where torch before 2.3 must be supported, which has no `torch.amp.GradScaler`. The rule is silent where torch is
        pinned before that, by the project or with `torch-version`, where the program chooses between both names, and
        beside libraries that put their own in the place of the old ones (torch_xla, torch_npu).

    Fix safety
        Safe: the new names do the same. Positional arguments of `autocast` are given by name. A call through a
        variable, which may hold something else, is left alone. Unsafe where the project allows versions of torch that
        do not know the new names yet.

    References
        - https://docs.pytorch.org/docs/stable/amp.html
    """

    code = "ACC402"
    name = "amp-deprecated-api"
    severity = Severity.INFO
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        for found in old_names(facts):
            operation, last, device = found.operation, found.name, found.device
            new = f'torch.autocast("{device}", ...)' if last == "autocast" else f"torch.amp.{last}"
            if last == "GradScaler":
                new += f'("{device}", ...)'
            elif last.startswith("custom"):
                new += f'(device_type="{device}")'
            message = (
                f"`{facts.document.code(operation.node)}` uses a name that torch is taking away, and warns each time; "
                f"use `{new}`"
            )
            fix = self._fix(facts, operation, last, device)
            yield self.finding(facts, operation.node, message, fix=fix, since=found.since)

    def _fix(self, facts: Facts, operation: Operation, last: str, device: str) -> Fix | None:
        torch, node, quote = facts.torch_name, operation.node, facts.document.quote
        if torch is None:
            return None
        new = f"{torch}.autocast" if last == "autocast" else f"{torch}.amp.{last}"
        call = node if isinstance(node, cst.Call) else None
        renamed = operation.callee_edit(new if call is not None else f"{new}(device_type={quote}{device}{quote})")
        if renamed is None or (call is not None and any(arg.star for arg in call.args)):
            return None
        edits = [renamed, *(_arguments(facts, call, last, device) if call is not None else ())]
        return Fix(f"Use `{new}`", tuple(edits), Applicability.SAFE)


def _arguments(facts: Facts, call: cst.Call, last: str, device: str) -> Iterator[Edit]:
    document = facts.document
    quoted = f"{document.quote}{device}{document.quote}"
    first = f"device_type={quoted}" if last.startswith("custom") else quoted
    if not call.args:
        end = document.span(call).end.offset
        yield document.edit(end - 1, end, f"{first})")
        return
    positional = [arg for arg in call.args if arg.keyword is None]
    if last.startswith("custom"):
        end = document.span(call.args[-1]).end.offset
        yield document.edit(end, end, f", {first}")
        return
    for index, arg in enumerate(call.args):
        keyword = f"{_POSITIONS[index]}=" if last == "autocast" and arg in positional else ""
        start = document.span(arg).start.offset
        if index == 0:
            yield document.edit(start, start, f"{first}, {keyword}")
        elif keyword:
            yield document.edit(start, start, keyword)
