"""Loops that train or only evaluate, as their function is told: by a flag, by an optimizer that is there or not, by the
name of a phase."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall
from accel_advisor.syntax.imports import full_name
from accel_advisor.syntax.rarity import Literal, literal, tests_of, truth
from accel_advisor.syntax.shapes import dotted, keywords_of, names_read_in
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.source.document import Document

_Known = tuple[Literal]
"""The value of a literal."""
_Branches = list[list[tuple[cst.BaseExpression, bool]]]
"""For each backward pass of a loop, the tests that lead to it, and what each of them comes to there."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a loop is told so that it evaluates.

    Attributes:
        name: the parameter, or the target of a loop around it.
        value: its value where the loop evaluates.
        document, node: the call that says so, or the loop around it.
    """

    name: str
    value: Literal
    document: Document
    node: cst.CSTNode

    @property
    def trains(self) -> str:
        """The code that is true where the loop trains."""
        if self.value is False:
            return self.name
        if self.value is True:
            return f"not {self.name}"
        return f"{self.name} is not None" if self.value is None else f"{self.name} != {self.value!r}"


@dataclass(frozen=True, slots=True)
class _Given:
    """What a call gives for a parameter.

    Attributes:
        known: its value, where that is a literal.
        said: whether the call says it itself, and not the parameter's default.
    """

    document: Document
    call: cst.Call
    known: _Known | None
    said: bool


def told_to_evaluate(facts: Facts, loop: Loop) -> Choice | None:
    """What keeps every backward pass of a loop from happening, if something in the program tells it so: a call of its
    function gives a literal, or leaves the parameter's default, or a loop around it goes over literals."""
    function = loop.function
    learning: _Branches = [
        [one for condition in context.conditions for one in tests_of(condition.node, condition.branch)]
        for operation in facts.program.operations_of(AnyCall("backward"))
        for context in operation.contexts
        if loop in context.loops
    ]
    asked = [{name for test, _ in tests for name in names_read_in(test)} for tests in learning]
    names = set.intersection(*asked) if asked else set[str]()
    for outer in loop.outer if names else ():
        node = outer.node
        if isinstance(node, cst.For) and isinstance(node.target, cst.Name) and node.target.value in names:
            items = node.iter.elements if isinstance(node.iter, (cst.List, cst.Tuple)) else ()
            for known in (literal(one.value) for one in items):
                if known and _never_trains(learning, node.target.value, known[0]):
                    return Choice(node.target.value, known[0], outer.document, node)
    if not isinstance(function, cst.FunctionDef):
        return None
    parameters = [*function.params.params, *function.params.kwonly_params]
    flags = {one.name.value: one for one in parameters if one.name.value in names}
    for name, parameter in flags.items():
        at = parameters.index(parameter) if parameter in function.params.params else None
        given = list(_given(facts, function, at, parameter)) if _may_stop(learning, name) else []
        evaluating = [one for one in given if one.known and _never_trains(learning, name, one.known[0])]
        for one in evaluating:
            if one.known and (one.said or len(evaluating) < len(given)):
                return Choice(name, one.known[0], one.document, one.call)
    return None


def _may_stop(learning: _Branches, name: str) -> bool:
    return any(_never_trains(learning, name, value) for value in (True, False, None)) or any(
        isinstance(one, cst.SimpleString) for tests in learning for test, _ in tests for one in descendants(test)
    )


def _never_trains(learning: _Branches, name: str, value: Literal) -> bool:
    """Whether none of the backward passes happens where a name has a value."""
    return bool(learning) and all(
        any(truth(test, name, value) is (not taken) for test, taken in tests) for tests in learning
    )


def _given(facts: Facts, function: cst.FunctionDef, at: int | None, parameter: cst.Param) -> Iterator[_Given]:
    """What each call by the name of a function gives for one of its parameters: of a method, any that is called on
    something, and of a function, those that call it by itself or as part of a module."""
    name, flag = function.name.value, parameter.name.value
    method = bool(function.params.params) and function.params.params[0].name.value == "self"
    documents = [one.document for one in facts.program]
    for document, call in ((one, call) for one in documents for call in descendants(one.tree, cst.Call)):
        callee = dotted(call.func)
        if callee.rpartition(".")[2] != name or any(one.star for one in call.args):
            continue
        bound = method and "." in callee
        if "." in callee and not method and not full_name(document.imported, call.func):
            continue  # a method of something else, as `model.train(False)` is
        places = [place for place, one in enumerate(call.args) if one.keyword is None]
        named = keywords_of(call).get(flag)
        positional = call.args[at - bound].value if at is not None and at - bound in places else None
        said = named or positional
        yield _Given(document, call, literal(said or parameter.default), said=said is not None)
