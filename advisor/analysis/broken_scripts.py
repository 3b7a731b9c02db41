"""Scripts that end at one of their first lines, because they import what a file of the project does not have."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import libcst as cst

from accel_advisor.analysis.running_code import is_script
from accel_advisor.analysis.units import WORD
from accel_advisor.source.document import Document
from accel_advisor.syntax.shapes import dotted
from accel_advisor.syntax.walking import descendants

_BINDS_BY_TEXT = frozenset({"__getattr__", "globals", "vars", "exec", "setattr", "modules", "__dict__"})


def cannot_start(document: Document, documents: Sequence[Document]) -> bool:
    """Whether a script imports, under no condition, a name that does not occur in the file beside it, or below, that it
    imports it from: where a script runs, its own folder is searched first, unless it says otherwise."""
    if not is_script(document, documents) or "sys.path" in document.text:
        return False
    files = {one.path: one for one in documents}
    for module, names in document.once(_imported_first):
        path = os.path.join(os.path.dirname(document.path), *module.split("."))
        other = files.get(f"{path}.py")
        if other is None or os.path.join(path, "__init__.py") in files or other is document:
            continue
        words = other.once(_words)
        if words is not None and not names <= words:
            return True
    return False


def _imported_first(tree: cst.Module) -> tuple[tuple[str, frozenset[str]], ...]:
    """What the lines of a file import from modules, under no condition."""
    return tuple(_imports(tree))


def _imports(tree: cst.Module) -> Iterator[tuple[str, frozenset[str]]]:
    lines = (part for line in tree.body if isinstance(line, cst.SimpleStatementLine) for part in line.body)
    for one in lines:
        if isinstance(one, cst.ImportFrom) and one.module is not None and not one.relative:
            names = () if isinstance(one.names, cst.ImportStar) else one.names
            yield dotted(one.module), frozenset(dotted(alias.name) for alias in names)


def _words(tree: cst.Module) -> frozenset[str] | None:
    """All names and words of texts of a file; None where it may have others, from other files or by their texts."""
    if any(isinstance(one.names, cst.ImportStar) for one in descendants(tree, cst.ImportFrom)):
        return None
    names = {one.value for one in descendants(tree, cst.Name)}
    if not names.isdisjoint(_BINDS_BY_TEXT):
        return None
    texts = [one.value for one in descendants(tree, cst.SimpleString)]
    texts += [one.value for one in descendants(tree, cst.FormattedStringText)]
    return frozenset(names.union(*map(WORD.findall, texts)))
