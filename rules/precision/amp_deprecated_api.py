"""Mixed precision under names that torch is taking away."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from accel_advisor.finding import Applicability, Finding, Fix, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.old_precision_names import SINCE, OldName, minds_older, names_of_apex, old_names
from accel_advisor.rule import Rule, also_at


class AmpDeprecatedApi(Rule):
    """Mixed precision is asked for under names that torch is taking away.

    What it does
        Finds calls of `autocast`, `GradScaler`, `custom_fwd` and `custom_bwd` from `torch.cuda.amp` and
        `torch.cpu.amp`, and, once a file, what apex has for it: `amp.initialize`, `amp.scale_loss`, `FP16_Optimizer`
        and its own `DistributedDataParallel`.

    Why it costs time
        Each of them warns (FutureWarning) and binds the code to one kind of accelerator. The new names take the device
        first, and everything after it moves: `autocast(False)` is `torch.autocast("cuda", enabled=False)`, while
        `torch.autocast("cuda", False)` takes `False` for a dtype and raises TypeError. `apex.amp` is deprecated since
        torch has its own; where apex cannot be built, the training falls back to float32 or fails.

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
        Where torch must be supported that has no `torch.amp.GradScaler` (before 2.3) or `torch.amp.custom_fwd` (2.4):
        `--minor` shows it where the program asks for `torch.__version__`, or the project names a torch before 2.4,
        which began to warn, if only in its README. The rule is silent where torch is pinned before that (2.3 for apex),
        where the program chooses between both names, and beside libraries with names of their own. Optimizers and
        layers of apex are not reported.

    Fix safety
        Safe: the new names do the same. Positional arguments of `autocast` are given by name. An import whose names are
        only called moves to `torch.amp`, with all its calls at once. A call through a variable is left alone. Unsafe
        where the project allows versions of torch without the new names or, but for `torch.autocast`, names none.

    References
        - https://docs.pytorch.org/docs/stable/amp.html
    """

    code = "ACC402"
    name = "amp-deprecated-api"
    severity = Severity.INFO
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        names = old_names(facts)
        newest = max(names, key=attrgetter("since"), default=None)
        for found in names:
            code = facts.document.code(found.operation.node)
            claim = f"`{code}` uses a name that torch is taking away, and warns of it"
            since, remedy = found.since, f"use `{found.remedy}`"
            if newest is not None and newest.since > since:  # they are changed together
                since, remedy = newest.since, f"{remedy}, and `{newest.remedy}` beside it"
            together = [one for one in names if one.moved == found.moved] if found.moved is not None else []
            fix = self._moved(facts, found, together) or self._renamed(facts, found)
            come = [also_at(facts.document, found.source, "the name comes from here")] if found.source else []
            aside = not facts.trains  # what only evaluates is a place of the training's remark
            old, new, at = minds_older(facts), since > SINCE["autocast"], found.operation.node
            yield self.finding(
                facts, at, claim, remedy, fix=fix, since=since, lately=new, related=come, minor=old, aside=aside
            )

        apex = names_of_apex(facts)
        if apex is not None:
            first, *others = apex.uses
            claim = f"`{first.what.full}` of apex is deprecated since torch has its own"
            remedy = f"use {apex.remedy}"
            related = [also_at(facts.document, one.node, "so is this") for one in others]
            yield self.finding(facts, first.node, claim, remedy, related=related, since=apex.since)

    def _moved(self, facts: Facts, found: OldName, together: list[OldName]) -> Fix | None:
        """The fix that changes the import, and with it every call of what is imported there; None where they need
        different versions of torch, not all of which can be counted on."""
        versions = {one.since for one in together}
        if found.moved is None or any(one.splats for one in together):
            return None
        if len(versions) > 1 and facts.target.allows_before("torch", max(versions)):
            return None
        edits = [found.moved, *(edit for one in together for edit in one.argument_edits())]
        return Fix(f"Use `torch.amp.{found.name}`", tuple(edits), Applicability.SAFE)

    def _renamed(self, facts: Facts, found: OldName) -> Fix | None:
        """The fix that names torch's own where it is called."""
        torch = facts.torch_name
        if torch is None or found.splats:
            return None
        new = f"{torch}.autocast" if found.name == "autocast" else f"{torch}.amp.{found.name}"
        renamed = found.operation.callee_edit(new)
        if renamed is None:
            return None
        return Fix(f"Use `{new}`", (renamed, *found.argument_edits()), Applicability.SAFE)
