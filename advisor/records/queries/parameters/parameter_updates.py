"""What the body of a loop over parameters does with each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

import libcst as cst

from accel_advisor.syntax.shapes import dotted, last_name
from accel_advisor.syntax.walking import descendants


class Update(Enum):
    """What is done with each parameter, or with its gradient."""

    AVERAGE = "moves it towards another one, as a moving average does"
    COPY = "copies another one into it"
    CLAMP = "clamps its gradient"
    SCALE = "scales it, or its gradient"
    ZERO = "fills its gradient with zeros"
    NORM = "takes the norm of its gradient"
    SHIFT = "adds to it"


_ARITHMETIC = {"mul_": Update.SCALE, "div_": Update.SCALE, "add_": Update.SHIFT, "sub_": Update.SHIFT}
_NEUTRAL = frozenset({"detach_", "requires_grad_"})
_PLAIN = frozenset(
    {"detach", "float", "half", "clone", "type", "type_as", "norm", "lerp", "pow", "square", "sum", "item", "sqrt"}
    | {"mul", "add", "sub", "div", "replace", "Variable", "max", "abs", "vector_norm", "format"}
)
"""What a body may call: arithmetic for which there is a call over lists, and what only looks at a tensor."""
_ALIKE = re.compile(r"requires_grad|grad|is_floating_point|is_sparse|dtype")
_ACCUMULATES = frozenset({"append", "extend", "max"})
_IN_PLACE = frozenset({"data", "grad"})
"""Attributes of a parameter that hold a tensor, so that what is assigned to them replaces that."""
_WIDEST = 12
"""Statements above which a body is an algorithm of its own, such as an optimizer."""


class ParameterUpdate:
    """The body of a loop over parameters.

    Attributes:
        found: what it does with each of them; empty where it does something else as well, or treats them differently.
    """

    def __init__(self, target: cst.BaseExpression, body: cst.BaseSuite) -> None:
        self._elements = {one.value for one in descendants(target, cst.Name)}
        self.found: frozenset[Update] = frozenset()
        self._gradients = any(one.attr.value == "grad" for one in descendants(body, cst.Attribute))
        statements = list(self._statements(body))
        if len(statements) > _WIDEST:
            return
        done = [self._done_by(one) for one in statements]
        if all(one is not None for one in done):
            self.found = frozenset(each for one in done if one is not None for each in one)
        if {Update.SCALE, Update.SHIFT} <= self.found and not self._gradients:
            self.found = frozenset({Update.AVERAGE})  # in two statements

    def _statements(self, body: cst.BaseSuite) -> Iterator[cst.CSTNode]:
        for one in body.body:
            if isinstance(one, cst.SimpleStatementLine):
                yield from one.body
            elif isinstance(one, cst.With):
                yield from self._statements(one.body)
            elif isinstance(one, cst.If) and self._treats_alike(one.test):
                yield from self._statements(one.body)
                if isinstance(one.orelse, cst.Else):
                    yield from self._statements(one.orelse.body)
                elif one.orelse is not None:
                    yield one.orelse
            else:
                yield one

    def _treats_alike(self, test: cst.BaseExpression) -> bool:
        """Whether a condition only asks whether there is something to update: a gradient, an entry of this name."""
        if isinstance(test, cst.UnaryOperation):
            return self._treats_alike(test.expression)
        if isinstance(test, cst.BooleanOperation):
            return self._treats_alike(test.left) and self._treats_alike(test.right)
        if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
            only = test.comparisons[0]
            if isinstance(only.operator, (cst.Is, cst.IsNot)):
                return True
            if isinstance(only.operator, (cst.In, cst.NotIn)):
                return isinstance(test.left, cst.Name) and "no_" not in dotted(only.comparator)
            return False
        if isinstance(test, cst.Call):
            name = last_name(test.func)
            return name in ("is_floating_point", "hasattr", "isinstance")
        if isinstance(test, cst.Attribute):
            return bool(_ALIKE.fullmatch(test.attr.value)) or not self._is_of_element(test)
        return isinstance(test, cst.Name)

    def _done_by(self, statement: cst.CSTNode) -> frozenset[Update] | None:
        """What a statement does with a parameter; None where it does something that no call over lists does."""
        if isinstance(statement, (cst.Pass, cst.Continue, cst.Assert, cst.Global)):
            return frozenset()
        if isinstance(statement, cst.Expr):
            return self._done_by_call(statement.value)
        if isinstance(statement, cst.AugAssign):
            return self._done_by_augmenting(statement)
        if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
            return self._done_by_assigning(statement.targets[0].target, statement.value)
        return None

    def _done_by_call(self, node: cst.BaseExpression) -> frozenset[Update] | None:
        if isinstance(node, cst.SimpleString):
            return frozenset()
        names, arguments, receiver = _chain(node)
        if not names or not self._is_plain(*arguments):
            return None
        if self._is_of_element(receiver):
            return _done_in_place(names, arguments, _is_gradient(receiver))
        if len(names) == 1 and names[0] in _ACCUMULATES:
            return self._norms_in(*arguments)
        return None

    def _done_by_augmenting(self, statement: cst.AugAssign) -> frozenset[Update] | None:
        if not self._is_plain(statement.value):
            return None
        if not self._is_of_element(statement.target):
            return self._norms_in(statement.value)
        if isinstance(statement.operator, (cst.MultiplyAssign, cst.DivideAssign)):
            return frozenset({Update.SCALE})
        if isinstance(statement.operator, (cst.AddAssign, cst.SubtractAssign)):
            return frozenset({Update.SHIFT})
        return None

    def _done_by_assigning(self, target: cst.BaseExpression, value: cst.BaseExpression) -> frozenset[Update] | None:
        if not self._is_plain(value):
            return None
        if isinstance(target, cst.Name):
            if self._is_of_element(value):
                self._elements.add(target.value)
            if any(one.value in self._elements for one in descendants(value, cst.Name)):
                self._elements.add(target.value)
            return self._norms_in(value)
        if not self._is_of_element(target):
            return None
        if isinstance(value, cst.Name) and value.value in ("None", "True", "False"):
            return frozenset()
        if isinstance(target, cst.Attribute) and target.attr.value not in _IN_PLACE:
            return None  # a new tensor beside the parameter, as the fast weights of MAML are
        if _blends(value):
            return frozenset({Update.AVERAGE})
        if isinstance(target, cst.Subscript) and _is_recorded(value):
            return None
        if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, (cst.Multiply, cst.Divide)):
            return frozenset({Update.SCALE})
        if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, (cst.Add, cst.Subtract)):
            return frozenset({Update.SHIFT})
        names, _, _ = _chain(value)
        return frozenset({Update.COPY}) if "clone" in names else frozenset()

    def _norms_in(self, *nodes: cst.BaseExpression) -> frozenset[Update]:
        calls = (call for node in nodes for call in descendants(node, cst.Call))
        taken = any(last_name(call.func) in ("norm", "vector_norm") and self._reads_gradient(call) for call in calls)
        squared = any(_sums_squares(node) and self._reads_gradient(node) for node in nodes)
        return frozenset({Update.NORM}) if taken or squared else frozenset()

    def _reads_gradient(self, node: cst.CSTNode) -> bool:
        mentions = any(one.value in self._elements for one in descendants(node, cst.Name))
        return mentions and any("grad" in one.value for one in descendants(node, cst.Name))

    def _is_of_element(self, node: cst.BaseExpression) -> bool:
        """Whether it is a parameter that the loop is at, its data or its gradient, or what is kept under its name."""
        while True:
            if isinstance(node, cst.Attribute):
                node = node.value
            elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and not node.args:
                node = node.func.value
            elif isinstance(node, cst.Subscript):
                index = node.slice[0].slice if len(node.slice) == 1 else None
                key = index.value if isinstance(index, cst.Index) else None
                return key is not None and any(one.value in self._elements for one in descendants(key, cst.Name))
            else:
                return isinstance(node, cst.Name) and node.value in self._elements

    def _is_plain(self, *nodes: cst.BaseExpression) -> bool:
        """Whether expressions call nothing with a parameter but what there is for lists, too."""
        for call in (call for node in nodes for call in descendants(node, cst.Call)):
            mentions = any(one.value in self._elements for one in descendants(call, cst.Name))
            if mentions and last_name(call.func) not in _PLAIN:
                return False
        return True


def _done_in_place(names: list[str], arguments: list[cst.BaseExpression], gradient: bool) -> frozenset[Update] | None:
    changing = [one for one in names if one.endswith("_") and not one.startswith("_") and one not in _NEUTRAL]
    if not changing:
        return frozenset() if not _NEUTRAL.isdisjoint(names) else None
    if "lerp_" in changing or {"mul_", "add_"} <= set(changing):
        return frozenset({Update.AVERAGE})
    if changing == ["copy_"]:
        return frozenset({Update.AVERAGE if any(map(_blends, arguments)) else Update.COPY})
    if changing in (["clamp_"], ["clip_"]):
        return frozenset({Update.CLAMP}) if gradient else None
    if changing == ["zero_"]:
        return frozenset({Update.ZERO}) if gradient else None
    if len(changing) == 1 and changing[0] in _ARITHMETIC:
        return frozenset({_ARITHMETIC[changing[0]]})
    return None


def _chain(node: cst.BaseExpression) -> tuple[list[str], list[cst.BaseExpression], cst.BaseExpression]:
    """The methods that are called one on the other, the first one first, their arguments, and what the first is called
    on."""
    names: list[str] = []
    arguments: list[cst.BaseExpression] = []
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        names.append(node.func.attr.value)
        arguments += [one.value for one in node.args]
        node = node.func.value
        while isinstance(node, cst.Attribute) and isinstance(node.value, cst.Call):
            node = node.value
    return names[::-1], arguments, node


def _blends(node: cst.BaseExpression) -> bool:
    """Whether an expression is a mean of two with weights: ``a * m + b * (1 - m)``, ``torch.lerp(a, b, m)``."""
    if isinstance(node, cst.Call):
        names, _, _ = _chain(node)
        return "lerp" in names
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, (cst.Add, cst.Subtract)):
        return False
    return all(_has_factor(side) for side in (node.left, node.right))


def _is_recorded(node: cst.BaseExpression) -> bool:
    """Whether an expression moves a tensor by a gradient, out of place and where autograd sees it, so that a gradient
    of the gradient can flow: ``weights[name] - lr * grad``."""
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, (cst.Add, cst.Subtract)):
        return False
    read = {one.attr.value for one in descendants(node, cst.Attribute)}
    gradients = any("grad" in one.value for one in descendants(node, cst.Name))
    return gradients and read.isdisjoint({"data", "detach"})


def _has_factor(node: cst.BaseExpression) -> bool:
    """Whether a part of an expression is something times something."""
    return any(isinstance(one.operator, cst.Multiply) for one in descendants(node, cst.BinaryOperation))


def _sums_squares(node: cst.BaseExpression) -> bool:
    squares = any(isinstance(one.operator, cst.Power) for one in descendants(node, cst.BinaryOperation))
    names = {last_name(one.func) for one in descendants(node, cst.Call)}
    return "sum" in names and (squares or not names.isdisjoint(("pow", "square")))


def _is_gradient(node: cst.BaseExpression) -> bool:
    names = [one.attr.value for one in descendants(node, cst.Attribute)]
    return "grad" in names or (isinstance(node, cst.Name) and "grad" in node.value)
