"""Loaders that do not pin batches which are copied to a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from accel_advisor.records.actions import Act, Call
from accel_advisor.records.dataset_facts import IssueKind
from accel_advisor.records.queries.copies.evaluation_waits import evaluates_and_waits, pass_over
from accel_advisor.records.queries.copies.side_parts import only_side_parts_go
from accel_advisor.records.queries.destinations import reaches_gpu
from accel_advisor.records.queries.loaders.graph_loaders import are_gathered_elsewhere
from accel_advisor.values.evidence import PROVEN, Evidence

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, LoaderCall
    from accel_advisor.records.transfers import Transfer


@dataclass(frozen=True, slots=True)
class UnpinnedLoader:
    """A loader that does not pin what is copied to a GPU as it came.

    Attributes:
        copy: the first of the copies with the best evidence; None where a framework makes them.
        basis: what shows that it copies batches to a GPU.
        aside: whether only evaluations take its batches whose every pass waits anyway, by copies that wait.
        slight: whether only small parts of its batches are copied as they came.
    """

    loader: LoaderCall
    copy: Transfer | None
    basis: Evidence
    aside: bool = False
    slight: bool = False

    @property
    def mover(self) -> str:
        """What copies its batches, in words: ```x.cuda()` in line 8``, or the name of a framework."""
        copy = self.copy
        if copy is None:
            return str(self.loader.moved_by)
        where = "" if copy.document is self.loader.document else f" of {copy.document.filename}"
        return f"`{copy.document.code(copy.node)}` in {copy.document.span(copy.node).start.line}{where}"


def unpinned_loaders(facts: Facts) -> Iterator[UnpinnedLoader]:
    """The loaders of a document whose batches are copied to a GPU from memory that is not pinned, where pinning would
    help and break nothing."""
    for loader in facts.loaders:
        off = loader.gives("pin_memory", None) or loader.gives("pin_memory", False) or loader.pins_if_asked
        if not off or not loader.constructor.advises:
            continue
        if not loader.may_gain_by_pinning or are_gathered_elsewhere(facts, loader) or not _can_pin(facts, loader):
            continue
        if not loader.passes and _gives_first_batches(facts, loader):
            continue
        if loader.moved_by:
            yield UnpinnedLoader(loader, None, PROVEN)
            continue
        copy = _copied_as_it_came(facts, loader)
        if copy is not None:
            yield UnpinnedLoader(loader, *copy, _only_moves_waits(facts, loader), only_side_parts_go(loader))


def _copied_as_it_came(facts: Facts, loader: LoaderCall) -> tuple[Transfer, Evidence] | None:
    """The copy of a loader's batch to a GPU that is best known, and what shows it: of what the loader itself pins, and
    not of what a cast made of it on the host, or of what is there already; a single batch that is looked at does not
    count."""
    found = [
        (transfer, basis)
        for transfer in loader.transfers
        for context in transfer.contexts
        if context.loader is loader and (context.loop is not None or loader.passes) and not context.moved.recast
        if not context.stays and not context.from_accelerator
        if (basis := reaches_gpu(facts, context)) is not None
    ]
    return min(found, key=lambda one: len(one[1].grounds), default=None)


def _only_moves_waits(facts: Facts, loader: LoaderCall) -> bool:
    """Whether the copies of a loader's batches wait, in evaluations whose every pass waits anyway."""
    copies = [(one, context) for one in loader.transfers for context in one.contexts if context.loader is loader]
    waiting = all(one.waits for one, _ in copies)
    return waiting and evaluates_and_waits(facts, (pass_over(loader, context.loop) for _, context in copies))


def _can_pin(facts: Facts, loader: LoaderCall) -> bool:
    dataset = loader.dataset
    if dataset is not None and (dataset.on_device or not dataset.tensors):
        return False
    if any(loader.suffers(kind) for kind in (IssueKind.DEVICE, IssueKind.UNPINNABLE, IssueKind.UNPINNABLE_PART)):
        return False
    return not _reloads(facts, loader)


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
