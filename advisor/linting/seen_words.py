"""What was seen of trainings that rules are silent about, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from accel_advisor.sights import Seen, SeenLoader

MOST_FILES = 5
MOST_LOADERS = 3
MOST_GAPS = 2


def seen_lines(seen: Iterable[Seen]) -> Iterator[str]:
    """A line a file, those in which something is not known first, and a count of the files that are left out."""
    ordered = sorted(seen, key=lambda one: (not one.gaps, one.healthy, not one.loaders))
    for one in ordered[:MOST_FILES]:
        yield f"{one.filename}: {sentence(one)}"
    left = len(ordered) - MOST_FILES
    if left > 0:
        yield f"and {left:,} more file{'' if left == 1 else 's'}"


def sentence(seen: Seen) -> str:
    """``1 DataLoader (line 172: pinned, 8 workers), 2 asynchronous copies: nothing to mend``."""
    text = f"{_loaders(seen.loaders)}, {_moves(seen)}"
    if seen.gaps:
        gaps = [f"{one.gap} in {one.line} (`{one.code}`)" for one in seen.gaps[:MOST_GAPS]]
        return f"{text}; not known: {', '.join(gaps)}{_more(seen.gaps, MOST_GAPS)}"
    return f"{text}: nothing to mend" if seen.healthy else text


def _loaders(loaders: Sequence[SeenLoader]) -> str:
    if not loaders:
        return "no DataLoader"
    kinds = {one.kind for one in loaders}
    kind = kinds.pop() if len(kinds) == 1 else "loader"
    settings = "; ".join(f"{one.line}: {_pinning(one)}, {_workers(one)}" for one in loaders[:MOST_LOADERS])
    return f"{count_of(len(loaders), kind)} ({settings}{_more(loaders, MOST_LOADERS)})"


def _pinning(loader: SeenLoader) -> str:
    return {True: "pinned", False: "not pinned", None: "pinning not known"}[loader.pins]


def _workers(loader: SeenLoader) -> str:
    if loader.workers is None:
        return "number of workers not known"
    return count_of(loader.workers, "worker") if loader.workers else "no workers"


def _moves(seen: Seen) -> str:
    said = [f"batches moved by {' and '.join(seen.moved_by)}"] if seen.moved_by else []
    if seen.asynchronous:
        said.append("1 asynchronous copy" if seen.asynchronous == 1 else f"{seen.asynchronous} asynchronous copies")
    if seen.waiting:
        said.append("1 copy that waits" if seen.waiting == 1 else f"{seen.waiting} copies that wait")
    return ", ".join(said) or "no copies of batches to a device"


def _more(things: Sequence[object], shown: int) -> str:
    return f", and {len(things) - shown} more" if len(things) > shown else ""


def count_of(number: int, noun: str) -> str:
    """A number of things: ``1 file``, ``1,200 files``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
