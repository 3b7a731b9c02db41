"""What earlier runs found, by content: an unchanged program costs a hash."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import astuple, replace
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from accel_advisor import __version__
from accel_advisor.config import Config
from accel_advisor.editing.fixer import write_atomically
from accel_advisor.finding import (
    Applicability,
    CellPlace,
    Confidence,
    Edit,
    Finding,
    Fix,
    Frequency,
    Location,
    Pause,
    Related,
    Severity,
    Span,
    StepWait,
)
from accel_advisor.linting.report import Program, Result
from accel_advisor.plugins import entry_points
from accel_advisor.project.project_index import ProjectIndex
from accel_advisor.project.surroundings import Surroundings
from accel_advisor.sights import Gap, Landmark, NotKnown, Seen, SeenLoader, Sight

FOLDER = ".accel_advisor_cache"
MOST_ENTRIES = 20_000
KEPT_SECONDS = 30 * 24 * 3600
DAY = 24 * 3600


class Cache:
    """What is known of a project, kept in files below its root: the results of programs, and the index.

    A result holds as long as the bytes of the program's files, those of the files that were consulted, the names of
    the requirements files in folders that were consulted and of the Python files around the program, the
    configurations, the rules and this package stay the same. What cannot be read counts as empty.

    Args:
        root: the project's root.
        salt: what all of it depends on; what was written under another one counts as empty.
        contents: bytes by absolute path, which stand instead of what is on disk.
    """

    def __init__(self, root: str, salt: str, contents: Mapping[str, bytes]) -> None:
        self._folder = Path(root, FOLDER)
        self._salt = salt
        self._changed = False
        self._surroundings = Surroundings(contents)
        self._entries: dict[str, Any] = {}
        self._index: dict[str, Any] | None = None
        self._now = time.time()
        data = self._read("lint.json")
        try:
            self._entries = dict(data["entries"])
        except (KeyError, TypeError, ValueError):
            self._changed = True  # absent or damaged: it is written again

    def get(self, program: Program, digests: Iterable[str]) -> Result | None:
        """What is known of a program whose files have these digests."""
        entry = self._entries.get(program_key(program, digests))
        if entry is None:
            return None
        try:
            if any(self._surroundings.digest(name) != digest for name, digest in entry["consulted"].items()):
                return None
            if entry["folders"] != self._surroundings.around(program.filenames, program.root):
                return None
            consulted, placed = frozenset(entry["consulted"]), tuple((name, at) for name, at in entry["placed"])
            findings = tuple(_finding(one) for one in entry["findings"])
            seen = tuple(_seen(one) for one in entry["seen"])
            landmarks = tuple(_landmark(one) for one in entry["landmarks"])
            if self._now - entry["used"] > DAY:
                entry["used"] = self._now
                self._changed = True
        except (KeyError, TypeError, ValueError, AttributeError):
            return None
        return Result(replace(program, consulted=consulted, placed=placed), findings, seen, landmarks)

    def put(self, result: Result, digests: Iterable[str]) -> None:
        """Remembers what was found in a program whose files have these digests."""
        self._entries[program_key(result.program, digests)] = {
            "used": self._now,
            "consulted": {name: self._surroundings.digest(name) for name in sorted(result.program.consulted)},
            "placed": result.program.placed,
            "folders": self._surroundings.around(result.program.filenames, result.program.root),
            "findings": [_plain(one) for one in result.findings],
            "seen": [astuple(one) for one in result.seen],
            "landmarks": [[one.sight, one.filename, _plain_span(one.span), one.name] for one in result.landmarks],
        }
        self._changed = True

    @property
    def index(self) -> Any:
        """The data of the project's index when it was last kept, whatever became of the files since."""
        data = self._read("index.json")
        return data.get("index") if isinstance(data, dict) else None

    @property
    def settled(self) -> bool:
        """Nothing is known of what became of files since an earlier run."""
        return False

    def keep_index(self, index: ProjectIndex) -> None:
        """Remembers the data of the project's index, where it is another one than before."""
        if index.changed:
            self._index = index.data

    def save(self) -> None:
        """Writes what changed, unless the place cannot be written to."""
        try:
            if self._changed:
                now, entries = self._now, self._entries
                kept = {key: one for key, one in entries.items() if now - one.get("used", 0) < KEPT_SECONDS}
                newest = sorted(kept, key=lambda key: -kept[key]["used"])[:MOST_ENTRIES]
                self._write("lint.json", {"entries": {key: kept[key] for key in newest}})
            if self._index is not None:
                self._write("index.json", {"index": self._index})
        except OSError:
            # A read-only checkout is linted all the same, only not faster the next time.
            return

    def _read(self, name: str) -> Any:
        """What a file of the cache holds; None where it cannot be read or something else has written it."""
        try:
            data = json.loads(self._folder.joinpath(name).read_bytes())
            return data if data["salt"] == self._salt else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def _write(self, name: str, data: dict[str, Any]) -> None:
        self._folder.mkdir(exist_ok=True)
        ignore = self._folder / ".gitignore"
        if not ignore.exists():
            write_atomically(ignore, b"*\n")
        write_atomically(self._folder / name, json.dumps({"salt": self._salt, **data}, separators=(",", ":")).encode())


