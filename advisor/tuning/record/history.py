"""What a script reached, run after run: one line of JSON each, appended, never rewritten.

Runs can be compared where the command, the kind of machine and the device are the same; that is their key. A line is
appended with one write, so that runs that end together do not mix; one that was cut short by a full disk or a power cut
is left out and reported.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import Enum, auto
from pathlib import Path

from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.record.json_validation import Unfit, build, parse
from accel_advisor.tuning.record.record_file import RecordError, check_schema, is_moment, read_text
from accel_advisor.tuning.record.schema import Record

HISTORY = 1
"""The schema of a line."""
_START = '{"history": '


@dataclass(frozen=True, slots=True)
class Entry:
    """One run: what the script reached as it was left, in samples a second with the interval of that rate.

    Attributes:
        history: the schema.
        at: when the run began, in UTC, as ISO 8601 has it.
        key: the same for runs that can be compared.
        settings: of the loader, as the script has them now.
        gain: what a measured change that is not in the source would bring; None where there is none.
        fixes: of lint, such as ``ACC205 train.py:40``: those that were measured to pay and are not in the source.
        joules: that a sample takes, by the counters of the GPUs; None where no driver reports it.
    """

    history: int
    at: str
    key: str
    script: str
    args: tuple[str, ...]
    machine: str
    fingerprint: str
    device: str
    torch: str
    version: str
    rate: float
    low: float | None
    high: float | None
    settings: Settings
    wait: float | None
    gain: float | None
    sentence: str | None
    fixes: tuple[str, ...] = ()
    joules: float | None = None

    @property
    def bottom(self) -> float:
        """The lower end of the rate; 0 where the interval is open."""
        return 0.0 if self.low is None else self.low

    @property
    def top(self) -> float:
        """The upper end of the rate; infinite where the interval is open."""
        return math.inf if self.high is None else self.high


@dataclass(frozen=True, slots=True)
class History:
    """Lines in the order in which they were written, and which lines were left out."""

    entries: tuple[Entry, ...]
    torn: tuple[int, ...] = ()

    def of(self, key: str) -> tuple[Entry, ...]:
        """The runs that can be compared with each other."""
        return tuple(entry for entry in self.entries if entry.key == key)

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key, in the order of its first run."""
        return tuple(dict.fromkeys(entry.key for entry in self.entries))


def entry_of(record: Record) -> Entry | None:
    """The line that a run leaves; None where it came to no rate."""
    trained, number = record.trained, record.recommended if record.applied else 0
    if number is None or not record.tried or record.interrupted:
        return None
    # Every block of the run, not the last comparison alone: a rate is to be compared with those of other days.
    left_as = record.tried[number]
    if left_as.rate is None:
        return None
    machine = record.machine
    named = ", ".join(device.name for device in machine.devices) if machine else ""
    gain = trained.gain if record.kept is None and not record.applied else None
    return Entry(
        HISTORY,
        record.began,
        _key(record),
        record.script,
        record.args,
        f"{machine.processor or machine.architecture}, {machine.cores:g} cores" + (f", {named}" if named else "")
        if machine
        else "",
        machine.fingerprint if machine else "",
        record.device,
        record.torch,
        record.version,
        left_as.rate,
        left_as.low,
        left_as.high,
        left_as.settings,
        record.shares.wait,
        gain.ratio if gain is not None else None,
        record.sentence,
        tuple(one.where for one in record.fixes.raced if one.verdict == "pays" and not one.written)
        if record.fixes
        else (),
        left_as.device.joules if left_as.device is not None else None,
    )


