"""What a person must know before taking a change over, and what was not tried, in notes."""

from __future__ import annotations

from accel_advisor.source.document import is_notebook
from accel_advisor.tuning.applying.objections import Objection, Objections, Reason
from accel_advisor.tuning.probe.channel.wire import LoaderInfo, Settings, Trait
from accel_advisor.tuning.search.settings import prefetch

PROBE_SECONDS = 1e-4
"""That the probe takes of a step at most: more than was ever seen (`tiny-steps` of benchmarks/regret)."""
_SHOWS = 1.05
_OBJECTIONS = {
    Objection.READ_WHOLE: "each worker would yield the whole iterable data set unless it is shared out by "
    "torch.utils.data.get_worker_info()",
    Objection.INCOMPLETE_BATCHES: "each makes batches of its own share, so that an epoch may end in several incomplete "
    "ones",
    Objection.REBUILT: "the loader is built again for every epoch, so no worker outlives one",
    Objection.EPOCH_UNSEEN: "its data set has set_epoch, which workers that persist do not see",
    Objection.CELLS_UNSEEN: "they do not fork here, and would not find what the cells define; a data set in a "
    ".py file, which the notebook imports, can have workers",
    Objection.CHANGED_IN_USE: "the script changes its data set while it is in use",
}


def reason_text(reason: Reason) -> str:
    """What speaks against settings, as a clause."""
    return _OBJECTIONS[reason] if isinstance(reason, Objection) else reason.words


def side_effects(info: LoaderInfo, old: Settings, new: Settings, objections: Objections) -> list[str]:
    """What a person must know before taking over ``new``."""
    notes = []
    if old.num_workers != new.num_workers:
        notes.append(
            "another number of workers draws other random augmentations, and other orders from the second epoch on, "
            "for the same seed"
        )
    if new.persistent_workers and not old.persistent_workers:
        notes.append(
            "persistent workers keep their copy of the data set: changes to it between epochs do not reach them"
        )
    if new.num_workers > old.num_workers:
        notes += [f"with more workers, {reason_text(caution)}" for caution in objections.cautions]
    notes += not_tried(new, objections)
    if Trait.CYCLED in info.traits:
        notes.append(
            "the loader is read once and kept in memory by itertools.cycle, so its settings matter in the first epoch "
            "alone"
        )
    if new.num_workers and info.start_method != "fork" and old.num_workers == 0 and not _in_cells(info):
        notes.append(f"workers start by {info.start_method}, so the script needs an `if __name__ == '__main__':` guard")
    if new.num_workers or prefetch(new) != prefetch(old):
        notes.append(
            "a trial reads the data from the page cache: where it is larger than memory, a full run waits longer for it"
        )
    return notes


def _in_cells(info: LoaderInfo) -> bool:
    """Whether a notebook builds the loader: its workers do not run it again."""
    return any(is_notebook(frame.filename) for frame in info.stack)


def not_tried(settings: Settings, objections: Objections) -> list[str]:
    """What was not tried because it would change what the training computes."""
    notes = [f"more workers were not tried: {reason_text(reason)}" for reason in objections.workers]
    if settings.num_workers and not settings.persistent_workers:
        notes += [f"persistent_workers was not tried: {reason_text(reason)}" for reason in objections.persistence]
    return notes


def short_steps(old: float, new: float) -> list[str]:
    """What must be said of a gain from steps that take ``old`` and ``new`` seconds, where the probe's own time in both
    may hide a part of it."""
    if new > PROBE_SECONDS and (old - PROBE_SECONDS) / (new - PROBE_SECONDS) < _SHOWS * old / new:
        return []
    return [
        f"a step takes {1e3 * new:.2g} ms then, so short that measuring takes a part of it: the gain is rather larger "
        "without that"
    ]
