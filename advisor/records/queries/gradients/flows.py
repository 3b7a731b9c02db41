"""The flows of data of the functions of a program, each made when it is first asked for."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.queries.gradients.data_flow import INNER, DataFlow
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Program
    from accel_advisor.source.document import Document


_MOST_KEPT = 32
"""Texts whose flows are kept for whoever has the tree alone."""


class Flows:
    """Those of a text: of each function, and of what stands outside of them.

    Attributes:
        roots: the module, and its functions in the order of the source.
    """

    def __init__(self, tree: cst.Module) -> None:
        self.roots: tuple[cst.CSTNode, ...] = (tree, *descendants(tree, cst.FunctionDef))
        self._made: dict[int, DataFlow] = {}
        self._calls: dict[int, tuple[cst.Call, ...]] = {}

    def calls_in(self, root: cst.CSTNode) -> tuple[cst.Call, ...]:
        """The calls of one of the roots, without those of what has bindings of its own within it."""
        known = self._calls.get(id(root))
        if known is None:
            begin = root.body if isinstance(root, cst.FunctionDef) else root
            known = self._calls[id(root)] = tuple(descendants(begin, cst.Call, but=INNER))
        return known

    def of(self, root: cst.CSTNode) -> DataFlow:
        """That of one of the roots."""
        made = self._made.get(id(root))
        if made is None:
            made = self._made[id(root)] = DataFlow(root)
        return made


def calls_in(facts: Facts, function: cst.CSTNode) -> tuple[cst.Call, ...]:
    """The calls in a function of the program; none for another."""
    document = facts.program.once(_documents).get(id(function))
    return document.once(flows_in).calls_in(function) if document is not None else ()


@lru_cache(maxsize=_MOST_KEPT)
def flows_in(tree: cst.Module) -> Flows:
    """Those of a text, by its tree."""
    return Flows(tree)


def outside_of_functions(document: Document) -> DataFlow:
    """What stands in no function of a document."""
    flows = document.once(flows_in)
    return flows.of(flows.roots[0])


def flow_of(facts: Facts, function: cst.CSTNode) -> DataFlow | None:
    """The function of the program that this is."""
    document = facts.program.once(_documents).get(id(function))
    return document.once(flows_in).of(function) if document is not None else None


def flow_around(facts: Facts, call: cst.Call, caller: cst.CSTNode | None) -> DataFlow | None:
    """The function that a call stands in, or the top of a document, where ``caller`` is None; None where what a call
    stands in has bindings of its own."""
    if caller is not None:
        found = flow_of(facts, caller)
        return found if found is not None and found.holds(call) else None
    tops = (outside_of_functions(each.document) for each in facts.program)
    return next((one for one in tops if one.holds(call)), None)


def document_of(facts: Facts, flow: DataFlow) -> Document:
    """The document of the program that a function stands in."""
    return facts.program.once(_documents)[id(flow.root)]


def _documents(program: Program) -> dict[int, Document]:
    """The document of each function of a program, by the identity of its node."""
    return {id(root): each.document for each in program for root in each.document.once(flows_in).roots}
