"""What the names of a module mean that only its imports bind."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from accel_advisor.syntax.shapes import dotted, last_name
from accel_advisor.syntax.walking import descendants

_BINDS: dict[str, tuple[type[cst.CSTNode], ...]] = {
    "target": (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For, cst.CompFor, cst.NamedExpr, cst.Del),
    "name": (cst.AsName, cst.Param, cst.FunctionDef, cst.ClassDef),
}
"""Where a piece of syntax binds names by itself."""


def imported_names(module: cst.Module) -> dict[str, str]:
    """The full dotted name that each imported name stands for, wherever in the module it is used.

    A name that means several things, or that is bound in another way anywhere in the module, is left out.
    """
    found: dict[str, set[str]] = {}
    aliases: set[int] = set()
    for node in descendants(module, cst.Import, cst.ImportFrom):
        assert isinstance(node, (cst.Import, cst.ImportFrom))
        for name, full in bound_by(node):
            found.setdefault(name, set()).add(full)
        aliases |= {id(one.asname) for one in descendants(node, cst.ImportAlias) if isinstance(one, cst.ImportAlias)}
    rebound = {
        name
        for field, kinds in _BINDS.items()
        for one in descendants(module, *kinds)
        if id(one) not in aliases
        for name in _names_in(getattr(one, field))
    }
    return {name: next(iter(full)) for name, full in found.items() if len(full) == 1 and name not in rebound}


def modules_imported(module: cst.Module) -> frozenset[str]:
    """The last parts of the names of what a module imports, or imports something of; names that it takes out of
    packages may be modules."""
    found: set[str] = set()
    for node in descendants(module, cst.Import, cst.ImportFrom):
        if isinstance(node, cst.ImportFrom) and node.module is not None:
            found.add(last_name(node.module))
        if isinstance(node, (cst.Import, cst.ImportFrom)) and not isinstance(node.names, cst.ImportStar):
            found |= {last_name(one.name) for one in node.names}
    return frozenset(found)


def name_at_top(module: cst.Module, full: str) -> str | None:
    """What an import at the top of a module calls something by a name without dots; None where none brings it in."""
    for line in module.body:
        for node in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if isinstance(node, (cst.Import, cst.ImportFrom)):
                for name, stands_for in bound_by(node):
                    if stands_for == full:
                        return name
    return None


def full_name(names: dict[str, str], expression: cst.CSTNode) -> str:
    """What a dotted expression stands for where ``names`` are imported; empty for any other expression."""
    first, dot, rest = dotted(expression).partition(".")
    return f"{names[first]}{dot}{rest}" if first in names else ""


def bound_by(node: cst.Import | cst.ImportFrom) -> Iterator[tuple[str, str]]:
    """The names that an import binds, each with the full dotted name that it stands for; none for ``*``."""
    if isinstance(node.names, cst.ImportStar):
        return
    package = ""
    if isinstance(node, cst.ImportFrom):
        package = "." * len(node.relative) + (f"{dotted(node.module)}." if node.module is not None else "")
    for alias in node.names:
        full = dotted(alias.name)
        if alias.asname is not None:
            yield dotted(alias.asname.name), package + full
        elif package:
            yield full, package + full
        else:
            yield full.partition(".")[0], full.partition(".")[0]


def _names_in(target: cst.CSTNode) -> Iterator[str]:
    """The names that are bound where something is bound to a target."""
    if type(target) is cst.Name:
        yield target.value
    elif type(target) is cst.Tuple or type(target) is cst.List:
        for element in target.elements:
            yield from _names_in(element.value)
