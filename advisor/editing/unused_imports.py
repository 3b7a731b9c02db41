"""Imports that edits leave without a use, which go with them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import libcst as cst

from accel_advisor.finding import Edit
from accel_advisor.source.document import Document
from accel_advisor.syntax.line_breaks import BLANK, NEWLINE
from accel_advisor.syntax.shapes import dotted
from accel_advisor.syntax.walking import descendants

_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")
_NAMED = re.compile(r"[bBrRuU]*['\"]+([^\W\d]\w*)[\w.]*['\"]+")
"""A string that is a name, as in ``__all__`` and in annotations."""


def imports_left_over(
    document: Document, edits: Iterable[Edit], others: Callable[[], Iterable[str]]
) -> tuple[Edit, ...]:
    """The edits that take out the imports of a document whose last uses other edits take out.

    An import stays that is no statement of its own at the top of the module, that has a comment beside it, that a
    string names, that another file takes from this one, or whose name is bound by anything else, too; and so do all of
    ``__init__.py`` and of a notebook.

    Args:
        edits: those of this document are all made; others are left out of account.
        others: gives the texts of the other files of the program; called only where an import may go.
    """
    if document.notebook is not None or os.path.basename(document.filename) == "__init__.py":
        return ()
    made = [one for one in edits if one.filename == document.filename]
    taken = [(one.span.start.offset, one.span.end.offset) for one in made]
    lost = {word for start, end in taken for word in _WORD.findall(document.text[start:end])}
    lost -= {word for one in made for word in _WORD.findall(one.content)}
    if lost.isdisjoint(document.imported):
        return ()
    places = [(name, document.span(node).start.offset) for name, node in document.once(used_names) if name in lost]
    inside = {name for name, at in places if any(start <= at < end for start, end in taken)}
    left = {name for name, at in places if not any(start <= at < end for start, end in taken)}
    unused = (inside & document.imported.keys()) - left
    if unused:
        unused -= set(_NAMED.findall(document.text))
        unused -= set(_taken_elsewhere(document, unused, others()))
    return tuple(
        one
        for one in (_without(document, unused) if unused else ())
        if not any(one.span.start.offset < end and start < one.span.end.offset for start, end in taken)
    )


def _taken_elsewhere(document: Document, names: Collection[str], others: Iterable[str]) -> Iterator[str]:
    """The names that other files may take from a document: by name, as attributes of it, or with all that it has."""
    module = re.escape(os.path.basename(document.filename).removesuffix(".py"))
    for text in others:
        if re.search(rf"\b{module}\s+import\s*\*", text):
            yield from names
        for name in names:
            if re.search(rf"\b{module}(\s+import\s[^#;]*?\b|\.){name}\b", text):
                yield name


def used_names(module: cst.Module) -> list[tuple[str, cst.CSTNode]]:
    """Every name but those of imports, with its node: attributes and keywords, too, which at worst leave an import as
    it is."""
    inside = {id(name) for one in descendants(module, cst.ImportAlias) for name in descendants(one, cst.Name)}
    inside |= {id(name) for one in descendants(module, cst.ImportFrom) for name in descendants(one, cst.Name)}
    return [
        (one.value, one) for one in descendants(module, cst.Name) if isinstance(one, cst.Name) and id(one) not in inside
    ]


def _without(document: Document, names: Collection[str]) -> Iterator[Edit]:
    """The edits that take names out of the imports at the top of a module."""
    for line in document.tree.body:
        statement = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
        if not isinstance(statement, (cst.Import, cst.ImportFrom)) or isinstance(statement.names, cst.ImportStar):
            continue
        span = document.span(statement)
        text = document.text[span.start.offset : span.end.offset] + document.comment_beside(span.end.row)
        gone = [one for one in statement.names if _bound(one, statement) in names]
        if "#" in text or not gone:
            continue
        if len(gone) == len(statement.names):
            end = document.offset(span.end.row, 1) + len(document.line(span.end.row))
            newline = NEWLINE.match(document.text, end)
            end = newline.end() if newline else end
            below = BLANK.match(document.text, end)
            alone = span.start.row == 1 or not document.line(span.start.row - 1).strip()
            yield document.edit(span.start.offset, below.end() if below and alone else end, "")
        else:
            yield from (_alias(document, statement.names, one, gone) for one in gone)


def _alias(
    document: Document, aliases: Sequence[cst.ImportAlias], one: cst.ImportAlias, gone: list[cst.ImportAlias]
) -> Edit:
    """The edit that takes one of several names out of a statement, with the comma behind it or, where no name that
    stays follows, the one before it."""
    index = aliases.index(one)
    if any(other not in gone for other in aliases[index + 1 :]):
        return document.edit(document.span(one).start.offset, document.span(aliases[index + 1]).start.offset, "")
    return document.edit(document.span(aliases[index - 1]).end.offset, document.span(one).end.offset, "")


def _bound(alias: cst.ImportAlias, statement: cst.Import | cst.ImportFrom) -> str:
    """The name that an alias binds."""
    if alias.asname is not None:
        return dotted(alias.asname.name)
    full = dotted(alias.name)
    return full if isinstance(statement, cst.ImportFrom) else full.partition(".")[0]
