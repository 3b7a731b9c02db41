"""Which tests come out the same in every run."""

from __future__ import annotations

import libcst as cst
import pytest

from accel_advisor.source.constant_tests import constant_truth, never_run

TRUTHS = {
    "False": False,
    "0": False,
    "None": False,
    "not 1": False,
    "False and asked": False,
    "asked and 0": False,
    "True": True,
    "asked or 1": True,
    "True and 2": True,
    "False or 0": False,
    "asked": None,
    "asked and True": None,
    "False or asked": None,
    "not asked": None,
    "''": None,
}


@pytest.mark.parametrize("test", TRUTHS)
def test_truth(test: str) -> None:
    assert constant_truth(cst.parse_expression(test)) is TRUTHS[test]


PARTS = {
    "if False:\n    one()\nelse:\n    two()\n": ["one()"],
    "if True:\n    one()\nelse:\n    two()\n": ["two()"],
    "if asked:\n    one()\nelse:\n    two()\n": [],
    "while 0:\n    one()\n": ["one()"],
    "while 1:\n    one()\nelse:\n    two()\n": [],
}


@pytest.mark.parametrize("source", PARTS)
def test_parts_that_never_run(source: str) -> None:
    tree = cst.parse_module(source)
    written = [tree.code_for_node(one).strip().removeprefix("else:").strip() for one in never_run(tree.body[0])]
    assert [one.removeprefix(":").strip() for one in written] == PARTS[source]


@pytest.mark.parametrize(("source", "left"), [("False and x", ["x"]), ("x and False", []), ("1 or x", ["x"])])
def test_sides_that_are_never_asked(source: str, left: list[str]) -> None:
    tree = cst.parse_module("")
    assert [tree.code_for_node(one) for one in never_run(cst.parse_expression(source))] == left
