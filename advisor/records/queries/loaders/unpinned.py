"""Loaders that do not pin batches which are copied to a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from accel_advisor.records.actions import Act, Call
from accel_advisor.records.queries.loaders.graph_loaders import are_gathered_elsewhere

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, LoaderCall


def unpinned_loaders(facts: Facts) -> Iterator[LoaderCall]:
    """The loaders of a document whose batches are copied to a GPU from memory that is not pinned, where pinning would
    help and break nothing."""
    for loader in facts.loaders:
        off = loader.gives("pin_memory", None) or loader.gives("pin_memory", False)
        if not off or not loader.constructor.advises or not ("cuda" in loader.destination_kinds or loader.moved_by):
            continue
        if not loader.may_gain_by_pinning or are_gathered_elsewhere(facts, loader) or not _can_pin(facts, loader):
            continue
        if loader.passes or not _gives_first_batches(facts, loader):
            yield loader


def _can_pin(facts: Facts, loader: LoaderCall) -> bool:
    dataset = loader.dataset
    if dataset is not None and (dataset.on_device or not dataset.tensors):
        return False
    return not (loader.suffers("device") or loader.suffers("unpinnable") or _reloads(facts, loader))


def _reloads(facts: Facts, loader: LoaderCall) -> bool:
    """Whether Lightning rebuilds a loader whose workers live on, which does not go together with pinning."""
    return not loader.gives("persistent_workers", None) and any(
        not one.lacks("reload_dataloaders_every_n_epochs")
        for one in facts.program.operations_of(Call("lightning.Trainer"))
    )


def _gives_first_batches(facts: Facts, loader: LoaderCall) -> bool:
    """Whether ``next(iter(loader))`` takes single batches of it, to look at, which need not come fast."""
    glances = facts.program.operations_of(Act.TAKES_FIRST_BATCH)
    return any(context.subject.source is loader for one in glances for context in one.contexts)
