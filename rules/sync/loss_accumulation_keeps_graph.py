"""Losses added up with their autograd graphs."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.steps.kept_graphs import KeptGraph, kept_graphs
from accel_advisor.rule import Rule, also_at, insert_after, takes_method


class LossAccumulationKeepsGraph(Rule):
    """A loss is added up over the batches together with its autograd graph.

    What it does
        Finds `total += loss`, `total = total + loss` and `losses.append(loss)` in a loop in which `loss.backward()` is
        called as well, where `total` or the list goes on from one batch to the next. Where the loss comes out of
        something that is not known, so that only its `backward()` shows what it is, this is reported as information.

    Why it costs time
        `backward()` frees the buffers of the graph, not its nodes and not what their tensors hold: what is kept grows
        with every batch, on the device, until the epoch ends or the memory does.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2)
        criterion = nn.MSELoss()
        total = 0.0
        for x, y in DataLoader(TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2)), batch_size=16):
            loss = criterion(model(x), y)
            loss.backward()
            total += loss

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2)
        criterion = nn.MSELoss()
        total = 0.0
        for x, y in DataLoader(TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2)), batch_size=16):
            loss = criterion(model(x), y)
            loss.backward()
            total += loss.detach()

    When to ignore it
        The rule is silent where the sum itself is differentiated (`loss += ...; loss.backward()`), where the graph is
        retained, where autograd is off, and where the loop resets the sum or takes something out of the list. A sum
        that is returned is reported: its graph was differentiated and cannot be once more.

    Fix safety
        Safe: the loss was differentiated already, and `detach()` neither copies nor waits as `item()` would. Unsafe
        where only its `backward()` shows that it is a tensor.

    References
        - https://docs.pytorch.org/docs/stable/notes/faq.html
    """

    code = "ACC209"
    name = "loss-accumulation-keeps-graph"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each accumulation once."""
        for kept in kept_graphs(facts):
            yield self._report(facts, kept)

    def _report(self, facts: Facts, kept: KeptGraph) -> Finding:
        document, value = facts.document, kept.added
        code = document.code(value)
        claim = (
            f"`{kept.holder}` keeps the autograd graph of `{code}` alive for every batch, so that memory grows through "
            f"the epoch{kept.basis.clause}"
        )
        edit = insert_after(document, value, ".detach()") if takes_method(value) else None
        remedy = f"add `{code}.detach()`" if edit is not None else "detach the loss first"
        proven = kept.basis.proven
        applicability = Applicability.SAFE if proven else Applicability.UNSAFE
        fix = Fix("Add `.detach()`", (edit,), applicability) if edit is not None else None
        related = [also_at(document, kept.backward.node, "it is differentiated here")]
        severity = Severity.WARNING if proven else Severity.INFO
        at, basis = kept.operation.node, kept.basis
        return self.finding(facts, at, claim, remedy, severity=severity, fix=fix, related=related, basis=basis)
