"""Cells of a notebook that cannot be read: they ran all the same, and nobody knows what they did."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.library.unknown_code import escape
from accel_advisor.values.scope import Scope
from accel_advisor.values.values import UNKNOWN, Pending, Qualified

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine
    from accel_advisor.source.document import Document

Statements = Sequence[cst.BaseStatement | cst.SimpleStatementLine]

_NAME = re.compile(r"[^\W\d]\w*")


def stretches(document: Document) -> Iterator[tuple[frozenset[str], Statements]]:
    """The statements of a module in order, in stretches, each with the names that an unreadable cell before it
    mentions."""
    rest: Statements = document.tree.body
    names: frozenset[str] = frozenset()
    for cell, _ in document.broken_cells:
        before = [one for one in rest if document.span(one).start.offset < cell.start]
        yield names, before
        rest = rest[len(before) :]
        names = frozenset(_NAME.findall(cell.text))
    yield names, rest


def forget(machine: Machine, scope: Scope, names: frozenset[str]) -> None:
    """Names may mean anything from here on, and their values may have been changed; what was imported stays."""
    for name in names:
        value = machine.store.get(scope, name)
        if value is not None and not isinstance(value, (Qualified, Pending)):
            escape(machine, value)
            machine.store.set(scope, name, UNKNOWN)
