"""Where the lines of a text end."""

from __future__ import annotations

import re

NEWLINE = re.compile(r"\r\n|\r|\n")
"""What ends a line of Python, and of a notebook's cell."""
BLANK = re.compile(r"[ \t]*(?:\r\n|\r|\n)")
"""An empty line."""


def line_starts(text: str) -> list[int]:
    """Where each line begins, one behind the last newline included."""
    return [0, *(newline.end() for newline in NEWLINE.finditer(text))]
