"""Findings that a project has agreed to live with: a committed file that hides them until their line changes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accel_advisor.config import ConfigError
from accel_advisor.editing.fixer import write_atomically
from accel_advisor.finding import Finding
from accel_advisor.linting.report import Report
from accel_advisor.selection import INTERNAL_ERROR
from accel_advisor.source.document import Document

VERSION = 1
LONGEST_LINE = 200

Entry = tuple[str, str]
"""A rule's code and a line, as :func:`_line` gives it."""


@dataclass(frozen=True, slots=True)
class Match:
    """A report beside a baseline.

    Attributes:
        unknown: the findings that the baseline does not hold, in their order.
        left: what the baseline holds besides, by file.
    """

    unknown: list[Finding]
    left: dict[str, Counter[Entry]]


Judged = Mapping[str, frozenset[str]]
"""What a run can say about: by file, as a baseline calls it, the codes of the rules that ran there. Another file, or
another rule, may still have findings."""


class Baseline:
    """A file of entries. An entry is a rule, a file and the text of a line, and how many findings there are of that
    kind: it holds wherever the line moves in its file, and no longer when the line changes.

    Args:
        path: of the file; the files that it names are relative to its folder.
        entries: how many findings it holds of each kind, by file.
    """

    def __init__(self, path: Path, entries: dict[str, Counter[Entry]] | None = None) -> None:
        self.path = path
        self._folder = os.path.dirname(os.path.realpath(path))
        self._entries = entries or {}

    @classmethod
    def read(cls, path: Path) -> Baseline:
        """The baseline in a file.

        Raises:
            ConfigError: it is not there, cannot be read, or is not a baseline.
        """
        try:
            data = json.loads(path.read_bytes())
        except FileNotFoundError as error:
            raise ConfigError(f"{path}: there is no such baseline; --write-baseline {path} makes it") from error
        except OSError as error:
            raise ConfigError(f"{path}: the baseline cannot be read: {error.strerror or error}") from error
        except (ValueError, RecursionError) as error:
            where = f" in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
            raise ConfigError(
                f"{path}: is not a baseline, because it is not valid JSON{where}; {_hint(path)}"
            ) from error
        try:
            if data["version"] != VERSION:
                raise ConfigError(f"{path}: is a baseline of version {data['version']!r}, not {VERSION}; {_hint(path)}")
            entries = {file: _entries(listed) for file, listed in data["findings"].items()}
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(f"{path}: is not a baseline: it lacks what one holds; {_hint(path)}") from error
        return cls(path, entries)

    def __len__(self) -> int:
        return sum(counts.total() for counts in self._entries.values())

    def match(self, report: Report) -> Match:
        """What of a report it holds, and what not. Of more findings of a kind than it holds, the last ones are new."""
        left = {file: counts.copy() for file, counts in self._entries.items()}
        unknown: list[Finding] = []
        for finding, (file, entry) in zip(report.findings, self._kinds(report, report.findings), strict=True):
            if finding.code != INTERNAL_ERROR[0] and left.get(file, Counter())[entry] > 0:
                left[file][entry] -= 1
            else:
                unknown.append(finding)
        return Match(unknown, {file: +counts for file, counts in left.items() if counts.total()})

    def stale(self, match: Match, judged: Judged) -> int:
        """How many findings it holds that no longer occur."""
        return sum(
            count
            for file, counts in match.left.items()
            for (code, _), count in counts.items()
            if code in judged.get(file, ()) or self._is_gone(file)
        )

    def renewed(self, report: Report, match: Match, new: Iterable[Finding], judged: Judged) -> Baseline:
        """This baseline with new findings, and without those that no longer occur. What the run cannot say
        anything about stays."""
        entries = {file: counts - match.left.get(file, Counter()) for file, counts in self._entries.items()}
        for file, counts in match.left.items():
            for entry, count in counts.items():
                if entry[0] not in judged.get(file, ()) and not self._is_gone(file):
                    entries[file][entry] += count
        added = [one for one in new if one.code != INTERNAL_ERROR[0]]
        for file, entry in self._kinds(report, added):
            entries.setdefault(file, Counter())[entry] += 1
        return Baseline(self.path, {file: counts for file, counts in entries.items() if counts.total()})

    def write(self) -> None:
        """Writes it: sorted, an entry a line, so that a change of one finding changes one line.

        Raises:
            OSError: it cannot be written.
        """
        files = []
        for file in sorted(self._entries):
            entries = sorted(self._entries[file].items())
            lines = [
                json.dumps({"code": code, "count": count, "line": line}, ensure_ascii=False)
                for (code, line), count in entries
            ]
            listed = ",\n".join(f"      {line}" for line in lines)
            files.append(f"    {json.dumps(file, ensure_ascii=False)}: [\n{listed}\n    ]")
        inner = "{\n" + ",\n".join(files) + "\n  }" if files else "{}"
        text = f'{{\n  "version": {VERSION},\n  "findings": {inner}\n}}\n'
        write_atomically(self.path, text.encode("utf-8", errors="replace"))

    def key(self, filename: str) -> str:
        """What it calls a file."""
        path = os.path.realpath(filename)
        with contextlib.suppress(ValueError):  # another drive
            path = os.path.relpath(path, self._folder)
        return path.replace(os.sep, "/").encode(errors="replace").decode()

    def _is_gone(self, file: str) -> bool:
        return not os.path.exists(os.path.join(self._folder, file))

    def _kinds(self, report: Report, findings: Iterable[Finding]) -> Iterator[tuple[str, Entry]]:
        """The file and the entry that each finding is of."""
        documents: dict[str, Document | None] = {}
        for finding in findings:
            name = finding.filename
            if name not in documents:
                documents[name] = report.document(name)
            yield self.key(name), (finding.code, _line(documents[name], finding.span.start.row))


def _line(document: Document | None, row: int) -> str:
    """A line as it is kept: without the white space that formatting changes, and not endless."""
    try:
        line = " ".join(document.line(row).split()) if document is not None else ""
    except IndexError:  # a place after the last line
        line = ""
    if len(line) <= LONGEST_LINE:
        return line
    digest = hashlib.sha256(line.encode(errors="replace")).hexdigest()[:16]
    return f"{line[:LONGEST_LINE]}... {digest}"


def _entries(listed: Collection[Any]) -> Counter[Entry]:
    found: Counter[Entry] = Counter()
    for one in listed:
        code, line, count = one["code"], one["line"], one["count"]
        if not isinstance(code, str) or not isinstance(line, str) or type(count) is not int or count < 1:
            raise ValueError("an entry that no run has written")
        found[code, line] += count
    return found


def _hint(path: Path) -> str:
    return f"remove it and write it again with --write-baseline {path}"
