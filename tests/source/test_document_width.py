"""How long the lines of a file may be, as its own lines show."""

from __future__ import annotations

import pytest

from accel_advisor.source.document import Document

SHORT = "x = 1\n" * 60


@pytest.mark.parametrize(
    ("line", "width"),
    [
        ("", 79),
        ("x = f(" + "a" * 98 + ")", 105),
        ("x = f(" + "a" * 200 + ")", 120),
        ("# " + "-" * 110, 112),
        ("# " + "as they say " * 10, 79),
        ("    'as they say " + "they say " * 10 + "'", 79),
        ('    f"as they say ' + "they say " * 10 + '"', 79),
        ("x = 1  # see https://" + "a" * 90, 79),
    ],
)
def test_strings_comments_and_addresses_tell_nothing(line: str, width: int) -> None:
    assert Document("train.py", f"{SHORT}{line}\n").width == width
