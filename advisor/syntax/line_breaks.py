"""Where the lines of a text end, and a text without its lines."""

from __future__ import annotations

import re

NEWLINE = re.compile(r"\r\n|\r|\n")
"""What ends a line of Python, and of a notebook's cell."""
BLANK = re.compile(r"[ \t]*(?:\r\n|\r|\n)")
"""An empty line."""


def line_starts(text: str) -> list[int]:
    """Where each line begins, one behind the last newline included."""
    return [0, *(newline.end() for newline in NEWLINE.finditer(text))]


def in_one_line(text: str, most: int) -> str:
    """A text in one line, of which some characters are shown at most."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}..."
