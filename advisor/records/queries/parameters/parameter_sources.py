"""Which expressions give the parameters of a model, one after the other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.shapes import dotted, last_name, self_attribute
from accel_advisor.syntax.variation import bindings
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.source.document import Document

_GIVES = frozenset({"parameters", "named_parameters", "trainable_parameters", "state_dict", "master_params"})
"""Methods and functions that give all parameters of a model."""
_HANDS_ON = frozenset(
    {"zip", "enumerate", "list", "tuple", "dict", "reversed", "sorted", "filter", "iter", "set", "tqdm"}
)
"""Functions whose result goes over what they are given, or over what stands for it."""
_OF_DICTS = frozenset({"items", "keys", "values", "copy"})
_NAMED_SO = re.compile(r"(?:\w*_)?param(?:eter)?s")
_DEEPEST = 6


class ParameterSources:
    """What a function of the program can reach the parameters of a model by.

    Args:
        document: where it stands.
        function: the function; None for the top of the module.
        owner: the class that it is a method of, if any.
    """

    def __init__(self, document: Document, function: cst.CSTNode | None, owner: cst.ClassDef | None) -> None:
        around = function.body if isinstance(function, cst.FunctionDef) else document.tree
        self._bound = bindings(around)
        self._given = parameters_of(function)
        self._owner = owner

    def gives(self, node: cst.BaseExpression, depth: int = 0) -> bool:
        """Whether an expression gives the parameters of a model, or what stands for each of them: their names, the
        places that they have in a list."""
        if depth > _DEEPEST:
            return False
        deeper = depth + 1
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
            return node.for_in.inner_for_in is None and self.gives(node.for_in.iter, deeper)
        if isinstance(node, cst.Tuple):
            return all(self.gives(one.value, deeper) for one in node.elements)
        if isinstance(node, cst.Call):
            return self._is_given_by(node, deeper)
        if isinstance(node, cst.Subscript):
            return _key(node) == "params"
        if isinstance(node, cst.Name):
            if node.value in self._given:
                rebound = self._bound.get(node.value, [])
                return bool(_NAMED_SO.fullmatch(node.value)) and all(_mentions(one, node.value) for one in rebound)
            return self._is_bound_so(self._bound.get(node.value, []), node.value, deeper)
        attribute = self_attribute(node)
        if attribute is not None and self._owner is not None:
            return self._is_bound_so(_set_in(self._owner, attribute), f"self.{attribute}", deeper)
        return False

    def _is_given_by(self, call: cst.Call, depth: int) -> bool:
        name = last_name(call.func)
        if name in _GIVES:
            return True
        if isinstance(call.func, cst.Attribute) and name in _OF_DICTS and not call.args:
            return self.gives(call.func.value, depth)
        if name == "range" and len(call.args) == 1:
            counted = call.args[0].value
            length = isinstance(counted, cst.Call) and dotted(counted.func) == "len" and len(counted.args) == 1
            return length and isinstance(counted, cst.Call) and self.gives(counted.args[0].value, depth)
        return name in _HANDS_ON and any(self.gives(one.value, depth) for one in call.args)

    def _is_bound_so(self, values: list[cst.BaseExpression | None], name: str, depth: int) -> bool:
        known = [one for one in values if one is not None and not _is_empty(one)]
        return bool(known) and all(_mentions(one, name) or self.gives(one, depth) for one in known)


def parameters_of(function: cst.CSTNode | None) -> frozenset[str]:
    """The names of what a function is given."""
    if not isinstance(function, cst.FunctionDef):
        return frozenset()
    given = function.params
    return frozenset(one.name.value for one in (*given.params, *given.kwonly_params, *given.posonly_params))


def _set_in(owner: cst.ClassDef, attribute: str) -> list[cst.BaseExpression | None]:
    """What the methods of a class assign to one of its attributes."""
    return [
        one.value
        for one in descendants(owner, cst.Assign)
        if any(self_attribute(target.target) == attribute for target in one.targets)
    ]


def _mentions(value: cst.BaseExpression | None, name: str) -> bool:
    return value is not None and any(dotted(one) == name for one in descendants(value, cst.Name, cst.Attribute))


def _is_empty(value: cst.BaseExpression) -> bool:
    """Whether it is what stands for nothing yet: ``None``, an empty list or dict."""
    if isinstance(value, (cst.List, cst.Dict)):
        return not value.elements
    return isinstance(value, cst.Name) and value.value == "None"


def _key(node: cst.Subscript) -> str:
    """The text of a literal key."""
    index = node.slice[0].slice if len(node.slice) == 1 else None
    key = index.value if isinstance(index, cst.Index) else None
    return str(key.evaluated_value) if isinstance(key, cst.SimpleString) else ""
