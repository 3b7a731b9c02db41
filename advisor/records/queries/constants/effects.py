"""What the statements of a piece of code do to its names."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from accel_advisor.syntax.walking import descendants

_SCOPES: frozenset[type[cst.CSTNode]] = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})
_KINDS = (cst.Assign, cst.AnnAssign, cst.AugAssign, cst.For, cst.CompFor, cst.With, cst.NamedExpr, cst.Expr)


class Effects:
    """What becomes a part of each name.

    Attributes:
        unknown: names that a context manager or an assignment within an expression binds.
    """

    def __init__(self, code: cst.CSTNode) -> None:
        self.unknown: set[str] = set()
        self._given: dict[str, list[cst.BaseExpression]] = {}
        for one in descendants(code, *_KINDS, but=_SCOPES):
            self._note(one)

    def of(self, name: str) -> Sequence[cst.BaseExpression]:
        """The expressions that go into a name: what it is bound to or goes over, what is written into it, and where,
        and what its methods are given by a statement."""
        return self._given.get(name, ())

    def _note(self, one: cst.CSTNode) -> None:
        if isinstance(one, (cst.For, cst.CompFor)):
            self._give_all(one.target, one.iter)
        elif isinstance(one, cst.Assign):
            for target in one.targets:
                self._take(target.target, one.value)
        elif isinstance(one, (cst.AnnAssign, cst.AugAssign)):
            if one.value is not None:
                self._take(one.target, one.value)
        elif isinstance(one, cst.NamedExpr):
            self.unknown |= _names(one.target)
        elif isinstance(one, cst.With):
            for item in one.items:
                self.unknown |= _names(item.asname.name) if item.asname is not None else set()
        elif isinstance(one, cst.Expr) and isinstance(one.value, cst.Call):
            called = one.value.func
            for arg in one.value.args if isinstance(called, cst.Attribute) else ():
                self._give(root_name(called), arg.value)

    def _take(self, target: cst.CSTNode, value: cst.BaseExpression) -> None:
        if isinstance(target, (cst.Tuple, cst.List)):
            if isinstance(value, (cst.Tuple, cst.List)) and len(value.elements) == len(target.elements):
                for one, other in zip(target.elements, value.elements, strict=True):
                    self._take(one.value, other.value)
            else:
                self._give_all(target, value)
            return
        name = root_name(target)
        self._give(name, value)
        if isinstance(target, cst.Subscript):
            for element in target.slice:
                index = element.slice
                if isinstance(index, cst.Index):
                    self._give(name, index.value)
                elif isinstance(index, cst.Slice):
                    for part in filter(None, (index.lower, index.upper, index.step)):
                        self._give(name, part)

    def _give_all(self, target: cst.CSTNode, value: cst.BaseExpression) -> None:
        for name in _names(target):
            self._give(name, value)

    def _give(self, name: str, value: cst.BaseExpression) -> None:
        if name:
            self._given.setdefault(name, []).append(value)


def root_name(node: cst.CSTNode) -> str:
    """The name that an attribute or item is taken from, at last; empty for anything else."""
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node.value if isinstance(node, cst.Name) else ""


def _names(target: cst.CSTNode) -> set[str]:
    return {one.value for one in descendants(target, cst.Name)}
