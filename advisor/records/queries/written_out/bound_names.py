"""What the names of one function stand for, in the order of its text, and which of its branches an option decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.shapes import names_bound_in, names_read_in
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.source.document import Document


@dataclass(frozen=True, slots=True)
class _Branch:
    """A branch of a condition, and where it begins and ends; ``option``: an option decides about it."""

    condition: cst.If
    option: bool
    start: int
    end: int

    def holds(self, at: int) -> bool:
        return self.start <= at < self.end


class BoundNames:
    """The names that a function binds: each stands for what the last assignment above it gives.

    Args:
        document: where the function stands.
        body: its statements.
    """

    def __init__(self, document: Document, body: cst.BaseSuite) -> None:
        self._document = document
        self._bound: dict[str, list[tuple[int, cst.CSTNode]]] = {}
        """The statements that bind a name, or may change what it stands for, and where they end."""
        for one in descendants(body, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Expr, cst.For, cst.AsName):
            end = document.span(one.iter if isinstance(one, cst.For) else one).end.offset
            for name in names_read_in(one.target) if isinstance(one, cst.For) else names_bound_in(one):
                self._bound.setdefault(name, []).append((end, one))
        for bound in self._bound.values():
            bound.sort(key=lambda each: -each[0])
        self._branches = [branch for one in descendants(body, cst.If) for branch in self._branches_of(one)]

    def bound_by(self, name: cst.Name) -> cst.CSTNode | None:
        """The last statement above the place where a name is read that binds it."""
        return next(self.bindings(name), None)

    def bindings(self, name: cst.Name) -> Iterator[cst.CSTNode]:
        """The statements above the place where a name is read that may bind it there, the last first: those that an
        option decides about, and the one that binds it without them."""
        at = self._at(name)
        above = [(end, one) for end, one in self._bound.get(name.value, ()) if end <= at]
        here = [one for one in self._branches if one.holds(at)] if above else []
        for end, statement in above:
            within = [one for one in self._branches if one.holds(end - 1) and one not in here]
            if any(one.condition is other.condition for one in within for other in here):
                continue  # in the other branch
            yield statement
            if not any(one.option for one in within):
                return

    def is_optional(self, name: cst.Name) -> bool:
        """Whether a name is read in a branch that an option decides about."""
        at = self._at(name)
        return any(one.option and one.holds(at) for one in self._branches)

    def _at(self, node: cst.CSTNode) -> int:
        return self._document.span(node).start.offset

    def _branches_of(self, condition: cst.If) -> Iterator[_Branch]:
        option = _asks_for_option(condition.test)
        for body in (condition.body, condition.orelse):
            if body is not None:
                span = self._document.span(body)
                yield _Branch(condition, option, span.start.offset, span.end.offset)


def _asks_for_option(test: cst.BaseExpression) -> bool:
    """Whether a condition asks for an option: a name by itself, whether something was given, or which text it is."""
    if isinstance(test, cst.UnaryOperation):
        return isinstance(test.operator, cst.Not) and _asks_for_option(test.expression)
    if isinstance(test, cst.BooleanOperation):
        return _asks_for_option(test.left) and _asks_for_option(test.right)
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        other = test.comparisons[0].comparator
        return isinstance(other, cst.SimpleString) or (isinstance(other, cst.Name) and other.value == "None")
    return isinstance(test, (cst.Name, cst.Attribute))
