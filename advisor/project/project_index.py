"""The files of a project, and which of them are understood together: a function of what is on disk alone."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from accel_advisor.project.import_graph import Group, Source, importers, programs

SETTLED_SECONDS = 2.0
"""A file that changed less than this before it was read may change again and keep its size and time of change."""
MOST_FILES = 20_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as it was read.

    Attributes:
        stamp: size and times of change; None where the file may change without another stamp.
        digest: of its bytes.
        source: what it imports.
    """

    stamp: tuple[int, int, int] | None
    digest: str
    source: Source


class ProjectIndex:
    """The Python files and notebooks that a lint of a project's root finds, grouped by their imports of each other.

    Args:
        root: the project's root.
        files: the files, absolute and free of symbolic links, each once.
        contents: bytes by absolute path, which stand instead of what is on disk.
        known: :attr:`data` of an earlier index of the same root; anything else counts as none.
    """

    def __init__(
        self, root: str, files: Iterable[str], contents: Mapping[str, bytes] | None = None, known: Any = None
    ) -> None:
        self.root = root
        self._contents = contents or {}
        self._before, groups = _read_data(known)
        self._entries: dict[str, Entry] = {}
        self.changed = groups is None
        for path in files:
            if len(self._entries) == MOST_FILES:
                break
            self._add(path)
        self.changed |= list(self._before) != list(self._entries)
        if groups is None or self.changed:
            groups = programs(self._sources, root)
        self._groups = groups
        self._programs = {path: group for group in groups for path in group.own}

    def program(self, path: str) -> Group:
        """The files that one is understood together with. One that is not part of the index stands alone: what it
        imports is read, and it changes nothing for others."""
        return self._programs.get(path, Group((path,)))

    def importers(self, paths: Iterable[str]) -> list[str]:
        """The files that import one of these themselves."""
        return importers(set(paths), self._sources, self.root)

    def digest(self, path: str) -> str:
        """A digest of a file's bytes; an empty one where it cannot be read."""
        entry = self._entries.get(path)
        if entry is not None:
            return entry.digest
        try:
            return digest_of(self._contents[path] if path in self._contents else _bytes(path))
        except OSError:  # it vanished
            return ""

    @property
    def data(self) -> dict[str, Any]:
        """What a later index of the same root may begin with, in terms of JSON."""
        numbers = {path: number for number, path in enumerate(self._entries)}
        return {
            "files": {
                path: [
                    one.stamp,
                    one.digest,
                    one.source.size,
                    one.source.relevant,
                    one.source.imports,
                    one.source.added,
                ]
                for path, one in self._entries.items()
            },
            "groups": [[[numbers[path] for path in part] for part in (one.own, one.callers)] for one in self._groups],
        }

    @property
    def _sources(self) -> dict[str, Source]:
        return {path: entry.source for path, entry in self._entries.items()}

    def _add(self, path: str) -> None:
        before = self._before.get(path)
        raw = self._contents.get(path)
        stamp: tuple[int, int, int] | None = None
        try:
            if raw is None:
                status = os.stat(path)
                stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
                if before is not None and before.stamp == stamp:
                    self._entries[path] = before
                    return
                if max(status.st_mtime, status.st_ctime) > time.time() - SETTLED_SECONDS:
                    stamp = None
                raw = _bytes(path)
        except OSError:  # it vanished or may not be read, so that nobody imports it
            return
        digest = digest_of(raw)
        same = before is not None and before.digest == digest
        source = before.source if before is not None and same else Source.of(path, raw)
        self._entries[path] = Entry(stamp, digest, source)
        self.changed |= not same or stamp is not None


def digest_of(raw: bytes) -> str:
    """What stands for a file's bytes."""
    return hashlib.blake2b(raw, digest_size=20).hexdigest()


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _read_data(known: Any) -> tuple[dict[str, Entry], list[Group] | None]:
    """The entries and groups of an earlier index; none where that is damaged."""
    try:
        entries = {
            path: Entry(stamp and tuple(stamp), digest, Source(size, relevant, tuple(imports), tuple(added)))
            for path, (stamp, digest, size, relevant, imports, added) in known["files"].items()
        }
        paths = list(entries)
        groups = [
            Group(tuple(paths[number] for number in own), tuple(paths[number] for number in callers))
            for own, callers in known["groups"]
        ]
        return entries, groups
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return {}, None
