"""What speaks against settings of a loader whatever they measure: they would change what the training computes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from accel_advisor.tune.probe.channel.wire import LoaderInfo

if TYPE_CHECKING:
    from accel_advisor.records.facts import LoaderCall


@dataclass(frozen=True, slots=True)
class Standing:
    """Reasons, each a clause that can stand in a note.

    Attributes:
        workers: why there must not be more workers than now, or than one.
        persistence: why workers must not outlive an epoch.
        cautions: what a person must know before taking over more workers.
        most_workers: how many the data set can have, those of the source aside; None for any number.
    """

    workers: tuple[str, ...] = ()
    persistence: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    most_workers: int | None = None


def standing_of(info: LoaderInfo, root: Path) -> Standing:
    """What the probe saw of a loader at run time, and what its source says (rules.md D02, D03, D06, D10, D11)."""
    from accel_advisor.tune.applying.locate import DocumentError, loader_of

    workers, persistence, cautions = [], [], []
    if info.shares == 1:
        workers.append(
            "each worker would yield the whole iterable data set unless it is shared out by "
            "torch.utils.data.get_worker_info()"
        )
    if any("shares itself out among" in note for note in info.notes):
        cautions.append("each makes batches of its own share, so that an epoch may end in several incomplete ones")
    persistence += [
        note for note in info.notes if any(word in note for word in ("attribute", "set_epoch", "built anew"))
    ]
    try:
        loader = loader_of(info.stack, root=root)
    except DocumentError:
        loader = None  # a source that cannot be parsed is refused with its reason where it would be edited
    dataset = loader.dataset if loader is not None else None
    for veto in dataset.vetoes if dataset is not None else ():
        if veto.kind == "handle" or (veto.kind == "stream" and info.shares == 1):
            workers.append(veto.words)
        elif veto.kind in ("cache", "generator"):
            cautions.append(veto.words)
        elif veto.kind == "written":
            persistence.append(veto.words)
    if dataset is not None and dataset.changes and not persistence:
        persistence.append("the script changes its data set while it is in use")
    if loader is not None and _built_anew(loader) and not persistence:
        persistence.append("the loader is built anew for every epoch, so no worker outlives one")
    most = 1 if workers else info.shares
    return Standing(_once(workers), _once(persistence), _once(cautions), most)


def _built_anew(loader: LoaderCall) -> bool:
    """Whether the loop that builds the loader is the one over the epochs."""
    return any(
        context.loops and any(loop.parent is context.loops[-1] for loop in loader.loops) for context in loader.contexts
    )


def _once(reasons: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reasons))
