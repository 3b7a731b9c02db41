"""The modules that a file imports by texts, as far as these tell."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from accel_advisor.syntax.shapes import last_name, mentioned_in
from accel_advisor.syntax.walking import descendants

IMPORTS = frozenset({"import_module", "__import__"})
_FILLED = re.compile(r"[{%]")
"""What begins a part of a text that is filled in."""


def imported_by_text(tree: cst.Module) -> frozenset[str] | None:
    """The full names of modules, or of the packages that they lie in, whose texts are given to ``import_module`` or
    ``__import__``; None where one of them may be any module."""
    if IMPORTS.isdisjoint(mentioned_in(tree)):
        return frozenset()
    calls = [one for one in descendants(tree, cst.Call) if last_name(one.func) in IMPORTS]
    called = {id(one.func.attr if isinstance(one.func, cst.Attribute) else one.func) for one in calls}
    if any(id(one) not in called for one in _mentions(tree)):
        return None  # it goes by another name, or is handed on
    names = [_module(one.args[0].value) if one.args else "" for one in calls]
    return frozenset(names) if all(names) else None


def beginning(text: cst.BaseExpression) -> str:
    """What is written out of a text at its beginning; empty where nothing is."""
    while isinstance(text, cst.BinaryOperation):
        text = text.left
    if isinstance(text, cst.Call) and isinstance(text.func, cst.Attribute):  # "...".format
        text = text.func.value
    if isinstance(text, cst.FormattedString):
        return text.parts[0].value if text.parts and isinstance(text.parts[0], cst.FormattedStringText) else ""
    value = text.evaluated_value if isinstance(text, cst.SimpleString) else ""
    return value if isinstance(value, str) else ""


def _module(text: cst.BaseExpression) -> str:
    """The module that a text names, or the package in which that lies whose name it begins; empty where neither is
    known."""
    known = beginning(text)
    if known.startswith("."):
        return ""
    return known if isinstance(text, cst.SimpleString) else _FILLED.split(known)[0].rpartition(".")[0]


def _mentions(tree: cst.Module) -> Iterator[cst.Name]:
    """The names of these functions, other than where they are imported."""
    imports = (one for one in descendants(tree, cst.ImportFrom))
    inside = {id(name) for one in imports for name in descendants(one, cst.Name)}
    return (one for one in descendants(tree, cst.Name) if one.value in IMPORTS and id(one) not in inside)
