"""Optimizers that go over the parameters several times at each step."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import any_calls
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.parameters.separate_updates import (
    has_sparse_gradients,
    is_of_transformers,
    joint_update,
    separate_updates,
)
from accel_advisor.records.queries.precision import COMPLEX, speaks_of
from accel_advisor.rule import Rule, also_at

_SHARDS = any_calls("FullyShardedDataParallel", "fully_shard")


class FusedOptimizer(Rule):
    """An optimizer goes over the parameters several times at each step where it could do so once.

    What it does
        Finds `Adam`, `AdamW` and `SGD` with momentum over the parameters of models that are moved to CUDA, where none
        of `fused`, `foreach`, `differentiable` and `capturable` is given; and the `AdamW` of transformers, which has a
        loop over single parameters. Where torch is pinned between 1.12 and 2.0, it recommends `foreach=True`.

    Why it costs time
        By default each part of the update (moments, their roots, the step) is a group of launches of its own, which
        reads and writes all parameters or moments. With `fused=True` one group does everything.

    Example
        import torch
        from torch import nn

        model = nn.Linear(8, 2).cuda()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        for step in range(10):
            optimizer.zero_grad()
            model(torch.zeros(4, 8, device="cuda")).sum().backward()
            optimizer.step()

    Use instead
        import torch
        from torch import nn

        model = nn.Linear(8, 2).cuda()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
        for step in range(10):
            optimizer.zero_grad()
            model(torch.zeros(4, 8, device="cuda")).sum().backward()
            optimizer.step()

    When to ignore it
        Where the update is a small part of a step. The rule is silent where the model may be on another device than
        CUDA or the CPU, with parameters that are listed by hand, with FSDP and with frameworks, beside embeddings with
        sparse gradients and complex numbers, and where torch is pinned to a version before 1.12, or to one from 2.0 to
        2.3. Of other optimizers it reports nothing: most have no fused form, and Adagrad has one for CUDA in newer
        torch only.

    Fix safety
        Unsafe: the order of the arithmetic changes, and with it the last bits of the parameters.

    References
        - https://docs.pytorch.org/docs/stable/optim.html#algorithms
    """

    code = "ACC415"
    name = "fused-optimizer"
    severity = Severity.INFO
    enabled = False

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports a document once, at its first such optimizer, with the others as related places."""
        if not facts.trains or facts.frameworks or facts.does(*_SHARDS):
            return
        option = joint_update(facts)
        found = separate_updates(facts)
        if found and option and not has_sparse_gradients(facts) and not speaks_of(facts, COMPLEX):
            yield self._report(facts, found, *option)

    def _report(self, facts: Facts, found: list[Operation], option: str, since: tuple[int, int]) -> Finding:
        document, last = facts.document, found[0].what.name
        done = "which does it in one" if option == "fused" else "which takes them together"
        message = (
            f"`{last}` updates the parameters in several groups of launches at each step; pass `{option}=True`, {done}"
        )
        if is_of_transformers(found[0]):
            instead = f"torch.optim.AdamW({option}=True)"
            message = f"`{last}` of transformers updates one parameter after the other; use `{instead}`"
        own = [one for one in found if not is_of_transformers(one)]
        edits = tuple(edit for one in own for edit in one.keyword_edits(option, "True") or ())
        fix = Fix(f"Pass `{option}=True`", edits, Applicability.UNSAFE) if edits and own[0] is found[0] else None
        related = [also_at(document, one.node, "so does this one") for one in found[1:]]
        return self.finding(facts, found[0].node, message, fix=fix, related=related, since=since)
