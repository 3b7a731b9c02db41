"""Imports that follow their names into another module."""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from accel_advisor.editing.unused_imports import used_names
from accel_advisor.finding import Edit
from accel_advisor.source.document import Document
from accel_advisor.syntax.shapes import dotted
from accel_advisor.syntax.walking import descendants


def moved_imports(document: Document, old: str, new: str, uses: Collection[cst.CSTNode]) -> dict[str, Edit]:
    """The edits that import from module ``new`` what a document imports from ``old``, by the name that is bound.

    A statement is left out where any of its names is used otherwise than as one of ``uses``, is bound by something
    else, too, or where it brings in everything.
    """
    statements = [
        one
        for one in document.once(_from_imports)
        if one.module is not None and not one.relative and dotted(one.module) == old
    ]
    known = {id(one) for one in uses}
    others = {name for name, node in document.once(used_names) if id(node) not in known} if statements else set()
    found: dict[str, Edit] = {}
    for statement in statements:
        assert not isinstance(statement.names, cst.ImportStar)
        assert statement.module is not None
        names = [dotted(one.asname.name if one.asname is not None else one.name) for one in statement.names]
        if others.isdisjoint(names) and document.imported.keys() >= set(names):
            span = document.span(statement.module)
            found |= dict.fromkeys(names, document.edit(span.start.offset, span.end.offset, new))
    return found


def _from_imports(module: cst.Module) -> list[cst.ImportFrom]:
    found = descendants(module, cst.ImportFrom)
    return [one for one in found if isinstance(one, cst.ImportFrom) and not isinstance(one.names, cst.ImportStar)]
