"""Code that runs only while somebody debugs, or never, and that nobody wants advice about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.source.constant_tests import never_run
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.source.document import Document


_DECIDED = re.compile(r"\b(?:if|elif|while)\b.*\b(?:False|True|None|\d+)\b")
"""A line that may hold a test which comes out the same in every run."""


def idle_branches(document: Document) -> list[tuple[int, int]]:
    """Where the bodies of ``if args.debug:``, ``if False:`` and the like begin and end, in characters from the
    document's start."""
    bodies: list[cst.CSTNode] = []
    if "debug" in document.text.lower():
        branches = [one for one in descendants(document.tree, cst.If) if _asks_for_debugging(one.test)]
        bodies += [line for one in branches for line in one.body.body]
    if _DECIDED.search(document.text):
        decided = descendants(document.tree, cst.If, cst.While, cst.IfExp)
        bodies += [line for one in decided for part in never_run(one) for line in _lines_of(part)]
    spans = [document.span(one) for one in bodies]
    return [(span.start.offset, span.end.offset) for span in spans]


def _lines_of(part: cst.CSTNode) -> Sequence[cst.CSTNode]:
    """The statements of a suite or of an ``else``; what follows an ``else if``, or an expression, by itself."""
    body = part.body if isinstance(part, cst.Else) else part
    return body.body if isinstance(body, cst.BaseSuite) else [body]


def _asks_for_debugging(test: cst.BaseExpression) -> bool:
    """Whether a condition holds while somebody debugs only, by its names; one that denies, compares or has an
    alternative may not."""
    if next(descendants(test, cst.UnaryOperation, cst.Comparison), None) is not None:
        return False
    if any(isinstance(one.operator, cst.Or) for one in descendants(test, cst.BooleanOperation)):
        return False
    names = [one.value for one in descendants(test, cst.Name)]
    return any("debug" in name.lower() for name in names if name != "__debug__")
