"""What each function, class and method of a file speaks of: the names, attributes and texts with which it may come to
others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from accel_advisor.source.constant_tests import DECIDED, never_run
from accel_advisor.syntax.imports import imported_names
from accel_advisor.syntax.shapes import dotted, last_name
from accel_advisor.syntax.walking import children, descendants

WORD = re.compile(r"[A-Za-z_]\w*")
_DEFINITIONS = (cst.FunctionDef, cst.ClassDef)
_TEXTS = frozenset({cst.SimpleString, cst.ConcatenatedString})
_SPEAKING = (cst.Name, cst.Attribute, cst.SimpleString, cst.FormattedStringText, cst.ImportAlias)


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
    silent = _silent(tree)
    loose = Unit(None)
    _listen(loose, [one for one in tree.body if type(one) not in _DEFINITIONS], imported, silent)
    found = [loose]
    for top, methods in definitions_in(tree):
        unit = Unit(top)
        _listen(unit, _inside(top, methods), imported, silent)
        found.append(unit)
        for one in methods:
            method = Unit(one, top if isinstance(top, cst.ClassDef) else None)
            _listen(method, [one], imported, silent)
            found.append(method)
    return tuple(found)


def definitions_in(tree: cst.Module) -> Iterator[tuple[cst.FunctionDef | cst.ClassDef, list[cst.FunctionDef]]]:
    """The functions and classes at the top of a file, and the methods of each that are units of their own."""
    for top in tree.body:
        if type(top) is cst.FunctionDef or type(top) is cst.ClassDef:
            methods = top.body.body if isinstance(top, cst.ClassDef) else ()
            yield top, [one for one in methods if isinstance(one, cst.FunctionDef) and _is_plain(one)]


def _is_plain(method: cst.FunctionDef) -> bool:
    return not method.decorators and not method.name.value.startswith("__")


def _inside(top: cst.FunctionDef | cst.ClassDef, methods: Sequence[cst.FunctionDef]) -> Sequence[cst.CSTNode]:
    """What a definition is made of, but for methods that are units of their own."""
    if not methods:
        return [top]
    around = [one for one in children(top) if one is not top.body]
    return [*around, *(one for one in top.body.body if one not in methods)]


def _listen(unit: Unit, nodes: Sequence[cst.CSTNode], imported: dict[str, str], silent: set[int]) -> None:
    """Adds to a unit what some nodes speak of."""
    for node in nodes:
        unit.names.update(one.value for one in descendants(node, cst.Name) if id(one) not in silent)
        texts = [one.value for one in descendants(node, cst.SimpleString) if id(one) not in silent]
        texts += [one.value for one in descendants(node, cst.FormattedStringText) if id(one) not in silent]
        unit.words.update(word for one in texts for word in WORD.findall(one))
        for part in descendants(node, cst.Attribute):
            if id(part) in silent:
                continue
            first, _, rest = dotted(part).partition(".")
            if rest and first in imported:
                unit.outside.update((imported[first].partition(".")[0], one) for one in rest.split("."))
            else:
                unit.parts.add(part.attr.value)
        for alias in descendants(node, cst.ImportAlias):
            if alias.asname is not None and id(alias) not in silent:
                unit.names.add(last_name(alias.name))


def _silent(tree: cst.Module) -> set[int]:
    """The names, texts, attributes and imports that come to nothing: names that are bound or a part of another,
    documentation, ``__all__``, and all that no run comes to."""
    whole: list[cst.CSTNode] = [part for one in descendants(tree, *DECIDED) for part in never_run(one)]
    whole += (one.value for one in descendants(tree, cst.Expr) if type(one.value) in _TEXTS)
    listed = (one for one in descendants(tree, cst.Assign) for each in one.targets if dotted(each.target) == "__all__")
    whole += (*listed, *(one for one in descendants(tree, cst.AugAssign) if dotted(one.target) == "__all__"))
    silent = {id(each) for one in whole for each in descendants(one, *_SPEAKING)}
    imports = descendants(tree, cst.Import, cst.ImportFrom)
    silent.update(id(each) for one in imports for each in descendants(one, cst.Name, cst.Attribute))
    silent.update(id(one.keyword) for one in descendants(tree, cst.Arg))
    silent.update(id(one.name) for one in descendants(tree, cst.Param))
    silent.update(id(one.name) for one in descendants(tree, cst.FunctionDef))
    silent.update(id(one.name) for one in descendants(tree, cst.ClassDef))
    silent.update(id(one.target) for one in descendants(tree, cst.AssignTarget) if isinstance(one.target, cst.Name))
    silent.update(id(one.attr) for one in descendants(tree, cst.Attribute))
    return silent
