"""Fixes drawn at random, as diffs for a reader."""

from __future__ import annotations

import difflib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from .project import Found

CONTEXT = 4
"""Lines around a change that are shown."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """One fix."""

    project: Path
    finding: Found

    @property
    def title(self) -> str:
        """Where it is, its code and its kind."""
        one = self.finding
        where = f"{self.project.name}/{one['filename']}:{one['location']['row']}"
        return f"{where} {one['code']} {one['severity']} {one['fix']['applicability']}"

    def diff(self) -> str:
        """What the fix does by itself."""
        lines: list[str] = []
        for name in dict.fromkeys(edit["filename"] for edit in self.finding["fix"]["edits"]):
            raw = (self.project / name).read_bytes().decode("utf-8-sig", errors="replace")
            before = raw.splitlines(keepends=True)
            after = self._edited(raw, name).splitlines(keepends=True)
            lines += difflib.unified_diff(before, after, name, name, n=CONTEXT)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    def _edited(self, text: str, name: str) -> str:
        starts = [0]
        for line in text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        edits = [edit for edit in self.finding["fix"]["edits"] if edit["filename"] == name]
        spans = [
            (*(starts[edit[end]["row"] - 1] + edit[end]["column"] - 1 for end in ("location", "end_location")), edit)
            for edit in edits
        ]
        for start, stop, edit in sorted(spans, key=lambda one: one[:2], reverse=True):
            text = text[:start] + edit["content"] + text[stop:]
        return text


def draw(groups: list[list[Drawn]], count: int, least: int, seed: int) -> Iterator[Drawn]:
    """A number of fixes from groups in turns: so many of each rule first, then whatever comes."""
    chance = random.Random(seed)
    for group in groups:
        chance.shuffle(group)
    rest = [one for row in zip_longest(*groups) for one in row if one is not None]
    by_rule: dict[str, list[Drawn]] = {}
    for one in rest:
        by_rule.setdefault(one.finding["code"], []).append(one)
    first = [one for code in sorted(by_rule) for one in by_rule[code][:least]]
    chosen = [*first, *(one for one in rest if one not in first)]
    yield from sorted(chosen[:count], key=lambda one: (one.finding["code"], one.title))
