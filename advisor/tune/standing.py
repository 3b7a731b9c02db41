"""What speaks against settings of a loader whatever they measure: they would change what the training computes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .probe.wire import LoaderInfo


@dataclass(frozen=True, slots=True)
class Standing:
    """Reasons, each a clause that can stand in a note.

    Attributes:
        workers: why there must not be more workers than now, or than one.
        persistence: why workers must not outlive an epoch.
        cautions: what a person must know before taking over more workers.
    """

    workers: tuple[str, ...] = ()
    persistence: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()


def standing_of(info: LoaderInfo, root: Path) -> Standing:
    """What the probe saw of a loader at run time, and what its source says (rules.md D02, D03, D06, D10, D11)."""
    from ..semantics.locate import DocumentError, loader_of

    workers, persistence, cautions = [], [], []
    if info.length is None or any("is iterable" in note for note in info.notes):
        workers.append(
            "each worker would yield the whole iterable data set unless it is shared out by "
            "torch.utils.data.get_worker_info()"
        )
    persistence += [
        note for note in info.notes if any(word in note for word in ("attribute", "set_epoch", "built anew"))
    ]
    try:
        loader = loader_of(info.stack, root=root)
    except DocumentError:
        loader = None  # a source that cannot be parsed is refused with its reason where it would be edited
    dataset = loader.dataset if loader is not None else None
    for veto in dataset.vetoes if dataset is not None else ():
        if veto.kind in ("handle", "stream"):
            workers.append(veto.words)
        elif veto.kind in ("cache", "generator"):
            cautions.append(veto.words)
        elif veto.kind == "written":
            persistence.append(veto.words)
    if dataset is not None and dataset.changes and not persistence:
        persistence.append("the script changes its data set while it is in use")
    return Standing(tuple(dict.fromkeys(workers)), tuple(dict.fromkeys(persistence)), tuple(dict.fromkeys(cautions)))
