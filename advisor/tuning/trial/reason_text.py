"""What the child's reasons read like for people."""

from __future__ import annotations

from collections.abc import Sequence

from accel_advisor.tuning.probe.channel.reasons import (
    CandidateReason,
    IteratesItself,
    KeepsBatches,
    KnobRefused,
    LoaderShape,
    LoopReason,
    Meaningless,
    MovedOn,
    Raised,
    RanksDiffer,
    RanksMissing,
    TooFewBatches,
    Unmeasurable,
    UntimedDevice,
)
from accel_advisor.tuning.probe.channel.wire import CandidateFailed

_LOOPS = {
    Unmeasurable.NO_LOADER: "the training loop takes no batch from a DataLoader, and no optimizer of torch.optim steps "
    "in it that would tell one step from the next, so it cannot be measured: let an optimizer change the parameters",
    Unmeasurable.NO_LOADER_ON_RANKS: "the training loop takes no batch from a DataLoader, and such a loop is measured "
    "in one process only: leave out --nproc-per-node and --nnodes",
    Unmeasurable.LOADER_LATER: "a loop that takes its batches from a DataLoader came after the one that was measured, "
    "which takes none from one",
    Unmeasurable.READ_BEFORE: "the batches are read once before training, not from a DataLoader in the training loop, "
    "so no setting of a loader can make the loop faster",
    Unmeasurable.TRAINS_ELSEWHERE: "the training happens in processes that the script starts itself, and a trial "
    "measures the process of the script: let it train in one process, or in those that torchrun starts, with "
    "--nproc-per-node N, if it can",
    Unmeasurable.RANKS_PARTED: "the ranks went different ways: they do not take the same batches from the same loader",
}
_CANDIDATES = {
    Meaningless.NO_TRANSFERS: "there is no accelerator, so there are no transfers to leave out",
    Meaningless.NO_PINNING: "pin_memory and non_blocking have no effect without an accelerator",
    Meaningless.NOTHING_PERSISTS: "the script builds its loader again for every epoch, so that no worker outlives one",
    Meaningless.NOTHING_KEPT: "no batch could be kept to serve at once",
    Meaningless.NO_BATCH: "the data set of the loader gives no batch",
}


def loop_text(reason: LoopReason) -> str:
    """Why a loop cannot be measured, in one sentence."""
    match reason:
        case Unmeasurable():
            return _LOOPS[reason]
        case KeepsBatches(steps):
            return (
                f"{steps} training steps in a row took no batch from the DataLoader: the loop keeps the batches that "
                "it has read once, as itertools.cycle does"
            )
        case IteratesItself(loader):
            return f"{loader} has an __iter__ of its own that never asks DataLoader's, so its settings have no effect"
        case MovedOn(steps):
            return (
                f"{steps} training steps in a row took their batches from other DataLoaders than the one that was "
                "being measured: the loop has gone on to another"
            )
        case UntimedDevice(device):
            return f"the model is on {device}, whose work cannot be timed by events of torch"
        case RanksDiffer(rank, first, other):
            return (
                f"rank 0 and rank {rank} build their loaders differently, so they cannot be tuned as one: rank 0 has "
                f"{_shape_text(first)}, rank {rank} {_shape_text(other)}"
            )
        case RanksMissing(waiting, missing, seconds):
            return (
                f"{ranks_text(waiting)} waited {seconds:.0f} s for {ranks_text(missing)} at the same batch: the ranks "
                "must take the same number of batches, as with a DistributedSampler"
            )
        case KnobRefused(words):
            return words


def candidate_text(failed: CandidateFailed) -> str:
    """Why a candidate cannot be measured, in one sentence; empty where that is not known."""
    words = _candidate_text(failed.reason) if failed.reason is not None else ""
    return f"{words} (on rank {failed.rank})" if failed.rank is not None else words


def _candidate_text(reason: CandidateReason) -> str:
    match reason:
        case Meaningless():
            return _CANDIDATES[reason]
        case TooFewBatches(batches, seconds):
            return f"{batches} batches came within {seconds:.0f} s, too few for a block"
        case Raised(words):
            return words


def ranks_text(ranks: Sequence[int]) -> str:
    """Ranks in words: ``rank 1``, ``ranks 0, 2 and 3``."""
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    return f"ranks {', '.join(map(str, ranks[:-1]))} and {ranks[-1]}"


def _shape_text(shape: LoaderShape | None) -> str:
    if shape is None:
        return "none"
    batches = "epochs of unknown length" if shape.length is None else f"{shape.length} batches in an epoch"
    return f"{shape.workers} workers and {batches}"
