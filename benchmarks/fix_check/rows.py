"""Which lines edits name, and which lines changed beside them."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable
from pathlib import Path


def named_rows(edits: Iterable[tuple[Path, int, int]]) -> dict[Path, set[int]]:
    """The lines of each file that edits touch, with the lines beside them; an edit is its file, first and last line."""
    rows: dict[Path, set[int]] = {}
    for path, first, last in edits:
        rows.setdefault(path, set()).update(range(first - 1, last + 2))
    return rows


def stray_lines(before: bytes, after: bytes, rows: set[int]) -> list[int]:
    """Changed lines that no edit names, but for imports that go with the last use of what they bring in, which several
    edits may take out together."""
    old, new = (text.decode(errors="replace").splitlines() for text in (before, after))
    found = []
    for kind, start, end, _, _ in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal" and not rows & set(range(start + 1, end + 2)) and not _are_imports(old[start:end]):
            found.append(start + 1)
    return found


_IMPORT = re.compile(r"(import|from)\s|\s+\w+( as \w+)?,$|\s*$")


def _are_imports(lines: list[str]) -> bool:
    return bool(lines) and all(_IMPORT.match(line) for line in lines)


def names_lost(before: bytes, after: bytes) -> set[str]:
    """Names that imports at the top of a text brought in, that do so no more, and that are used all the same."""
    old, new = ast.parse(before), ast.parse(after)
    used = {one.id for one in ast.walk(new) if isinstance(one, ast.Name)}
    return (_imported(old) - _imported(new)) & used


def _imported(tree: ast.Module) -> set[str]:
    found = [alias for one in tree.body if isinstance(one, (ast.Import, ast.ImportFrom)) for alias in one.names]
    return {one.asname or one.name.partition(".")[0] for one in found}
