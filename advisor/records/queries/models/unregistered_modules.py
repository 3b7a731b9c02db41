"""Layers that a module keeps in a plain list or dict, where torch does not see them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Act, Call, Method, methods, within
from accel_advisor.records.queries.models.registered_parts import registers_parts
from accel_advisor.syntax.shapes import done_to_each

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.given import Given, Module
    from accel_advisor.records.operations import Operation

_MEANT = re.compile(
    r"purpose|intention|deliberate|regist|frozen|freeze|state.?dict|hide|hidden|kept? out", re.IGNORECASE
)
"""What a comment says where layers are meant to stay out of a module."""
_REGISTERS = (*within("torch.nn", "Module"), Call("setattr"), Act.SETS_MODULE_ATTRIBUTE)
_MOVES = methods("Module", "to", "cuda")
_BY_HAND = frozenset({"to", "cuda", "requires_grad", "requires_grad_"})


@dataclass(frozen=True, slots=True)
class UnregisteredModules:
    """An assignment that keeps layers where torch does not see them."""

    assignment: Operation

    @property
    def in_dict(self) -> bool:
        """Whether it keeps them in a dict."""
        return isinstance(self.assignment.assigned, (cst.Dict, cst.DictComp))

    @property
    def listed(self) -> cst.BaseExpression | None:
        """The list of them that is assigned; None where it is a dict, or filled later."""
        statement = self.assignment.statement
        return statement.value if isinstance(statement, cst.Assign) and not self.in_dict else None

    def namespace(self, facts: Facts) -> str | None:
        """What the layers of the list are taken from: ``nn`` where the first is ``nn.Linear(...)``."""
        value = self.listed
        first = value.elt if isinstance(value, cst.ListComp) else None
        if isinstance(value, cst.List) and value.elements:
            first = value.elements[0].value
        named = (one.receiver for one in facts.operations if one.node is first and one.what.owner == "torch.nn")
        return next((facts.document.code(one) for one in named if one is not None), None)


def unregistered_modules(facts: Facts) -> Iterator[UnregisteredModules]:
    """The assignments of a document to a module's attribute of several layers with weights, all of them called, and
    none of them registered, moved or frozen in another way that is seen, nor kept out by what a comment says."""
    called = {given for call in facts.module_calls for one in call.contexts for given in one.called.alternatives}
    suspects: list[tuple[Operation, list[set[Given]]]] = []
    for operation in facts.operations_of(Act.SETS_MODULE_ATTRIBUTE):
        held = [set(_modules(context.value)) for context in operation.contexts]
        if all(one & called for one in held) and not _is_meant(operation):
            suspects.append((operation, held))
    if not suspects:
        return
    registered, splatted = _registered(facts), _splatted(facts)
    for operation, held in suspects:
        trained = all(any(facts.layers.have_weights(module) for module in _known(one)) for one in held)
        names = {facts.document.code(one) for one in (operation.node, operation.assigned) if one is not None}
        seen = any(one & registered for one in held) or names & splatted or _is_done_by_hand(facts, operation)
        if trained and not seen:
            yield UnregisteredModules(operation)


def _is_meant(operation: Operation) -> bool:
    """Whether a comment beside or above says so."""
    document = operation.document
    row = document.span(operation.statement).start.row
    return any(_MEANT.search(one) for one in (document.comment_beside(row), document.comment_above(row)))


def _known(held: set[Given]) -> Iterator[Module]:
    return (given.module for given in held if given.module is not None)


def _modules(given: Given, least: int = 2) -> list[Given]:
    """The modules that a list or tuple of nothing else, or an iterator, holds."""
    if given.items is not None:
        found = [one for one in given.items if one.module is not None]
        return found if len(found) == len(given.items) >= least else []
    return [one for one in given.element.alternatives if one.module is not None]


def _registered(facts: Facts) -> set[Given]:
    """What the program puts into modules one by one, or moves."""
    found: set[Given] = set()
    for operation in facts.program.operations_of(*_REGISTERS):
        for context in operation.contexts:
            if operation.what is Act.SETS_MODULE_ATTRIBUTE:
                found |= {context.value} if context.value.module is not None else set()
            elif operation.what is not Method("Module", "parameters"):
                for given in context.values:
                    found |= {*given.alternatives, *_modules(given, least=1)}
                found |= {context.subject} if operation.does(*_MOVES) else set()
    return found


def _splatted(facts: Facts) -> set[str]:
    """The text of what is given to calls as ``*layers``, which may register them."""
    return {facts.document.code(arg.value) for one in facts.operations for arg in one.arguments if arg.star == "*"}


def _is_done_by_hand(facts: Facts, operation: Operation) -> bool:
    """Whether the layers are frozen, moved or registered one by one, or registered part by part."""
    name = facts.document.code(operation.node)
    modules = [context.subject.module for context in operation.contexts]
    made = [one.cls for one in modules if one is not None and one.cls is not None]
    classes = {id(one.node): one.node for cls in made for one in cls.lineage()}
    return any(done_to_each(cls, name) & _BY_HAND or registers_parts(cls, operation) for cls in classes.values())
