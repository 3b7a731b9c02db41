"""Older Python, put as today's Python has it, and the way back to the places of the old text."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accel_advisor.source.document import Document
from accel_advisor.source.older_python import as_today
from accel_advisor.source.parsing import DocumentError

READ = {
    'print "a %d" % 3, x\n': 'print("a %d" % 3, x)\n',
    "print\n": None,
    "print >>sys.stderr, x  # note\n": "print(sys.stderr, x)  # note\n",
    "if x: print x; y = 1\n": "if x: print(x); y = 1\n",
    "print f(1,\n    2)\n": "print(f(1,\n    2))\n",
    'print("a"), x\n': None,
    "print in names\n": None,
    'exec "code"\n': 'exec("code")\n',
    "x.cuda(async=True)\n": "x.cuda(non_blocking=True)\n",
    "x.cuda(0, async = True)\n": "x.cuda(0, non_blocking = True)\n",
    "async = 3\n": "non_blocking = 3\n",
    "f(async)\n": "f(async_)\n",
    "async def f(): pass\n": None,
    "try:\n    f()\nexcept (A, B), e:\n    pass\n": "try:\n    f()\nexcept (A, B) as e:\n    pass\n",
    "try:\n    f()\nexcept (A, B):\n    pass\n": None,
    "try:\n    f()\nexcept A, B:\n    pass\n": None,
    'raise ValueError, "no"\n': "raise ValueError\n",
    'raise ValueError("no", 1)\n': None,
}
PIECES = ["x = 1\n", "print x\n", "y.cuda(async=True)\n", "# note\n", "f(a,\n  b)\n", "raise A, b\n", "z = 'ü'\n"]


@pytest.mark.parametrize(("old", "new"), READ.items(), ids=READ)
def test_what_is_older_is_put_as_today(old: str, new: str | None) -> None:
    reading = as_today(old)
    assert (reading and reading.text) == new
    if new is not None:
        ast.parse(new)


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=12))
def test_each_kept_character_leads_back_to_itself(pieces: list[str]) -> None:
    old = "".join(pieces)
    reading = as_today(old)
    if reading is None:
        ast.parse(old)
        return
    assert len(ast.parse(reading.text).body) == sum(one != "# note\n" for one in pieces)
    places = [reading.back(offset) for offset in range(len(reading.text) + 1)]
    assert places == sorted(places)
    assert places[-1] == len(old)
    assert reading.text.count("\n") == old.count("\n")
    for at, line in enumerate(reading.text.split("\n")):
        start = sum(len(one) + 1 for one in reading.text.split("\n")[:at])
        assert old.count("\n", 0, reading.back(start)) == at
        assert line == "" or old[reading.back(start)] == line[0]


def test_a_document_says_why_it_does_not_run(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("x = y.cuda(async=True)\nprint x\n")
    document = Document.read(path)
    assert document.outdated is not None
    assert [document.code(one) for one in document.tree.body] == ["x = y.cuda(async=True)", "print x"]
    path.write_text("x = y.cuda(non_blocking=True)\nprint(x)\n")
    assert Document.read(path).outdated is None


@pytest.mark.parametrize("text", ["def f(:\n    print x\n", "x = (\n", "print `x`\n"])
def test_what_is_no_python_at_all_stays_unread(text: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(text)
    with pytest.raises(DocumentError):
        _ = Document.read(path).tree
