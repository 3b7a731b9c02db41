"""Comments that stand in a column of their own stay there where a line becomes longer."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from accel_advisor.finding import Edit
from accel_advisor.source.document import Document

_APART = re.compile(r"( {3,})#")
"""A comment that is farther from the code than two spaces, as in a column."""


def columns_kept(document: Document, edits: Iterable[Edit]) -> Iterator[Edit]:
    """The edits that take from the white space in front of a comment, down to two spaces, what other edits add to its
    line; only for lines that are a statement and a comment.

    Args:
        edits: those of this document are all made; others are left out of account.
    """
    rows: dict[int, list[Edit]] = defaultdict(list)
    for one in edits:
        if one.filename == document.filename:
            rows[one.span.start.row].append(one)
    for row, own in rows.items():
        broken = any("\n" in one.content or "\r" in one.content or one.span.end.row != row for one in own)
        if broken or document.notebook is not None or row not in document.single_lines:
            continue
        added = sum(len(one.content) - (one.span.end.offset - one.span.start.offset) for one in own)
        behind = _end_of_code(document.line(row))
        found = _APART.match(document.line(row), behind) if behind is not None and added > 0 else None
        if found is not None:
            end = document.offset(row, 1) + found.end(1)
            yield document.edit(end - min(added, len(found[1]) - 2), end, "")


def _end_of_code(line: str) -> int | None:
    """Where the statement of a line ends; None where the line is none by itself."""
    code = line.strip()
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError):
        return None
    if not body or body[-1].end_col_offset is None:
        return None
    return len(line) - len(line.lstrip()) + len(code.encode()[: body[-1].end_col_offset].decode())
