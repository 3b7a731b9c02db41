"""Arguments that fixes take out of calls, however they are spelled."""

from __future__ import annotations

import libcst as cst
import pytest

from accel_advisor.editing.argument_fixes import drop_argument
from accel_advisor.editing.fixer import apply_edits
from accel_advisor.source.document import Document


def without(source: str, name: str, position: int | None = None) -> str | None:
    document = Document("train.py", source)
    expression = cst.ensure_type(document.tree.body[-1], cst.SimpleStatementLine).body[0]
    fix = drop_argument(document, cst.ensure_type(expression, cst.Expr).value, name, position=position)
    return apply_edits(document.text, fix.edits) if fix is not None else None


@pytest.mark.parametrize(
    ("source", "left"),
    [("f(1, x=2, y=3)\n", "f(1, y=3)\n"), ("f(x=2)\n", "f()\n"), ("f(1, 2)\n", "f(1)\n"), ("f(*a, x=1)\n", "f(*a)\n")],
)
def test_takes_out_what_is_written(source: str, left: str) -> None:
    assert without(source, "x", position=1) == left


@pytest.mark.parametrize("source", ["f(1, y=2)\n", "f(*a, 1)\n", "f(**x)\n", "f\n"])
def test_leaves_what_may_be_another(source: str) -> None:
    assert without(source, "x", position=1) is None
