"""Trees are kept for the texts that were parsed last, and no more of them than there is room for."""

from __future__ import annotations

import libcst as cst
import pytest

from accel_advisor.source.document import Document
from accel_advisor.syntax import tree_cache
from accel_advisor.syntax.tree_cache import Recent


def test_gives_the_same_tree_for_the_same_text_of_a_file() -> None:
    one, other = Document("a.py", "x = 1\n"), Document("a.py", "x = 1\n")
    assert one.tree is other.tree
    assert one.tree is not Document("a.py", "x = 2\n").tree


def test_two_files_with_the_same_text_share_no_nodes() -> None:
    assert Document("a.py", "x = 1\n").tree is not Document("b.py", "x = 1\n").tree


def test_forgets_the_text_that_was_not_asked_for_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_cache, "MOST_CHARACTERS", 12)
    kept = Recent(cst.parse_module)
    a, b = kept.of("a = 1\n", "a.py"), kept.of("b = 1\n", "a.py")
    assert kept.of("a = 1\n", "a.py") is a
    kept.of("c = 1\n", "a.py")
    assert kept.of("a = 1\n", "a.py") is a
    assert kept.of("b = 1\n", "a.py") is not b


def test_keeps_two_texts_of_a_file_that_is_edited_and_all_of_those_that_are_not() -> None:
    kept = Recent(cst.parse_module)
    other = kept.of("b = 1\n", "b.py")
    trees = [kept.of(f"a = {number}\n", "a.py") for number in range(4)]
    again = [kept.of(f"a = {number}\n", "a.py") for number in (3, 2)]
    assert again == [trees[3], trees[2]]
    assert kept.of("a = 1\n", "a.py") is not trees[1]
    assert kept.of("b = 1\n", "b.py") is other


def test_does_not_keep_what_would_fill_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_cache, "MOST_CHARACTERS", 12)
    kept = Recent(cst.parse_module)
    small = kept.of("a = 1\n", "a.py")
    large = kept.of("abcdefg = 12345\n", "a.py")
    assert kept.of("abcdefg = 12345\n", "a.py") is not large
    assert kept.of("a = 1\n", "a.py") is small


def test_an_error_is_raised_each_time() -> None:
    kept = Recent(cst.parse_module)
    for _ in range(2):
        with pytest.raises(cst.ParserSyntaxError):
            kept.of("x = = 1\n", "a.py")


def test_asks_a_tree_once_whichever_document_it_is_read_for() -> None:
    asked: list[cst.Module] = []

    def find(tree: cst.Module) -> int:
        asked.append(tree)
        return len(tree.body)

    assert [Document("once.py", "x = 1\ny = 2\n").once(find) for _ in range(3)] == [2, 2, 2]
    assert Document("once.py", "x = 3\n").once(find) == 1
    assert len(asked) == 2
