"""What earlier runs found, by content: an unchanged program costs a hash."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from accel_advisor import __version__
from accel_advisor.config import Config
from accel_advisor.editing.fixer import write_atomically
from accel_advisor.finding import Applicability, CellPlace, Edit, Finding, Fix, Location, Related, Severity, Span
from accel_advisor.lint.report import Program, Result
from accel_advisor.plugins import entry_points

FOLDER = ".accel_advisor_cache"
MOST_ENTRIES = 20_000
KEPT_SECONDS = 30 * 24 * 3600
DAY = 24 * 3600


class Cache:
    """Results of programs, kept in a file below the project's root.

    An entry holds as long as the bytes of the program's files, those of the files that were consulted, the names of
    the Python files beside them, the configuration, the rules and this package stay the same. A cache that cannot be
    read counts as empty.

    Args:
        config: that of the run; its root is where the cache lies.
    """

    def __init__(self, config: Config) -> None:
        self._path = Path(config.root, FOLDER, "lint.json")
        self._salt = _salt(config)
        self._changed = False
        self._folders: dict[str, str] = {}
        self._digests: dict[str, str | None] = {}
        self._entries: dict[str, Any] = {}
        self._now = time.time()
        try:
            data = json.loads(self._path.read_bytes())
            if data["salt"] == self._salt:
                self._entries = dict(data["entries"])
        except (OSError, ValueError, KeyError, TypeError):
            self._changed = True  # absent or damaged: it is written anew

    def get(self, filenames: tuple[str, ...], contents: Mapping[str, bytes]) -> Result | None:
        """What is known of a program with these files and contents."""
        key = self._key(filenames, contents)
        entry = self._entries.get(key)
        if entry is None:
            return None
        try:
            if any(self._digest(name) != digest for name, digest in entry["consulted"].items()):
                return None
            if entry["folders"] != self._beside(filenames):
                return None
            findings = tuple(_finding(one) for one in entry["findings"])
            if self._now - entry["used"] > DAY:
                entry["used"] = self._now
                self._changed = True
        except (KeyError, TypeError, ValueError, AttributeError):
            return None
        return Result(Program(filenames, frozenset(entry["consulted"])), findings)

    def put(self, result: Result, contents: Mapping[str, bytes]) -> None:
        """Remembers what was found in a program."""
        filenames = result.program.filenames
        self._entries[self._key(filenames, contents)] = {
            "used": self._now,
            "consulted": {name: self._digest(name) for name in sorted(result.program.consulted)},
            "folders": self._beside(filenames),
            "findings": [_plain(one) for one in result.findings],
        }
        self._changed = True

    def save(self) -> None:
        """Writes the cache, unless nothing changed or the place cannot be written to."""
        if not self._changed:
            return
        kept = {key: entry for key, entry in self._entries.items() if self._now - entry.get("used", 0) < KEPT_SECONDS}
        newest = sorted(kept, key=lambda key: -kept[key]["used"])[:MOST_ENTRIES]
        data = {"salt": self._salt, "entries": {key: kept[key] for key in newest}}
        try:
            self._path.parent.mkdir(exist_ok=True)
            ignore = self._path.parent / ".gitignore"
            if not ignore.exists():
                write_atomically(ignore, b"*\n")
            write_atomically(self._path, json.dumps(data, separators=(",", ":")).encode())
        except OSError:
            # A read-only checkout is linted all the same, only not faster the next time.
            return

    def _key(self, filenames: tuple[str, ...], contents: Mapping[str, bytes]) -> str:
        digest = hashlib.blake2b(os.getcwd().encode(errors="surrogateescape"), digest_size=20)
        for name in filenames:
            digest.update(name.encode(errors="surrogateescape") + b"\0")
            digest.update(hashlib.blake2b(contents[name], digest_size=20).digest())
        return digest.hexdigest()

    def _digest(self, path: str) -> str | None:
        if path not in self._digests:
            try:
                raw = Path(path).read_bytes()
            except OSError:  # gone, which is a change like another
                self._digests[path] = None
            else:
                self._digests[path] = hashlib.blake2b(raw, digest_size=20).hexdigest()
        return self._digests[path]

    def _beside(self, filenames: tuple[str, ...]) -> str:
        """A digest of the Python files beside a program: a new one may change what an import means or call into it."""
        folders = {os.path.dirname(os.path.abspath(name)) for name in filenames}
        folders |= {os.path.dirname(folder) for folder in folders}
        digest = hashlib.blake2b(digest_size=20)
        for folder in sorted(folders):
            if folder not in self._folders:
                self._folders[folder] = "\n".join(_listing(folder))
            digest.update(f"{folder}\n{self._folders[folder]}\n".encode(errors="surrogateescape"))
        return digest.hexdigest()


def _listing(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                if entry.name.endswith(".py"):
                    yield entry.name
                elif "." not in entry.name and os.path.exists(os.path.join(entry.path, "__init__.py")):
                    yield entry.name + "/"
    except OSError:
        return


def _salt(config: Config) -> str:
    """What all entries depend on: the configuration, the interpreter, this package and the rules of other packages."""
    digest = hashlib.blake2b(repr(config.settings()).encode(), digest_size=20)
    digest.update(repr((__version__, sys.version_info[:3])).encode())
    for folder in (Path(__file__).parent.parent, Path(_rules_folder())):
        for path in sorted(folder.rglob("*.py")):
            status = path.stat()
            digest.update(repr((path.name, status.st_size, status.st_mtime_ns)).encode())
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
        fix and [fix.title, fix.applicability.value, [[e.filename, _plain_span(e.span), e.content] for e in fix.edits]],
        [[one.filename, _plain_span(one.span), one.message] for one in finding.related],
    ]


def _finding(data: list[Any]) -> Finding:
    code, name, message, severity, filename, span, fix, related = data
    return Finding(
        code,
        name,
        message,
        Severity(severity),
        filename,
        _span(span),
        fix
        and Fix(fix[0], tuple(Edit(file, _span(place), text) for file, place, text in fix[2]), Applicability(fix[1])),
        tuple(Related(file, _span(place), text) for file, place, text in related),
    )


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
