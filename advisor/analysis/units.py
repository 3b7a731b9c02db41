"""What each function, class and method of a file speaks of: the names, attributes and texts with which it may come to
others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from accel_advisor.source.constant_tests import children_that_run
from accel_advisor.syntax.imports import imported_names
from accel_advisor.syntax.shapes import dotted, last_name

WORD = re.compile(r"[A-Za-z_]\w*")
_DEFINITIONS = (cst.FunctionDef, cst.ClassDef)
_IMPORTS = (cst.Import, cst.ImportFrom)


@dataclass(frozen=True, slots=True)
class Unit:
    """A function or class at the top of a file, a method, or what a file does while it is loaded.

    Attributes:
        definition: the function or class; None for what a file does.
        owner: the class of a method.
        names: that stand by themselves, and those that an import gives another name.
        parts: what is read or set of objects.
        words: of texts, but for documentation and ``__all__``.
        outside: attributes of what was imported, each with the module or package at the beginning of its full name.
    """

    definition: cst.FunctionDef | cst.ClassDef | None
    owner: cst.ClassDef | None = None
    names: set[str] = field(default_factory=set)
    parts: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    outside: set[tuple[str, str]] = field(default_factory=set)


def units_in(tree: cst.Module) -> tuple[Unit, ...]:
    """All of a file's, what it does first. What a class does while it is made belongs to the class, as do the methods
    that Python calls by itself, and those that are decorated."""
    imported = imported_names(tree)
    loose = Unit(None)
    _listen(loose, [one for one in tree.body if not isinstance(one, _DEFINITIONS)], imported)
    found = [loose]
    for top in (one for one in tree.body if isinstance(one, _DEFINITIONS)):
        methods = list(_plain_methods(top))
        unit = Unit(top)
        _listen(unit, _inside(top), imported, {id(one) for one in methods})
        found.append(unit)
        for one in methods:
            method = Unit(one, top if isinstance(top, cst.ClassDef) else None)
            _listen(method, _inside(one), imported)
            found.append(method)
    return tuple(found)


def _plain_methods(top: cst.FunctionDef | cst.ClassDef) -> Iterator[cst.FunctionDef]:
    for one in top.body.body if isinstance(top, cst.ClassDef) else ():
        if isinstance(one, cst.FunctionDef) and not one.decorators and not one.name.value.startswith("__"):
            yield one


def _inside(definition: cst.FunctionDef | cst.ClassDef) -> list[cst.CSTNode]:
    return [one for one in children_that_run(definition) if one is not definition.name]


def _listen(unit: Unit, nodes: Sequence[cst.CSTNode], imported: dict[str, str], but: set[int] | None = None) -> None:
    """Adds to a unit what some nodes speak of, but for some that are units of their own."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if but and id(node) in but:
            continue
        if isinstance(node, cst.Name):
            unit.names.add(node.value)
        elif isinstance(node, (cst.SimpleString, cst.FormattedStringText)):
            unit.words.update(WORD.findall(node.value))
        elif isinstance(node, cst.Attribute):
            first, _, rest = dotted(node).partition(".")
            if rest and first in imported:
                unit.outside.update((imported[first].partition(".")[0], one) for one in rest.split("."))
                unit.names.add(first)
            else:
                unit.parts.add(node.attr.value)
                pending.append(node.value)
        elif isinstance(node, _IMPORTS):
            aliases = () if isinstance(node.names, cst.ImportStar) else node.names
            unit.names.update(last_name(one.name) for one in aliases if one.asname is not None)
        else:
            pending += _spoken(node)


def _spoken(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The parts of a node that may come to something: no names that it binds, no documentation, no ``__all__``."""
    if isinstance(node, cst.Expr) and isinstance(node.value, (cst.SimpleString, cst.ConcatenatedString)):
        return
    if isinstance(node, cst.Assign) and any(dotted(one.target) == "__all__" for one in node.targets):
        return
    if isinstance(node, cst.AugAssign) and dotted(node.target) == "__all__":
        return
    bound: cst.CSTNode | None = None
    if isinstance(node, cst.Arg):
        bound = node.keyword
    elif isinstance(node, (cst.Param, cst.FunctionDef, cst.ClassDef)):
        bound = node.name
    elif isinstance(node, cst.AssignTarget) and isinstance(node.target, cst.Name):
        bound = node.target
    yield from (one for one in children_that_run(node) if one is not bound)
