"""What is copied to the host: the scores of a model, what is chosen from them, or numbers."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.shapes import dotted

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.queries.gradients.data_flow import DataFlow

_SAME = frozenset(
    (
        "detach cpu numpy cuda to type type_as clone float half double long int contiguous squeeze unsqueeze view "
        "reshape permute transpose flatten astype softmax log_softmax sigmoid exp log flip copy"
    ).split()
)
"""Methods and functions whose result has as many values as what they are called on or given."""
_RESIZES = frozenset({"interpolate", "upsample", "upsample_bilinear", "resize"})
_CHOOSES = frozenset({"argmax", "argmin", "argsort", "topk", "sort"})
_EXTREMES = frozenset({"max", "min"})
_MOST_STEPS = 60


class Kind(Enum):
    """What an expression of an evaluation is."""

    SCORES = "what a model computes, with a score for each class"
    LABELS = "what was chosen from scores"
    OTHER = "anything else"


class Origin:
    """Where the value of an expression comes from.

    Attributes:
        kind: what it is.
        resized: whether it was interpolated on the way, as maps are.
        calls: the calls of models that it comes from.
        over: the dimension over which it was chosen; None where that is not written out.
    """

    def __init__(self, facts: Facts, flow: DataFlow, node: cst.BaseExpression) -> None:
        self.kind = Kind.OTHER
        self.resized = False
        self.calls: list[cst.Call] = []
        self.over: int | None = None
        self._models = {id(one.node) for one in facts.module_calls if not one.loss}
        self._flow = flow
        self._seen: set[int] = set()
        self.kind = self._kind(node)

    def _kind(self, node: cst.BaseExpression) -> Kind:
        if id(node) in self._seen or len(self._seen) > _MOST_STEPS:
            return Kind.OTHER
        self._seen.add(id(node))
        if isinstance(node, cst.Call):
            return self._of_call(node)
        if isinstance(node, (cst.Subscript, cst.Attribute)) and not self._flow.is_reading(node):
            return self._kind(node.value)
        if isinstance(node, cst.BinaryOperation):
            return max((self._kind(node.left), self._kind(node.right)), key=lambda one: one is Kind.SCORES)
        if not self._flow.is_reading(node):
            return Kind.OTHER
        values = [value for one in self._flow.reaching(node) for value in one.values]
        kinds = [self._kind(value) for value in values]
        return next((one for one in (Kind.LABELS, Kind.SCORES) if one in kinds), Kind.OTHER)

    def _of_call(self, call: cst.Call) -> Kind:
        if id(call) in self._models:
            self.calls.append(call)
            return Kind.SCORES
        name, given = called_on(call)
        if given is None:
            return Kind.OTHER
        chooses = chosen_over(call)
        if chooses is not None:
            self._kind(given)
            self.over = chooses[0]
            return Kind.LABELS
        if name in _SAME | _RESIZES:
            self.resized |= name in _RESIZES
            return self._kind(given)
        return Kind.OTHER


def called_on(call: cst.Call) -> tuple[str, cst.BaseExpression | None]:
    """The last name of what is called, and what it works on: its owner, or, of a library's function, its first
    argument; None where there is none."""
    func, first = call.func, call.args[0].value if call.args else None
    if not isinstance(func, cst.Attribute):
        return dotted(func), first
    return func.attr.value, first if is_library(func.value) else func.value


def is_library(node: cst.BaseExpression) -> bool:
    """Whether a function is taken from a library of arrays or tensors, by the name that it goes by."""
    return dotted(node) in ("torch", "F", "np", "numpy", "nn.functional", "torch.nn.functional", "functional")


def chosen_over(call: cst.Call) -> tuple[int | None] | None:
    """The dimension over which a call chooses the best of several scores, in a tuple of its own; None where a call does
    something else, as a maximum over everything."""
    name, _ = called_on(call)
    if name not in _CHOOSES | _EXTREMES or not isinstance(call.func, cst.Attribute):
        return None
    method = not is_library(call.func.value)
    arguments = [one.value for one in call.args if one.keyword is None][0 if method else 1 :]
    if name in _EXTREMES and arguments and not _is_dimension(arguments[0]):
        return None  # of two tensors, element by element
    named = [one.value for one in call.args if one.keyword is not None and one.keyword.value in ("dim", "axis")]
    given = named or (arguments[:1] if name not in ("topk",) else arguments[1:2])
    if not given:
        return None if name in _EXTREMES | {"argmax", "argmin"} else (None,)
    return (_number(given[0]),)


def _is_dimension(node: cst.BaseExpression) -> bool:
    return _number(node) is not None or any(word in dotted(node) for word in ("dim", "axis"))


def _number(node: cst.BaseExpression) -> int | None:
    if isinstance(node, cst.Integer):
        return int(node.value, 0)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.expression, cst.Integer):
        return -int(node.expression.value, 0)
    return None
