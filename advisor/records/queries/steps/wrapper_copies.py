"""Copies of batches that the wrapper of a model makes, and waits for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from accel_advisor.records.dataset_facts import IssueKind
from accel_advisor.records.loaders import LoaderCall, loader_of
from accel_advisor.records.queries.copies.evaluation_waits import evaluates_and_waits, pass_over
from accel_advisor.records.queries.steps.waiting_copies import need_not_wait, timed_loops
from accel_advisor.values.evidence import PROVEN, Evidence

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, ModuleCall
    from accel_advisor.records.transfers import ArgumentPlace, ModuleCallContext


@dataclass(frozen=True, slots=True)
class WrapperCopy:
    """A call of a wrapped model whose wrapper copies a batch to the GPU, and waits.

    Attributes:
        wrapper: the name of the wrapper's class.
        loaders: whose batches it is given on the host.
        basis: what shows that they are.
        aside: whether it is only called in evaluations whose every pass waits anyway.
    """

    call: ModuleCall
    wrapper: str
    loaders: tuple[LoaderCall, ...]
    basis: Evidence
    aside: bool

    @property
    def pinned(self) -> bool:
        """Whether it certainly copies from pinned memory."""
        return all(loader.pins for loader in self.loaders)


def wrapper_copies(facts: Facts) -> Iterator[WrapperCopy]:
    """The calls of a document whose wrapper copies a batch that is on the host."""
    timed = timed_loops(facts)
    for call in facts.module_calls:
        if call.framework or any(one.loop in timed for one in call.contexts):
            continue
        found = [
            (context, argument, loader)
            for context in call.contexts
            for argument in _copied(context)
            if (loader := loader_of(argument.given)) is not None and _may_copy_ahead(facts, loader)
        ]
        if found:
            wrapper = found[0][0].copied_by.rpartition(".")[2]
            basis = reduce(or_, (one.given.basis | loader.basis for _, one, loader in found), PROVEN)
            aside = evaluates_and_waits(facts, (pass_over(loader, context.loop) for context, _, loader in found))
            yield WrapperCopy(call, wrapper, tuple(dict.fromkeys(loader for *_, loader in found)), basis, aside)


def _copied(context: ModuleCallContext) -> list[ArgumentPlace]:
    """What the wrapper copies in a loop over batches, in memory that a loader may have pinned."""
    if not context.copied_by or context.loop is None:
        return []
    return [one for one in context.arguments if one.given.on_host and not one.given.recast]


def _may_copy_ahead(facts: Facts, loader: LoaderCall) -> bool:
    """Whether the batches of a loader are on the host, as its pinning or another copy says, stay as they are, and can
    be copied asynchronously."""
    if not (loader.pins or loader.transfers) or loader.mutated or loader.rewritten:
        return False
    return need_not_wait(facts, loader) and not loader.suffers(IssueKind.UNPINNABLE)
