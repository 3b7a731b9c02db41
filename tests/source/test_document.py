"""Texts that parsers stumble over: form feeds, deep nesting, odd newlines."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
import pytest

from accel_advisor.editing.fixer import apply_edits
from accel_advisor.source.document import Document
from accel_advisor.source.parsing import DocumentError


def calls(node: cst.CSTNode) -> Iterator[cst.Call]:
    if isinstance(node, cst.Call):
        yield node
    for child in node.children:
        yield from calls(child)


def call_in(document: Document) -> tuple[int, int, str]:
    (call,) = (one for one in calls(document.tree) if isinstance(one.func, cst.Name) and one.func.value == "f")
    span = document.span(call)
    return span.start.row, span.start.column, document.code(call)


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("\x0cf(1)\n", 1),
        ("import os\n\x0c\nf(1)\n", 3),
        ("import os\n\x0c\x0cif x:\n    f(1)\n", 3),
        ("# a\x0cb\nx = 'a\x0cb'; f(1)\n", 2),
        ("import os\r\n\x0c\r\nf(1)\r\n", 3),
        ('"""\n\x0c"""\nf(1)\n', 3),
    ],
)
def test_form_feeds_keep_their_places(text: str, row: int) -> None:
    document = Document("a.py", text)
    found, _, code = call_in(document)
    assert (found, code) == (row, "f(1)")
    at = text.index("1)")
    assert apply_edits(text, [document.edit(at, at + 1, "2")]) == text.replace("f(1)", "f(2)")


@pytest.mark.parametrize("tail", ["\n   \n   \n", "\n\t\n\n  ", "\r\n  \r\n  \r\n\r\n"])
def test_lines_of_white_space_at_the_end_keep_no_place_from_being_found(tail: str) -> None:
    document = Document("a.py", "if x:\n    f(1)\n" + tail)
    assert call_in(document) == (2, 5, "f(1)")


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 20_000 + ")" * 20_000,
        "x = " + "[" * 500 + "]" * 500,
        "x = " + "1 + " * 20_000 + "1",
        "x = " + "not " * 20_000 + "y",
        "x = (\n" + "not\n" * 4_000 + "y)",
        "x = " + "not \\\n" * 4_000 + "y",
        "x = (y\n" + ".f()  # next\n" * 4_000 + ")",
        "x = y" + "[0]" * 4_000,
        "x = " + "lambda a, b=':': " * 4_000 + "1",
        "x = " + "a if b else " * 4_000 + "c",
        "x = [a " + "for a, b in c " * 4_000 + "]",
        "if x == 0:\n    pass\n" + "".join(f"elif x == {number}:\n    pass\n" for number in range(20_000)),
        "match x:\n    case " + "{1: " * 30 + "y" + "}" * 30 + ":\n        pass\n",
        "del " + "(" * 40 + "a b" + " for a in b)" * 40,
        "print 'two'\nx = " + "(" * 20_000 + ")" * 20_000,
    ],
    ids=(
        "parentheses brackets terms nots lines continuations methods subscripts lambdas conditions comprehension "
        "branches patterns deletions not-even-Python"
    ).split(),
)
def test_what_would_keep_or_crash_the_parser_is_refused(text: str) -> None:
    with pytest.raises(DocumentError, match=r"nested too deeply") as refused:
        _ = Document("a.py", "f(1)\n\n" + text).tree
    assert refused.value.row >= 3 or "elif" in text


@pytest.mark.parametrize(
    "text",
    [
        "x = [" + "1, " * 2_000 + "]",
        "x = {" + "'a': -b.c(1) + 2, " * 500 + "}",
        "x = [" + "lambda a, b: a, " * 1_000 + "]",
        "x = (" + "'text'\n" * 1_000 + ")",
        "x = '" + "(" * 1000 + "'",
        '"""It\'s ((' + "-\n" * 1000 + '"""',
        "# [" + "not " * 1_000,
        "x = " + "(" * 150 + ")" * 150,
        "x = " + "1 + " * 399 + "1",
        "x = y" + ".f()" * 199,
        "if x:\n    pass\n" + "elif x:\n    pass\n" * 400,
        "if x:\n    pass\nelif x:\n    pass\n" * 600,
        "match x:\n    case {1: [A(b=(c, [d]))]}:\n        pass",
        "x = 1; " * 1_000,
    ],
)
def test_what_only_looks_deep_is_parsed_and_has_places(text: str) -> None:
    document = Document("a.py", text + "\nf(1)\n")
    assert document.code(document.tree.body[-1]).strip() == "f(1)"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_rows_follow_every_newline(newline: str) -> None:
    text = newline.join(["import os", "", "if x:", "    f(1)", ""])
    assert call_in(Document("a.py", text)) == (4, 5, "f(1)")


def test_comments_of_a_line_are_those_beside_and_right_above_it() -> None:
    document = Document("train.py", "# first\nx = 1  # one\n    # two\n\ny = 2\n")
    assert [document.comment_beside(row) for row in range(1, 6)] == ["# first", "# one", "# two", "", ""]
    assert [document.comment_above(row) for row in range(1, 6)] == ["", "# first", "", "# two", ""]
