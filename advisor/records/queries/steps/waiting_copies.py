"""Copies of batches to the GPU that the host waits for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.finding import Applicability, Fix
from accel_advisor.records.actions import Call, Method, calls
from accel_advisor.records.dataset_facts import IssueKind
from accel_advisor.records.loaders import LoaderCall, loader_of
from accel_advisor.records.queries.copies.evaluation_waits import evaluates_and_waits, pass_over, takes_few
from accel_advisor.records.queries.copies.side_parts import only_side_parts_go
from accel_advisor.records.queries.destinations import reaches_gpu
from accel_advisor.records.queries.loaders.graph_loaders import are_gathered_elsewhere
from accel_advisor.values.evidence import PROVEN, Evidence

if TYPE_CHECKING:
    from accel_advisor.finding import Edit
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.loops import Loop
    from accel_advisor.records.operations import Operation
    from accel_advisor.records.transfers import Transfer, TransferContext

_EVENTS = (Call("torch.cuda.Event"), Method("torch.cuda.Event", "record"))
_CLOCKS = calls("time.time", "time.perf_counter", "time.monotonic", "time.perf_counter_ns")


@dataclass(frozen=True, slots=True)
class WaitingCopy:
    """A copy of a batch to the GPU that the host waits for.

    Attributes:
        loaders: whose batches it copies, in the order in which they were met.
        basis: what shows that it copies batches, and to a GPU: the best of all ways in which it is reached.
        recast: whether it always copies what a cast made of a batch, in memory that no loader pinned.
        aside: whether it only happens in evaluations whose every pass waits anyway.
        few: whether it only happens where a few batches are taken and nothing is trained.
        slight: whether it is worth no remark by itself: it copies only small parts of batches whose samples take
            another way.
    """

    transfer: Transfer
    loaders: tuple[LoaderCall, ...]
    basis: Evidence
    recast: bool
    aside: bool
    few: bool
    slight: bool

    @property
    def from_pinning(self) -> bool:
        """Whether it certainly copies batches, or casts of them, of loaders that pin them."""
        return all(loader.pins for loader in self.loaders)

    @property
    def pinned(self) -> bool:
        """Whether it certainly copies from pinned memory."""
        return not self.recast and self.from_pinning

    @property
    def may_be_pinned(self) -> bool:
        """Whether the program decides about pinning in a way that is not followed, and not by an option alone that is
        off by default."""
        given = [loader.given("pin_memory") for loader in self.loaders if not loader.pins_if_asked]
        return bool(given) and not any(one.absent or one.is_literal(False) for one in given)

    @property
    def by_type(self) -> bool:
        """Whether it names a type on the GPU, and may cast on the way."""
        return self.transfer.method == "type"

    @property
    def plain(self) -> bool:
        """Whether it certainly does nothing but copy a tensor to a GPU, where there is one, which nothing else reaches
        while it is on the host."""
        viewed = any(loader.viewed for loader in self.loaders)
        known = self.basis.proven and self.transfer.kinds.isdisjoint({"unknown"})
        return known and not viewed and all(one.proven and not one.casts for one in self.transfer.contexts)

    @property
    def asynchronous_where(self) -> str | None:
        """The ``non_blocking`` with which it is asynchronous where its device is CUDA, and only there: on MPS it could
        read memory that is gone. None where the code has no such expression at hand."""
        transfer = self.transfer
        device = transfer.device
        if transfer.kinds <= {"cuda", "cpu"}:
            return "True"
        if isinstance(device, (cst.Name, cst.Attribute)) and all(one.device.is_device for one in transfer.contexts):
            return f'{transfer.document.code(device)}.type == "cuda"'
        return "True" if transfer.kinds <= {"cuda", "cpu", "unknown"} else None


def waiting_copies(facts: Facts) -> list[list[WaitingCopy]]:
    """The copies in a document of batches to a device that may be CUDA, by statement."""
    statements: dict[int, list[WaitingCopy]] = {}
    timed = timed_loops(facts)
    for transfer in facts.transfers:
        if any(context.loop in timed for context in transfer.contexts):
            continue
        copy = _waiting(facts, transfer)
        if copy is not None:
            statements.setdefault(id(transfer.statement), []).append(copy)
    return list(statements.values())


def basis_of(copies: list[WaitingCopy]) -> Evidence:
    """What a remark about several copies rests on."""
    return reduce(or_, (one.basis for one in copies), PROVEN)


def asynchronous_fix(copies: list[WaitingCopy]) -> Fix | None:
    """The fix that makes all of several copies asynchronous; None where one of them cannot be."""
    edits: list[Edit] = []
    for copy in copies:
        where = copy.asynchronous_where
        editable = where and copy.transfer.waits and not (copy.recast or copy.by_type)
        added = copy.transfer.keyword_edits("non_blocking", where) if where and editable else None
        if added is None:
            return None
        edits += added
    kind = Applicability.SAFE if all(copy.plain for copy in copies) else Applicability.UNSAFE
    return Fix(f"Pass `non_blocking={copies[0].asynchronous_where}`", tuple(edits), kind) if edits else None


def timed_loops(facts: Facts) -> set[Loop | None]:
    """Loops that synchronize and read the clock in every pass, but for trainings: they may measure this very copy."""
    clocks, waits = (
        {loop for operation in facts.operations_of(*found, *_EVENTS) for loop in _reached_in_every_pass(operation)}
        for found in (_CLOCKS, calls("torch.cuda.synchronize"))
    )
    return {loop for loop in clocks & waits if loop is None or not (loop.learns and loop.loaders)}


def _reached_in_every_pass(operation: Operation) -> set[Loop | None]:
    return {context.loop for context in operation.contexts if not context.guarded}


def _waiting(facts: Facts, transfer: Transfer) -> WaitingCopy | None:
    if transfer.discarded and all(context.proven for context in transfer.contexts):
        return None  # what is copied is lost, which is worse
    if transfer.method not in ("to", "cuda", "type", "copy_") or transfer.framework:
        return None
    if not (transfer.waits or transfer.waits_unless_asked):
        return None
    if transfer.method == "type" and not transfer.kinds <= {"cuda", "cpu"}:
        return None  # what is not known is a dtype rather than a type on a GPU
    if any(_must_wait(context) for context in transfer.contexts):
        return None
    found = [(one, basis) for one in transfer.contexts if (basis := _waits(facts, one)) is not None]
    if not found:
        return None
    loaders = [loader for one, _ in found if (loader := loader_of(one.loader)) is not None]
    basis = min((basis for _, basis in found), key=lambda one: len(one.grounds))
    recast = all(one.moved.recast for one, _ in found)
    passes = [pass_over(one.loader, one.loop) for one, _ in found]
    aside, few = evaluates_and_waits(facts, passes), takes_few(facts, passes)
    known = tuple(dict.fromkeys(loaders))
    return WaitingCopy(transfer, known, basis, recast, aside, few, all(map(only_side_parts_go, known)))


def _must_wait(context: TransferContext) -> bool:
    """Whether a copy must be done before the program goes on, or its call knows no ``non_blocking``."""
    loader = loader_of(context.loader)
    if loader is None:
        return False
    around = (context.loop, *context.loop.outer) if context.loop is not None else ()
    if not loader.mutated.isdisjoint((None, *around)) or (not context.path and loader.suffers(IssueKind.UNPINNABLE)):
        return True  # a class of the project may have a `to` that takes no such argument
    return len(context.path) < 2 and not context.proven and loader.suffers(IssueKind.UNPINNABLE_PART)


def _waits(facts: Facts, context: TransferContext) -> Evidence | None:
    """What shows that a copy, reached in one particular way, takes a batch to a GPU; None where it may not."""
    loader = loader_of(context.loader)
    if loader is None or context.loop is None or context.seldom or not need_not_wait(facts, loader):
        return None
    if not (context.from_host or context.asked_from_host):
        return None
    return reaches_gpu(facts, context)


def need_not_wait(facts: Facts, loader: LoaderCall) -> bool:
    """Whether the program itself copies the batches of a loader from the host, and somebody would pin them."""
    if loader.moved_by or not loader.constructor.advises or are_gathered_elsewhere(facts, loader):
        return False
    if loader.pins:
        return True  # what is pinned must be on the host
    on_device = loader.suffers(IssueKind.DEVICE) or (loader.dataset is not None and loader.dataset.on_device)
    return not on_device and not loader.serves_memory  # nobody would pin what is in memory, and pageable copies wait
