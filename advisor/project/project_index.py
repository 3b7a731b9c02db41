"""The files of a project, and which of them are understood together: a function of what is on disk alone."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accel_advisor.project.discovery import Found
from accel_advisor.project.import_graph import Group, Source, importers, imports_of, programs_apart
from accel_advisor.project.leftovers import given_up_folder, unused_by_others
from accel_advisor.source.excerpt import excerpt

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


@dataclass(frozen=True, slots=True)
class Excerpted:
    """Digests of a file's excerpt (:class:`~accel_advisor.source.excerpt.Excerpt`), and that of its bytes."""

    of: str
    digest: str
    placed: str


_Known = tuple[dict[str, Entry], dict[str, list[str]] | None, list[Group] | None, dict[str, Excerpted], frozenset[str]]


class ProjectIndex:
    """The Python files and notebooks that a lint of a project's root finds, grouped by their imports of each other.

    Args:
        root: the project's root.
        files: the files, absolute and free of symbolic links, each once.
        contents: bytes by absolute path, which stand instead of what is on disk.
        known: an earlier index of the same root, or its :attr:`data`; anything else counts as none.
        settled: nothing on disk changed since that one was made, so that no file is looked at again.
        given_up: those of the files that the owner gave up by their names, or those of folders around them.

    Attributes:
        given_up: those of these that no other file imports; none where nothing else mentions accelerators. The others
            are understood as if they were not there.
        changed: whether it differs from the earlier one.
    """

    def __init__(
        self,
        root: str,
        files: Iterable[str],
        contents: Mapping[str, bytes] | None = None,
        known: Any = None,
        *,
        settled: bool = False,
        given_up: Collection[str] = (),
    ) -> None:
        self.root = root
        self._contents = contents or {}
        before, imports, groups, self._excerpts, set_aside = _known(known)
        self._entries: dict[str, Entry] = {}
        for path in files:
            if len(self._entries) == MOST_FILES:
                break
            entry = self._entry(path, before.get(path), settled=settled)
            if entry is not None:
                self._entries[path] = entry
        same_files = list(before) == list(self._entries)
        others = [path for path, one in self._entries.items() if one is not before.get(path)] if same_files else []
        self.changed = groups is None or not same_files or bool(others)
        alike = same_files and all(self._imports_alike(before[path], path) for path in others)
        if imports is None or not alike:
            imports = imports_of(self._sources, root)
        relevant = (path for path, one in self._entries.items() if one.source.relevant)
        self.given_up = unused_by_others(given_up, imports, relevant) if given_up else frozenset[str]()
        alike = alike and self.given_up == set_aside
        self.changed |= self.given_up != set_aside
        if groups is None or not alike or any(before[path].source != self._entries[path].source for path in others):
            groups = programs_apart(self._sources, imports, self.given_up)
        self._imports = imports
        self._groups: list[Group] = groups
        self._programs = {path: group for group in groups for path in group.own}

    def program(self, path: str) -> Group:
        """The files that one is understood together with. One that is not part of the index stands alone: what it
        imports is read, and it changes nothing for others."""
        return self._programs.get(path, Group((path,)))

    def left_out(self, files: Iterable[Found]) -> dict[str, str]:
        """Those of some files that are not linted because their owner gave them up, by absolute path, each with the
        folder that says so, or its own path: they are linted where that is named, or a folder in that folder."""
        left: dict[str, str] = {}
        for one in files if self.given_up else ():
            path = os.path.realpath(one.filename)
            if one.below and path in self.given_up:
                tops = (os.path.join(os.path.realpath(top), "") for top in one.below)
                if not any(given_up_folder(top, self.root) for top in tops):
                    left[path] = given_up_folder(path, self.root) or path
        return left

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

    def digests(self, group: Group) -> list[str]:
        """Digests of what is read of each file of a program."""
        return [self._excerpt(path).digest if path in group.scripts else self.digest(path) for path in group.files]

    def placed(self, path: str) -> str:
        """A digest of a file's excerpt and of where its lines stand."""
        return self._excerpt(path).placed

    def _excerpt(self, path: str) -> Excerpted:
        digest = self.digest(path)
        known = self._excerpts.get(path)
        if known is None or known.of != digest:
            try:
                raw = self._contents[path] if path in self._contents else _bytes(path)
            except OSError:
                raw = b""
            found = excerpt(raw)
            known = self._excerpts[path] = Excerpted(digest_of(raw), found.digest, found.placed)
            self.changed = True
        return known

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
            "imports": [[numbers[path] for path in self._imports[importer]] for importer in numbers],
            "groups": [
                [[numbers[path] for path in part] for part in (one.own, one.callers, sorted(one.scripts))]
                for one in self._groups
            ],
            "given_up": sorted(numbers[path] for path in self.given_up),
            "excerpts": {
                path: [one.of, one.digest, one.placed] for path, one in self._excerpts.items() if path in numbers
            },
        }

    @property
    def _sources(self) -> dict[str, Source]:
        return {path: entry.source for path, entry in self._entries.items()}

    def _entry(self, path: str, before: Entry | None, *, settled: bool) -> Entry | None:
        """A file as it is, the earlier entry itself where that says the same; None where it cannot be read."""
        raw = self._contents.get(path)
        stamp: tuple[int, int, int] | None = None
        try:
            if raw is None:
                if settled and before is not None and before.stamp is not None:
                    return before
                status = os.stat(path)
                stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
                if before is not None and before.stamp == stamp:
                    return before
                if max(status.st_mtime, status.st_ctime) > time.time() - SETTLED_SECONDS:
                    stamp = None
                raw = _bytes(path)
        except OSError:  # it vanished or may not be read, so that nobody imports it
            return None
        digest = digest_of(raw)
        if before is None or before.digest != digest:
            return Entry(stamp, digest, Source.of(path, raw))
        return before if stamp is None else Entry(stamp, digest, before.source)

    def _imports_alike(self, before: Entry, path: str) -> bool:
        """Whether a file imports the same as before, and adds the same to where modules are looked for."""
        old, new = before.source, self._entries[path].source
        return (old.imports, old.added) == (new.imports, new.added)


def digest_of(raw: bytes) -> str:
    """What stands for a file's bytes."""
    return hashlib.blake2b(raw, digest_size=20).hexdigest()


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _known(known: Any) -> _Known:
    """The entries, imports, groups and excerpts of an earlier index, or of its data; none where that is damaged."""
    if isinstance(known, ProjectIndex):
        return known._entries, known._imports, known._groups, known._excerpts, known.given_up
    try:
        entries = {
            path: Entry(stamp and tuple(stamp), digest, Source(size, relevant, tuple(imports), tuple(added)))
            for path, (stamp, digest, size, relevant, imports, added) in known["files"].items()
        }
        paths = list(entries)
        imports = {path: list(_at(hits, paths)) for path, hits in zip(paths, known["imports"], strict=True)}
        groups = [
            Group(_at(own, paths), _at(callers, paths), frozenset(_at(scripts, paths)))
            for own, callers, scripts in known["groups"]
        ]
        excerpts = {path: Excerpted(of, digest, placed) for path, (of, digest, placed) in known["excerpts"].items()}
        return entries, imports, groups, excerpts, frozenset(_at(known["given_up"], paths))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return {}, None, None, {}, frozenset()


def _at(numbers: Iterable[int], paths: Sequence[str]) -> tuple[str, ...]:
    return tuple(paths[number] for number in numbers)
