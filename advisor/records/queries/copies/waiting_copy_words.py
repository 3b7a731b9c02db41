"""What is said of copies of batches that the host waits for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from accel_advisor.records.loaders import labels_of

if TYPE_CHECKING:
    from accel_advisor.records.loaders import LoaderCall
    from accel_advisor.records.queries.steps.waiting_copies import WaitingCopy
    from accel_advisor.source.document import Document
    from accel_advisor.values.evidence import Evidence


def whose_batches(loaders: Iterable[LoaderCall], pinned: bool) -> str:
    """The beginning of a sentence about copies of the batches of loaders."""
    names = labels_of(loaders)
    pins = "pin their batches" if "` and `" in names else "pins its batches"
    return f"{names} {pins}, but" if pinned else f"for the batches of {names},"


def what_waits(document: Document, copies: list[WaitingCopy]) -> str:
    """That the host waits for the copies of one statement."""
    calls = " and ".join(f"`{document.code(copy.transfer.node)}`" for copy in copies)
    return f"{calls} {'wait until the copies are done' if len(copies) > 1 else 'waits until the copy is done'}"


def making_and_waiting(code: str, basis: Evidence) -> str:
    """What is said of a copy of what a step makes itself."""
    return (
        f"`{code}` makes a tensor at every step, and waits until it is copied{basis.clause}; keep the data on the GPU "
        f"where it fits, or let a DataLoader pin batches of it"
    )


def remedy_for(copies: list[WaitingCopy]) -> str:
    """What to do about several copies of one statement, in words."""
    first = copies[0]
    if any(copy.recast for copy in copies):
        pin = "" if first.from_pinning else "let the loader pin its batches, "
        return f"{pin}copy first, with `non_blocking=True`, and cast on the GPU: what a cast makes is not pinned"
    if first.by_type:
        return "copy by `.to(device, non_blocking=True)`, and cast on the GPU"
    where = first.asynchronous_where
    given = f"pass `non_blocking={where}`" if where else "pass `non_blocking=True` where the device is CUDA"
    asked = all(copy.transfer.waits_unless_asked for copy in copies)
    remedy = "let its setting be on by default" if asked else given
    if first.may_be_pinned or all(copy.pinned for copy in copies):
        return remedy
    return f"{remedy}, and let the loader pin its batches: from pageable memory the copy waits nearly as long"
