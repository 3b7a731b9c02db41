"""Code that runs only while somebody debugs, and that nobody wants advice about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.source.document import Document


def debug_branches(document: Document) -> list[tuple[int, int]]:
    """Where the bodies of ``if args.debug:`` and the like begin and end, in characters from the document's start."""
    if "debug" not in document.text.lower():
        return []
    branches = [one for one in descendants(document.tree, cst.If) if _asks_for_debugging(one.test)]
    spans = [document.span(body) for one in branches for body in one.body.body]
    return [(span.start.offset, span.end.offset) for span in spans]


def _asks_for_debugging(test: cst.BaseExpression) -> bool:
    """Whether a condition holds while somebody debugs only, by its names; one that denies, compares or has an
    alternative may not."""
    if next(descendants(test, cst.UnaryOperation, cst.Comparison), None) is not None:
        return False
    if any(isinstance(one.operator, cst.Or) for one in descendants(test, cst.BooleanOperation)):
        return False
    names = [one.value for one in descendants(test, cst.Name)]
    return any("debug" in name.lower() for name in names if name != "__debug__")
