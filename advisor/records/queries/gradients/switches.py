"""Where a program switches the gradients of parameters on and off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.queries.gradients.naming import owner_of_parameters
from accel_advisor.syntax.shapes import dotted, last_name
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.source.document import Document

_RUNS = frozenset({"main", "train", "forward", "fit", "run", "step", "eval"})
"""Functions that do much else beside."""
_SAYS_WHICH = re.compile(r"requires?_?grad|toggle", re.IGNORECASE)
"""Functions whose truth values say whether gradients are on."""
_TOGGLES = re.compile(r"requires?_?grad|toggle|freez|frozen", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Toggle:
    """A place that switches the gradients of parameters on or off.

    Attributes:
        node: the call, the assignment, or the loop around it.
        words: the names in it, by which a network is told.
        on: which of both; None where that is not written.
    """

    document: Document
    node: cst.CSTNode
    words: frozenset[str]
    on: bool | None


def switching_functions(tree: cst.Module) -> frozenset[str]:
    """The functions of a text that switch gradients of parameters."""
    switching = (one.name.value for one in descendants(tree, cst.FunctionDef) if _switches_in(one.body))
    themselves = {one.name.value for one in descendants(tree, cst.ClassDef) if _freezes_itself(one)}
    return frozenset(one for one in switching if one not in _RUNS and not one.startswith("__")) | themselves


def _freezes_itself(cls: cst.ClassDef) -> bool:
    """Whether the constructor of a class switches the gradients of all its parameters."""
    for one in descendants(cls, cst.FunctionDef):
        if one.name.value == "__init__":
            calls = (dotted(each.func) for each in descendants(one.body, cst.Call))
            loops = (each for each in descendants(one.body, cst.For) if isinstance(each.iter, cst.Call))
            every = (each for each in loops if dotted(each.iter.func) == "self.parameters")  # type: ignore[attr-defined]
            if any(each == "self.requires_grad_" for each in calls) or any(_switches_in(each.body) for each in every):
                return True
    return False


def _detaches_parameters(node: cst.CSTNode) -> bool:
    """Whether a piece of code detaches the parameters of a network in place, which switches their gradients off."""
    for one in descendants(node, cst.For):
        if owner_of_parameters(one.iter) and any(
            each.attr.value == "detach_" for each in descendants(one.body, cst.Attribute)
        ):
            return True
    return False


def _switches_in(node: cst.CSTNode) -> bool:
    if _detaches_parameters(node):
        return True
    attributes = (one.attr.value for one in descendants(node, cst.Attribute))
    return any(one == "requires_grad_" for one in attributes) or any(
        isinstance(one.target, cst.Attribute) and one.target.attr.value == "requires_grad"
        for one in descendants(node, cst.AssignTarget)
    )


def may_hold_switch(text: str) -> bool:
    """Whether a text may define what switches gradients."""
    return "requires_grad" in text or "detach_" in text


def may_switch(text: str, functions: frozenset[str]) -> bool:
    """Whether a text mentions what switches gradients."""
    return _TOGGLES.search(text) is not None or "detach_(" in text or any(one in text for one in functions)


def switches(tree: cst.Module, functions: frozenset[str]) -> Iterator[tuple[cst.CSTNode, frozenset[str], bool | None]]:
    """Where a text switches gradients: the node, the names in it, and whether on."""
    for one in descendants(tree, cst.Call, cst.For, cst.Assign):
        if isinstance(one, cst.Call):
            name = last_name(one.func)
            if name not in functions and not _TOGGLES.search(name):
                continue
            inner: tuple[cst.CSTNode, ...] = (one.func, *one.args)
            told = _SAYS_WHICH.search(name) is not None
        elif isinstance(one, cst.For):
            calls = (last_name(each.func) for each in descendants(one.body, cst.Call))
            if not _switches_in(one) and not any(_TOGGLES.search(each) or each in functions for each in calls):
                continue
            inner, told = (one.iter,), True
        elif isinstance(one, cst.Assign):
            made = last_name(one.value.func) if isinstance(one.value, cst.Call) else ""
            if made not in functions and not any(
                isinstance(each.target, cst.Attribute) and each.target.attr.value == "requires_grad"
                for each in one.targets
            ):
                continue
            inner, told = tuple(one.targets), made not in functions
        else:
            continue
        words = frozenset(each.value for part in inner for each in descendants(part, cst.Name))
        yield one, words, _literal_in(one) if told else None


def _literal_in(node: cst.CSTNode) -> bool | None:
    """The one truth value that is written in a piece of code."""
    found = {one.value for one in descendants(node, cst.Name) if one.value in ("True", "False")}
    if len(found) == 1:
        return found == {"True"}
    return (
        True
        if not found and any(one.attr.value == "requires_grad_" for one in descendants(node, cst.Attribute))
        else None
    )
