"""The functions of a document that compute something, and of which a run may use what they compute."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Call
from accel_advisor.syntax.shapes import dotted, last_name
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts

_COMPILES = "torch.compile"
_COMPILED = frozenset({"compile", "script", "jit_script", "script_method", "jit"})
_ASKS = frozenset({"hasattr", "getattr", "__version__", "version", "ImportError", "AttributeError"})
_EXPORTS = re.compile(r"export|onnx|coreml|tensorrt", re.IGNORECASE)
"""Words about what runs a model where a function of torch may be missing."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A function that computes something.

    Attributes:
        function: the function.
        owner: the class that it is a method of, if any.
        differentiates: whether that class is an ``autograd.Function``, which has a backward pass of its own.
    """

    function: cst.FunctionDef
    owner: cst.ClassDef | None
    differentiates: bool


def computing_functions(facts: Facts, words: Collection[str]) -> Iterator[Definition]:
    """The functions that run as they are written: not where the program compiles, what is written for a torch that
    lacks something or for an export, and what nothing reads.

    Backward passes are left out: they belong to a forward pass that is reported.

    Args:
        words: parts of names, one of which stands in each class and each function of the module that matters.
    """
    if not any(word in facts.document.python for word in words) or facts.does(Call(_COMPILES)):
        return
    for statement in facts.document.once(_outermost):
        owner = statement if isinstance(statement, cst.ClassDef) else None
        named = (one.value for one in descendants(statement, cst.Name))
        if not any(word in name for name in named for word in words) or _is_compiled(statement):
            continue
        if _EXPORTS.search(facts.document.code(statement)):
            continue
        if not facts.is_used(statement) or _is_fallback(facts, statement):
            continue
        differentiates = owner is not None and any(dotted(base.value).endswith("Function") for base in owner.bases)
        for function in descendants(statement, cst.FunctionDef):
            if function.name.value != "backward" and not _is_compiled(function):
                yield Definition(function, owner, differentiates)


def _outermost(tree: cst.Module) -> list[cst.FunctionDef | cst.ClassDef]:
    """The functions and classes that stand in no other one, but for those where a condition or an error decides which
    of several ones there is."""
    hidden = {
        id(one)
        for branch in descendants(tree, cst.If, cst.Try)
        if not isinstance(branch, cst.If) or _asks_for_function(branch)
        for one in descendants(branch, cst.FunctionDef, cst.ClassDef)
    }
    inner: set[int] = set()
    found: list[cst.FunctionDef | cst.ClassDef] = []
    for one in descendants(tree, cst.FunctionDef, cst.ClassDef):
        if id(one) not in inner and isinstance(one, (cst.FunctionDef, cst.ClassDef)):
            inner |= {id(each) for each in descendants(one.body, cst.FunctionDef, cst.ClassDef)}
            if id(one) not in hidden:
                found.append(one)
    return found


def _is_fallback(facts: Facts, definition: cst.FunctionDef | cst.ClassDef) -> bool:
    """Whether it is named only where a condition or an error shows that torch lacks something."""
    name, document = definition.name.value, facts.document
    if facts.reflects or facts.is_read_elsewhere(name):
        return False
    own = {id(one) for one in descendants(definition, cst.Name)}
    lacking = {id(one) for code in document.once(_fallbacks) for one in descendants(code, cst.Name)}
    named = {id(one) for one in document.once(_read_alone) if one.value == name} - own
    return bool(named) and named <= lacking


def _fallbacks(tree: cst.Module) -> list[cst.CSTNode]:
    """What runs where torch lacks something: handlers of the error that this is, and what conditions decide that ask
    for it."""
    lacking = [one for one in descendants(tree, cst.ExceptHandler) if _catches_absence(one)]
    return [*lacking, *(one for one in descendants(tree, cst.If) if _asks_for_function(one))]


def _read_alone(tree: cst.Module) -> list[cst.Name]:
    """The names of a module that are no attributes of anything."""
    attributes = {id(one.attr) for one in descendants(tree, cst.Attribute)}
    return [one for one in descendants(tree, cst.Name) if id(one) not in attributes]


def _catches_absence(handler: cst.CSTNode) -> bool:
    caught = handler.type if isinstance(handler, cst.ExceptHandler) else None
    return caught is not None and any(one.value in _ASKS for one in descendants(caught, cst.Name))


def _asks_for_function(branch: cst.If) -> bool:
    return any(one.value in _ASKS for one in descendants(branch.test, cst.Name))


def _is_compiled(node: cst.FunctionDef | cst.ClassDef) -> bool:
    decorators = [one.decorator for one in node.decorators]
    named = [one.func if isinstance(one, cst.Call) else one for one in decorators]
    return any(last_name(one) in _COMPILED for one in named)
