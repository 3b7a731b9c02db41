"""Attention that functions compute step by step: scores, their softmax, and the product of these weights with values.

Each function is read for itself, and only where a rule asks. Names stand for what their last assignment gave them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.queries.attention_terms import Expressions, Made
from accel_advisor.records.queries.terms import (
    Attention,
    Names,
    Number,
    Scores,
    Shaped,
    either,
    leave,
)
from accel_advisor.syntax.nesting import deep_stack
from accel_advisor.syntax.shapes import self_attribute
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.values import Class, Function

if TYPE_CHECKING:
    from accel_advisor.interpreter.interpreter import Interpreter
    from accel_advisor.source.document import Document

_LOOPS = 3
"""Loops within loops that are read twice."""


class Attentions:
    """Finds the attentions of documents."""

    def __init__(self, machine: Interpreter) -> None:
        self._machine = machine
        self._attributes: dict[Class, dict[str, list[Made]]] = {}

    def of(self, document: Document) -> list[Attention]:
        """Those whose scores and weights are used for nothing else, in the order of the source."""
        functions = {id(one.node): one for one in self._machine.functions if one.document is document}
        with deep_stack():
            found = [one for function in functions.values() for one in self._in(function)]
        return [one for one in found if one.is_plain]

    def _in(self, function: Function) -> list[Attention]:
        owner = function.owner
        if owner is not None and owner not in self._attributes:
            self._attributes[owner] = _attributes(owner)
        return _Reader(self._machine, function, self._attributes[owner] if owner is not None else {}).read()


def _attributes(cls: Class) -> dict[str, list[Made]]:
    """Everything that the methods of a class assign to its attributes."""
    found: dict[str, list[Made]] = {}
    for one in cls.lineage():
        for assign in descendants(one.node, cst.Assign):
            for target in assign.targets:
                name = self_attribute(target.target)
                if name is not None:
                    found.setdefault(name, []).append((one.scope, assign.value))
    return found


class _Reader(Expressions):
    """Reads the statements of one function."""

    def __init__(self, machine: Interpreter, function: Function, attributes: dict[str, list[Made]]) -> None:
        super().__init__(machine, function, attributes)
        self._function = function
        self._loops = 0

    def read(self) -> list[Attention]:
        """All attentions that the function begins to compute."""
        if isinstance(self._function.node, cst.FunctionDef):
            self._block(self._function.node.body.body)
        return self._found

    def _block(self, statements: Iterable[cst.CSTNode]) -> bool:
        """Reads statements in order; whether control never comes out at the end."""
        for one in statements:
            if isinstance(one, cst.SimpleStatementLine):
                if self._block(one.body):
                    return True
            elif isinstance(one, (cst.Return, cst.Raise)):
                self._use(one)
                return True
            elif isinstance(one, cst.Assign):
                value = self._value(one.value)
                for target in one.targets:
                    self._bind(target.target, value)
            elif isinstance(one, cst.AnnAssign):
                self._bind(one.target, self._value(one.value) if one.value is not None else None)
            elif isinstance(one, cst.Expr):
                self._value(one.value)  # thrown away, unless it works in place
            elif isinstance(one, cst.AugAssign):
                self._augment(one)
            elif isinstance(one, cst.If):
                self._use(one.test)
                if self._branches([one.body.body, [one.orelse] if one.orelse is not None else []]):
                    return True
            elif isinstance(one, cst.Else):
                if self._block(one.body.body):
                    return True
            elif isinstance(one, cst.With):
                for item in one.items:
                    self._use(item)
                if self._block(one.body.body):
                    return True
            elif isinstance(one, (cst.For, cst.While)):
                self._loop(one)
            elif not isinstance(one, (cst.FunctionDef, cst.ClassDef)):
                self._use(one)
        return False

    def _branches(self, bodies: list[Iterable[cst.CSTNode]]) -> bool:
        before, ends = self._names, list[Names]()
        for body in bodies:
            self._names = dict(before)
            if not self._block(body):
                ends.append(self._names)
        if not ends:
            return True
        names = dict.fromkeys(name for end in ends for name in end)
        self._names = {name: either(end.get(name) for end in ends) for name in names}
        return False

    def _loop(self, node: cst.For | cst.While) -> None:
        """What is known before a loop may differ in its second pass, and scores that it uses are used many times."""
        for name in {one.value for one in descendants(node, cst.Name)}:
            leave(self._names.pop(name, None))
        before, begun = dict(self._names), len(self._found)
        self._loops += 1
        self._block(node.body.body)
        found, ends = self._found[begun:], [dict(self._names)]
        if found and self._loops <= _LOOPS:
            self._block(node.body.body)  # what a pass leaves behind may be used by the next one
        for one in found if self._loops > _LOOPS else ():
            one.seen = True
        self._loops -= 1
        self._found[begun:] = found
        ends += [self._names, {}]
        names = dict.fromkeys(name for end in ends for name in end)
        self._names = {name: either(end.get(name) for end in ends) for name in names} | before
        if node.orelse is not None:
            self._block(node.orelse.body.body)

    def _augment(self, node: cst.AugAssign) -> None:
        factor = self._value(node.value)
        leave(factor)
        held = self._value(node.target)
        scales = isinstance(node.operator, (cst.MultiplyAssign, cst.DivideAssign)) and factor == Number()
        if not isinstance(held, Shaped) and not (isinstance(held, Scores) and scales):
            leave(held)
            self._bind(node.target, None)
