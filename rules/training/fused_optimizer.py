"""Optimizers that go over the parameters several times at each step."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import Call, any_calls, calls
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.parameters.models_updated import Update, updates_on_gpu
from accel_advisor.records.queries.precision import COMPLEX, speaks_of
from accel_advisor.rule import Rule, also_at

_OPTIMIZERS = calls("torch.optim.Adam", "torch.optim.AdamW", "torch.optim.SGD")
_CHOOSES = ("fused", "foreach", "differentiable", "capturable")
_SHARDS = any_calls("FullyShardedDataParallel", "fully_shard")
_SINCE = (2, 4)
"""The first torch whose fused optimizers run on the CPU as well."""


class FusedOptimizer(Rule):
    """An optimizer goes over the parameters several times at each step where it could do so once.

    What it does
        Finds `Adam`, `AdamW` and `SGD` with momentum over the parameters of a model that is moved to CUDA, or of one
        whose place is not known in a program that names a GPU, where none of `fused`, `foreach`, `differentiable` and
        `capturable` is given. It is shown with `--minor`.

    Why it costs time
        By default each part of the update (moments, their roots, the step) is a group of launches of its own, which
        reads and writes all parameters or moments. With `fused=True` one group does everything. On an H200 the steps
        of 24 linear layers of 2,048 under AdamW took 1.16 times as long without it (docs/costs.md).

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
        CUDA or the CPU, with parameters that are listed by hand (groups of them are not), with FSDP and with
        frameworks, beside embeddings with sparse gradients and complex numbers, and where torch is pinned before 2.4.
        Of other optimizers it reports nothing: most have no fused form, and Adagrad has one for CUDA in newer torch
        only.

    Fix safety
        Unsafe: the order of the arithmetic changes, and with it the last bits of the parameters.

    References
        - https://docs.pytorch.org/docs/stable/optim.html#algorithms
    """

    code = "ACC415"
    name = "fused-optimizer"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports a document once, at its first such optimizer, with the others as related places."""
        if not facts.trains or facts.frameworks or not facts.supports(_SINCE) or facts.does(*_SHARDS):
            return
        plain = [one for one in facts.operations_of(*_OPTIMIZERS) if self._chooses_nothing(one)]
        updates = updates_on_gpu(facts, plain)
        if updates and not self._has_sparse_gradients(facts) and not speaks_of(facts, COMPLEX):
            yield self._report(facts, updates)

    def _chooses_nothing(self, operation: Operation) -> bool:
        if operation.what is Call("torch.optim.SGD") and not self._has_momentum(operation):
            return False
        return all(operation.lacks(name) for name in _CHOOSES)

    def _has_momentum(self, operation: Operation) -> bool:
        momentum = operation.given("momentum", 2)
        return not momentum.absent and not (momentum.written and momentum.literal == 0)

    def _has_sparse_gradients(self, facts: Facts) -> bool:
        embeddings = facts.program.operations_of(*calls("torch.nn.Embedding", "torch.nn.EmbeddingBag"))
        return any(not one.lacks("sparse") for one in embeddings)

    def _report(self, facts: Facts, updates: list[Update]) -> Finding:
        document, basis = facts.document, updates[0].basis
        first, *others = (one.optimizer for one in updates)
        claim = f"`{first.what.name}` updates the parameters in several groups of launches at each step{basis.clause}"
        remedy = "pass `fused=True`, which does it in one"
        edits = tuple(edit for one in (first, *others) for edit in one.keyword_edits("fused", "True") or ())
        fix = Fix("Pass `fused=True`", edits, Applicability.UNSAFE) if edits else None
        related = [also_at(document, one.node, "so does this one") for one in others]
        return self.finding(
            facts, first.node, claim, remedy, fix=fix, related=related, basis=basis, since=_SINCE, minor=True
        )