class Caches:
    """The caches of the projects of a run."""

    def __init__(self) -> None:
        self._of: dict[str, Cache] = {}

    def of(self, root: str, contents: Mapping[str, bytes]) -> Cache:
        """That of the project with a root.

        Args:
            contents: bytes by absolute path, which stand instead of what is on disk; the same in all of a run.
        """
        if root not in self._of:
            self._of[root] = Cache(root, self._salt, contents)
        return self._of[root]

    @cached_property
    def _salt(self) -> str:
        return _salt()

    def save(self) -> None:
        """Writes what changed, wherever that is possible."""
        for one in self._of.values():
            one.save()


def program_key(program: Program, digests: Iterable[str]) -> str:
    """What stands for a program whose files have these digests, seen from the working directory."""
    digest = hashlib.blake2b(repr((os.getcwd(), program.root)).encode(errors="surrogateescape"), digest_size=20)
    for name, config, own in zip(program.filenames, program.configs, digests, strict=True):
        calls = (name in program.callers) + (name in program.scripts)
        digest.update(f"{name}\0{_settings(config)}\0{own}\0{calls}\0".encode(errors="surrogateescape"))
    return digest.hexdigest()


@cache
def _settings(config: Config) -> str:
    return repr(config.settings())


def _salt() -> str:
    """What all entries depend on: the interpreter, this package and the rules of other packages."""
    digest = hashlib.blake2b(repr((__version__, sys.version_info[:3])).encode(), digest_size=20)
    for folder in (os.path.dirname(os.path.dirname(__file__)), _rules_folder()):
        walked = ((parent, name) for parent, _, names in os.walk(folder) for name in names if name.endswith(".py"))
        for parent, name in sorted(walked):  # as strings: paths would take twice as long, in each run
            status = os.stat(os.path.join(parent, name))
            digest.update(repr((name, status.st_size, status.st_mtime_ns)).encode())
    for point in entry_points():
        digest.update(repr((point.value, point.dist.version if point.dist else None)).encode())
    return digest.hexdigest()


def _rules_folder() -> str:
    found = find_spec("accel_advisor.rules")
    if found is None or not found.submodule_search_locations:
        raise ImportError("this installation of accel-advisor lacks its rules; install it again")
    return found.submodule_search_locations[0]


def _plain(finding: Finding) -> list[Any]:
    fix = finding.fix
    return [
        finding.code,
        finding.name,
        finding.message,
        finding.severity.value,
        finding.filename,
        _plain_span(finding.span),
        fix and _plain_fix(fix),
        [[one.filename, _plain_span(one.span), one.message, one.code] for one in finding.related],
        finding.confidence.value,
        finding.frequency.value,
        finding.minor,
        finding.aside,
        finding.group,
        finding.wait and [finding.wait.loop, finding.wait.pause.value],
        finding.advice,
    ]


def _finding(data: list[Any]) -> Finding:
    code, name, message, severity, filename, span, fix, related, confidence, *kind, wait, advice = data
    frequency, minor, aside, group = kind
    return Finding(
        code,
        name,
        message,
        Severity(severity),
        filename,
        _span(span),
        fix and _fix(*fix),
        tuple(Related(file, _span(place), text, rule) for file, place, text, rule in related),
        Confidence(confidence),
        Frequency(frequency),
        bool(minor),
        bool(aside),
        group,
        wait and StepWait(wait[0], Pause(wait[1])),
        advice=advice,
    )


def _plain_fix(fix: Fix) -> list[Any]:
    edits = [[one.filename, _plain_span(one.span), one.content] for one in fix.edits]
    return [fix.title, edits, fix.applicability.value, fix.workers]


def _fix(title: str, edits: list[Any], applicability: str, workers: int | None) -> Fix:
    made = tuple(Edit(file, _span(place), text) for file, place, text in edits)
    return Fix(title, made, Applicability(applicability), workers)


def _seen(data: list[Any]) -> Seen:
    filename, loaders, asynchronous, waiting, moved_by, gaps = data
    return Seen(
        filename,
        tuple(SeenLoader(*one) for one in loaders),
        asynchronous,
        waiting,
        tuple(moved_by),
        tuple(NotKnown(Gap(gap), line, code) for gap, line, code in gaps),
    )


def _landmark(data: list[Any]) -> Landmark:
    sight, filename, span, name = data
    return Landmark(Sight(sight), filename, _span(span), name)


def _plain_span(span: Span) -> list[list[int]]:
    return [_plain_location(span.start), _plain_location(span.end)]


def _plain_location(at: Location) -> list[int]:
    cell = at.cell
    inside = [cell.number, cell.row, cell.file_row, cell.file_column] if cell else []
    return [at.offset, at.row, at.column, *inside]


def _span(data: list[list[int]]) -> Span:
    start, end = map(_location, data)
    return Span(start, end)


def _location(data: list[int]) -> Location:
    offset, row, column, *inside = data
    return Location(offset, row, column, CellPlace(*inside) if inside else None)
