"""What the record of a loop says of its own text."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.records.loops import Loop
from accel_advisor.source.document import Document

LOOPS = {
    "for": ("for i in range(3):\n        f(i)", "i", True, False),
    "for of several names": ("for i, x in enumerate(xs):\n        f(i)", "i, x", True, False),
    "while": ("while f(xs):\n        xs.pop()", None, True, False),
    "list": ("ys = [f(x) for x in xs]", None, False, True),
    "dict": ("ys = {x: f(x) for x in xs}", None, False, True),
    "generator": ("ys = sum(f(x) for x in xs)", None, False, True),
    "set": ("ys = {f(x) for x in xs}", None, False, False),
}


def loop_in(text: str) -> Loop:
    document = Document.from_bytes("train.py", text.encode())
    (found,) = analyze([document], Path.cwd()).facts["train.py"].loops
    return found


@pytest.mark.parametrize("case", LOOPS)
def test_a_loop_in_its_own_words(case: str) -> None:
    text, target, is_statement, keeps_each = LOOPS[case]
    loop = loop_in(f"import torch\n\ndef run(xs, f):\n    {text}\n\nrun([1, 2], print)\n")
    assert (loop.target and loop.document.code(loop.target)) == target
    assert (loop.body is not None, loop.keeps_each) == (is_statement, keeps_each)
    assert loop.definition is not None
    assert loop.definition.name.value == "run"


def test_what_stands_in_no_def_has_no_definition() -> None:
    assert loop_in("import torch\n\nfor i in range(3):\n    print(i)\n").definition is None
    assert loop_in("import torch\n\nrun = lambda xs: [x for x in xs]\nrun([1])\n").definition is None
