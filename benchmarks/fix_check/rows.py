"""Which lines edits name, and which lines changed beside them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


def named_rows(edits: Iterable[tuple[Path, int, int]]) -> dict[Path, set[int]]:
    """The lines of each file that edits touch, with the lines beside them; an edit is its file, first and last line."""
    rows: dict[Path, set[int]] = {}
    for path, first, last in edits:
        rows.setdefault(path, set()).update(range(first - 1, last + 2))
    return rows


def stray_lines(before: bytes, after: bytes, rows: set[int]) -> list[int]:
    """Changed lines that no edit names."""
    old, new = (text.decode(errors="replace").splitlines() for text in (before, after))
    found = []
    for kind, start, end, _, _ in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal" and not rows & set(range(start + 1, end + 2)):
            found.append(start + 1)
    return found
