"""What trials measured of a script: the records and histories beside it, and what stands at its loader and loop."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from accel_advisor.finding import per_cent
from accel_advisor.sights import Landmark, Sight
from accel_advisor.source.program_lines import place_of
from accel_advisor.tuning.record.history import Entry, read_history
from accel_advisor.tuning.record.record_file import RecordError, read_record
from accel_advisor.tuning.record.schema import Record

MOST_BYTES = 20_000_000
MOST_FILES = 50
"""Records beside one script that are looked at, the newest first."""
_BEGINNING = 4_000
_UNCHANGED = {"nothing_to_gain": "; nothing to gain", "undecided": "; whether a change would pay is undecided"}
Stamp = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of a script.

    Attributes:
        at: when that run began, in UTC.
        text: the figures in words.
        loader: the cell, of a notebook, and the row of the loader that was measured, from 1; None where it stands in
            another file or is not known.
    """

    at: str
    text: str
    loader: tuple[int | None, int] | None = None


class Trials:
    """The records of trials, each of which is read again only where its file changed."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[Stamp, list[Record | Entry]]] = {}

    def of(self, script: str, root: str, named: Sequence[str] = ()) -> Measured | None:
        """What was measured last of a script, or of a loader that it builds; None where nothing was.

        Args:
            root: the folder of the workspace that it is in.
            named: other files to look at, relative to that.
        """
        folders = dict.fromkeys([os.path.dirname(script), root])
        files = [*(os.path.join(root, one) for one in named), *_newest(folders)]
        found = [
            measured
            for path in dict.fromkeys(files)
            for one in self._records(path)
            if (measured := _measured(one, script, [os.path.dirname(path), *folders])) is not None
        ]
        return max(found, key=lambda one: one.at, default=None)

    def _records(self, path: str) -> list[Record | Entry]:
        try:
            status = os.stat(path)
            stamp = (status.st_size, status.st_mtime_ns)
            known = self._read.get(path)
            if known is None or known[0] != stamp:
                self._read[path] = stamp, _read(path) if status.st_size <= MOST_BYTES else []
        except OSError:
            return []
        return self._read[path][1]


def _newest(folders: Iterable[str]) -> list[str]:
    found: list[tuple[float, str]] = []
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                found += [
                    (one.stat().st_mtime, one.path)
                    for one in entries
                    if one.name.endswith((".json", ".jsonl")) and one.is_file()
                ]
        except OSError:  # a file that was never saved has no folder yet
            continue
    return [path for _, path in sorted(found, reverse=True)[:MOST_FILES]]


def _read(path: str) -> list[Record | Entry]:
    """The trials that a file records; none where it is another one.

    Raises:
        OSError: it cannot be read.
    """
    with open(path, "rb") as file:
        start = file.read(_BEGINNING)
    try:
        if b'"history"' in start:
            return list(read_history(Path(path)).entries)
        return [read_record(Path(path))] if b'"schema"' in start else []
    except RecordError:  # any other JSON file of the project
        return []


def _measured(one: Record | Entry, script: str, folders: Sequence[str]) -> Measured | None:
    if isinstance(one, Entry):
        if not _is(one.script, script, folders):
            return None
        gain = "" if one.gain is None else f"; a change would make it {one.gain:.2f} times as fast"
        return Measured(one.at, f"{_rate(one.rate)}{_waiting(one.wait)}{gain}")
    sites = [site for loader in one.loaders if (site := loader.site) is not None]
    row = next(((site.cell, site.row) for site in sites if _is(site.filename, script, folders)), None)
    if not _is(one.script, script, folders) and row is None:
        return None
    return Measured(one.began, _figures(one), row)


def _figures(record: Record) -> str:
    """``1,240 samples/s, 63 % of each step waits for data; 8 workers: 2.10 times as fast``."""
    trained = record.trained
    text = f"{_rate(trained.baseline.rate)}{_waiting(record.shares.wait)}"
    if record.kept is not None or trained.gain is None or trained.recommended is None:
        return text + _UNCHANGED.get(record.verdict or "", "")
    return f"{text}; {'changed' if record.applied else 'a change makes it'} {trained.gain.ratio:.2f} times as fast"


def _rate(rate: float | None) -> str:
    return "no rate" if rate is None else f"{rate:,.0f} samples/s" if rate >= 10 else f"{rate:.2g} samples/s"


def _waiting(share: float | None) -> str:
    return "" if share is None else f", {per_cent(share)} of each step waits for data"


def _is(name: str, script: str, folders: Sequence[str]) -> bool:
    """Whether a record that lies in one of some folders, or was written there, means a script by a name."""
    real = os.path.realpath(script)
    return any(os.path.realpath(os.path.join(folder, name)) == real for folder in folders)


def lines_of(landmarks: Iterable[Landmark], measured: Measured | None) -> Iterator[tuple[Landmark, str]]:
    """The landmarks of a script with what stands above each: figures at the loader that was measured, else at the first
    loader or loop, and at all others what a trial would say."""
    ordered = sorted(landmarks, key=lambda one: one.span.start)
    own = [
        one for one in ordered if one.sight is Sight.LOADER and measured and place_of(one.span.start) == measured.loader
    ]
    first = next(iter(own or ordered), None)
    for one in ordered:
        text = f"measured {measured.at[:10]}: {measured.text}" if measured is not None and one is first else ""
        yield one, text
