"""Trees are kept for the texts that were parsed last, and no more of them than there is room for."""

from __future__ import annotations

import libcst as cst
import pytest

from accel_advisor.source.document import Document
from accel_advisor.syntax import tree_cache
from accel_advisor.syntax.tree_cache import Recent


def test_gives_the_same_tree_for_the_same_text() -> None:
    one, other = Document("a.py", "x = 1\n"), Document("b.py", "x = 1\n")
    assert one.tree is other.tree
    assert one.tree is not Document("a.py", "x = 2\n").tree


def test_forgets_the_text_that_was_not_asked_for_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_cache, "MOST_CHARACTERS", 12)
    kept = Recent(cst.parse_module)
    a, b = kept.of("a = 1\n"), kept.of("b = 1\n")
    assert kept.of("a = 1\n") is a
    kept.of("c = 1\n")
    assert kept.of("a = 1\n") is a
    assert kept.of("b = 1\n") is not b


def test_does_not_keep_what_would_fill_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_cache, "MOST_CHARACTERS", 12)
    kept = Recent(cst.parse_module)
    small = kept.of("a = 1\n")
    large = kept.of("abcdefg = 12345\n")
    assert kept.of("abcdefg = 12345\n") is not large
    assert kept.of("a = 1\n") is small


def test_an_error_is_raised_each_time() -> None:
    kept = Recent(cst.parse_module)
    for _ in range(2):
        with pytest.raises(cst.ParserSyntaxError):
            kept.of("x = = 1\n")