def _key(record: Record) -> str:
    parts = [record.script, *record.args, record.machine.fingerprint if record.machine else "", record.device]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def append(path: Path, entry: Entry) -> None:
    """Adds a line with one write. What a torn last line left is closed first.

    Raises:
        OSError: the file cannot be written to.
    """
    line = json.dumps(asdict(entry), allow_nan=False) + "\n"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
    try:
        size = os.fstat(descriptor).st_size
        if size:
            os.lseek(descriptor, size - 1, os.SEEK_SET)
            if os.read(descriptor, 1) != b"\n":
                line = "\n" + line
        content = line.encode()
        if os.write(descriptor, content) != len(content):
            raise OSError(None, "the line was cut short: is the disk full?")
    finally:
        os.close(descriptor)


def read_history(path: Path) -> History:
    """Every run of a history.

    Raises:
        RecordError: it cannot be read, or holds something else.
    """
    entries, torn = [], []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            data = parse(line)
        except Unfit as error:
            # A torn line begins like every other: anything else is somebody else's file.
            if not line.startswith(_START) and not _START.startswith(line):
                raise RecordError(f"{path}:{number}: is not a line that `tune --history` wrote") from error
            torn.append(number)
            continue
        try:
            check_schema(data, "history", "history", HISTORY)
            entry = build(Entry, data)
        except Unfit as error:
            raise RecordError(f"{path}:{number}: {error}") from error
        if entry.rate <= 0 or not is_moment(entry.at) or (entry.joules is not None and entry.joules <= 0):
            raise RecordError(f"{path}:{number}: has a rate, an energy or a time that cannot be")
        entries.append(entry)
    return History(tuple(entries), tuple(torn))


def best(entries: Iterable[Entry]) -> Entry | None:
    """The run that was surely the fastest, by the lower end of its interval: a reading that was high by chance, on a
    noisy day, is no record to be held against. None where there is no run."""
    return max(entries, key=lambda entry: (entry.bottom, entry.rate), default=None)


def behind(today: Entry, record: Entry, tolerance: float) -> bool:
    """Whether a run has fallen behind the best recorded one: by more than the tolerance, a fraction, and by more than
    the two intervals leave open."""
    return today.rate < (1 - tolerance) * record.rate and today.top < record.bottom


class Rank(Enum):
    """How a run compares with those before it."""

    UNKNOWN = auto()
    """It came to no rate."""
    FIRST = auto()
    """There is none that it can be compared with."""
    BEHIND = auto()
    """It is slower than the best one by more than is tolerated."""
    BEST = auto()
    """It is surely the fastest so far."""
    WITHIN = auto()
    """It is none of these."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A run among those of its history.

    Attributes:
        today: the run; None where it came to no rate.
        best: the best one before it; None where there is none.
        torn: lines of the history that were cut short.
    """

    rank: Rank
    today: Entry | None = None
    best: Entry | None = None
    torn: tuple[int, ...] = ()


def standing(today: Entry, history: History, tolerance: float | None) -> Standing:
    """How a run stands among those before it.

    Args:
        tolerance: as :func:`behind` takes it; None where a script may be as slow as it likes.
    """
    top = best(history.of(today.key))
    if top is None:
        rank = Rank.FIRST
    elif tolerance is not None and behind(today, top, tolerance):
        rank = Rank.BEHIND
    else:
        rank = Rank.BEST if today.bottom > top.bottom else Rank.WITHIN
    return Standing(rank, today, top, history.torn)


def parse_tolerance(text: str) -> float:
    """A tolerance such as ``5%`` or ``0.05``, as a fraction.

    Raises:
        ValueError: it is none; one sentence with the remedy.
    """
    words = text.strip()
    per_cent = words.endswith("%")
    try:
        value = float(words.removesuffix("%")) / (100 if per_cent else 1)
    except ValueError:
        value = math.nan
    if not 0 <= value < 1:
        raise ValueError(f"{text!r} is no tolerance: write a share below 1, such as 5% or 0.05")
    return value


def is_history(path: Path) -> bool:
    """Whether a file begins as a history does.

    Raises:
        RecordError: it cannot be read.
    """
    try:
        with path.open("rb") as stream:
            return stream.read(len(_START)) == _START.encode()
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror or error}") from error
