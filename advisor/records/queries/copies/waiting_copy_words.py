"""What is said of copies of batches that the host waits for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from accel_advisor.records.loaders import labels_of

if TYPE_CHECKING:
    from accel_advisor.records.loaders import LoaderCall
    from accel_advisor.records.queries.steps.waiting_copies import WaitingCopy
    from accel_advisor.records.queries.steps.wrapper_copies import WrapperCopy
    from accel_advisor.values.evidence import Evidence


def copying_and_waiting(copies: list[WaitingCopy]) -> str:
    """What is said of several copies of one statement."""
    calls = " and ".join(f"`{copy.transfer.document.code(copy.transfer.node)}`" for copy in copies)
    loaders = (loader for copy in copies for loader in copy.loaders)
    done = "wait until the copies are done" if len(copies) > 1 else "waits until the copy is done"
    return f"{_whose_batches(loaders, all(copy.pinned for copy in copies))} {calls} {done}"


def wrapping_and_waiting(copy: WrapperCopy) -> tuple[str, str]:
    """What is said of the copies that the wrapper of a model makes, and what to do."""
    call = f"`{copy.call.document.code(copy.call.node)}`"
    whose = _whose_batches(copy.loaders, copy.pinned)
    claim = f"{whose} in {call} {copy.wrapper} copies them to the GPU, and waits{copy.basis.clause}"
    return claim, "copy before it, by `.to(device, non_blocking=True)`"


def _whose_batches(loaders: Iterable[LoaderCall], pinned: bool) -> str:
    loaders = list(loaders)
    names = labels_of(loaders)
    pins = "pin their batches" if len({loader.label for loader in loaders}) > 1 else "pins its batches"
    return f"{names} {pins}, but" if pinned else f"for the batches of {names},"


def making_and_waiting(code: str, basis: Evidence, *, filled: bool) -> tuple[str, str]:
    """What is said of a copy of what a step makes itself, or fills sample by sample, and what to do."""
    if filled:
        return (
            f"each step fills its batch sample by sample, and `{code}` waits until that is copied{basis.clause}",
            "let a DataLoader do it in workers (`collate_fn`) and pin it, and pass `non_blocking=True`",
        )
    return (
        f"`{code}` makes a tensor at every step, and waits until it is copied{basis.clause}",
        "keep the data on the GPU where it fits, or let a DataLoader pin batches of it",
    )


def remedy_for(copies: list[WaitingCopy], *, before_0_4: bool = False) -> str:
    """What to do about several copies of one statement, in words; with a torch ``before_0_4`` there was no ``to``, and
    the argument had another name."""
    first = copies[0]
    method, argument = (".cuda(", "async") if before_0_4 else (".to(device, ", "non_blocking")
    if any(copy.recast for copy in copies):
        pin = "" if first.from_pinning else "let the loader pin its batches, "
        return f"{pin}copy first, with `{argument}=True`, and cast on the GPU: what a cast makes is not pinned"
    if first.by_type:
        return f"copy by `{method}{argument}=True)`, and cast on the GPU"
    where = first.asynchronous_where
    given = f"pass `{argument}={where}`" if where else f"pass `{argument}=True` where the device is CUDA"
    asked = all(copy.transfer.waits_unless_asked for copy in copies)
    remedy = "let its setting be on by default" if asked else given
    if first.may_be_pinned or all(copy.pinned for copy in copies):
        return remedy
    return f"{remedy}, and let the loader pin its batches: from pageable memory the copy waits nearly as long"
