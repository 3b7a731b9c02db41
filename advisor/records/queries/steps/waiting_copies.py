"""Copies of batches to the GPU that the host waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Call, Method, calls
from accel_advisor.records.loaders import loader_of
from accel_advisor.records.queries.loaders.graph_loaders import are_gathered_elsewhere

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.loops import Loop
    from accel_advisor.records.transfers import Transfer

_EVENTS = (Call("torch.cuda.Event"), Method("torch.cuda.Event", "record"))
_CLOCKS = calls("time.time", "time.perf_counter", "time.monotonic", "time.perf_counter_ns")


def waiting_copies(facts: Facts) -> list[list[Transfer]]:
    """The copies in a document of batches that are pinned, or may be, to a device that may be CUDA, by statement."""
    statements: dict[int, list[Transfer]] = {}
    timed = _timed_loops(facts)
    for transfer in facts.transfers:
        if _waits(facts, transfer) and not any(context.loop in timed for context in transfer.contexts):
            statements.setdefault(id(transfer.statement), []).append(transfer)
    return list(statements.values())


def asynchronous_where(transfer: Transfer) -> str | None:
    """The ``non_blocking`` with which a copy is asynchronous where its device is CUDA, and only there: on MPS it could
    read memory that is gone. None where the code has no such expression at hand."""
    if transfer.kinds <= {"cuda", "cpu"}:
        return "True"
    device = transfer.device
    if isinstance(device, (cst.Name, cst.Attribute)) and all(one.device.is_device for one in transfer.contexts):
        return f'{transfer.document.code(device)}.type == "cuda"'
    return None


def copies_plainly(transfer: Transfer) -> bool:
    """Whether a copy does nothing but copy a tensor, which nothing else reaches while it is on the host."""
    loaders = [loader_of(context.loader) for context in transfer.contexts]
    viewed = any(loader is not None and loader.viewed for loader in loaders)
    return not viewed and all(context.proven and not context.casts for context in transfer.contexts)


def _timed_loops(facts: Facts) -> set[Loop | None]:
    """Loops that synchronize and read the clock: they may measure this very copy."""
    clocks, waits = (
        {context.loop for operation in facts.operations_of(*found, *_EVENTS) for context in operation.contexts}
        for found in (_CLOCKS, calls("torch.cuda.synchronize"))
    )
    return clocks & waits


def _waits(facts: Facts, transfer: Transfer) -> bool:
    if transfer.discarded and all(context.proven for context in transfer.contexts):
        return False  # what is copied is lost, which is worse
    if transfer.method not in ("to", "cuda") or transfer.framework or not transfer.waits:
        return False
    for context in transfer.contexts:
        loader = loader_of(context.loader)
        if loader is None or context.loop is None or not context.from_host:
            return False
        if not context.path and loader.suffers("unpinnable"):
            return False  # a class of the project, whose `to` may take no such argument
        if not (loader.pins or loader.may_gain_by_pinning) or are_gathered_elsewhere(facts, loader):
            return False  # from pageable memory a copy waits in any case
        if loader.moved_by or loader.mutated or not loader.constructor.advises:
            return False
        on_device = loader.suffers("device") or (loader.dataset is not None and loader.dataset.on_device)
        if not loader.pins and on_device:
            return False  # what is pinned must be on the host
        if not context.to_cuda or "unknown" in context.kinds:
            return False
    return bool(transfer.contexts)
