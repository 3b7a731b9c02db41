"""What speaks against settings of a loader whatever they measure: they would change what the training computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from accel_advisor.records.dataset_facts import Veto
from accel_advisor.records.facts import LoaderCall
from accel_advisor.source.parsing import DocumentError
from accel_advisor.tuning.applying.locate import loader_of
from accel_advisor.tuning.probe.channel.wire import LoaderInfo, Trait


class Objection(Enum):
    """A reason that is known from the loader itself."""

    READ_WHOLE = auto()
    """Each worker would yield the whole iterable data set."""
    INCOMPLETE_BATCHES = auto()
    """Each worker makes batches of its own share."""
    REBUILT = auto()
    """The loader is built again for every epoch."""
    EPOCH_UNSEEN = auto()
    """Workers that persist do not see the epoch that the data set is given."""
    CELLS_UNSEEN = auto()
    """Workers, which do not fork, would not find what the cells of a notebook define."""
    CHANGED_IN_USE = auto()
    """The script changes its data set while it is in use."""


Reason = Objection | Veto
"""A reason that is known from the loader itself, or from the source of its data set."""


@dataclass(frozen=True, slots=True)
class Objections:
    """What speaks against settings.

    Attributes:
        workers: why there must not be more workers than now, or than one.
        persistence: why workers must not outlive an epoch.
        cautions: what a person must know before taking over more workers.
        most_workers: how many the data set can have, those of the source aside; None for any number.
    """

    workers: tuple[Reason, ...] = ()
    persistence: tuple[Reason, ...] = ()
    cautions: tuple[Reason, ...] = ()
    most_workers: int | None = None


def objections_to(info: LoaderInfo, root: Path) -> Objections:
    """What the probe saw of a loader at run time, and what its source says."""
    workers: list[Reason] = []
    persistence: list[Reason] = []
    cautions: list[Reason] = []
    if info.shares == 1:
        workers.append(Objection.READ_WHOLE)
    elif Trait.ITERABLE in info.traits:
        cautions.append(Objection.INCOMPLETE_BATCHES)
    if Trait.REBUILT in info.traits:
        persistence.append(Objection.REBUILT)
    if Trait.SETS_EPOCH in info.traits:
        persistence.append(Objection.EPOCH_UNSEEN)
    try:
        loader = loader_of(info.stack, root=root)
    except DocumentError:
        loader = None  # a source that cannot be parsed is refused with its reason where it would be edited
    dataset = loader.dataset if loader is not None else None
    for veto in dataset.vetoes if dataset is not None else ():
        if veto.kind == "handle" or (veto.kind == "stream" and info.shares == 1):
            workers.append(veto)
        elif veto.kind in ("cache", "generator"):
            cautions.append(veto)
        elif veto.kind == "written":
            persistence.append(veto)
    if dataset is not None and dataset.changes and not persistence:
        persistence.append(Objection.CHANGED_IN_USE)
    if loader is not None and _built_anew(loader) and not persistence:
        persistence.append(Objection.REBUILT)
    most = 1 if workers else info.shares
    if Trait.NEEDS_CELLS in info.traits:
        workers.insert(0, Objection.CELLS_UNSEEN)
        most = 0
    return Objections(_once(workers), _once(persistence), _once(cautions), most)


def _built_anew(loader: LoaderCall) -> bool:
    """Whether the loop that builds the loader is the one over the epochs."""
    return any(
        context.loops and any(loop.parent is context.loops[-1] for loop in loader.loops) for context in loader.contexts
    )


def _once(reasons: Sequence[Reason]) -> tuple[Reason, ...]:
    """Each reason once; vetoes of the same words are one."""
    return tuple({one if isinstance(one, Objection) else one.words: one for one in reasons}.values())
