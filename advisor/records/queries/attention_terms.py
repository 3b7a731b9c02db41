"""The expressions of an attention: what each is worth, by what is known of the names of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

import libcst as cst

from accel_advisor.interpreter.resolution import value_of
from accel_advisor.records.queries.terms import (
    HEADS,
    Attention,
    Each,
    Known,
    Names,
    Number,
    Parts,
    Scores,
    Shaped,
    Weights,
    crossed,
    either,
    integer,
    item,
    leave,
    rearranged,
)
from accel_advisor.syntax.shapes import self_attribute
from accel_advisor.syntax.walking import children, descendants
from accel_advisor.values.values import Function, Qualified

if TYPE_CHECKING:
    from accel_advisor.interpreter.interpreter import Interpreter
    from accel_advisor.values.store import Scope

_SOFTMAX = frozenset({"torch.softmax", "torch.nn.functional.softmax"})
_DROPOUT = frozenset({"torch.dropout", "torch.nn.functional.dropout"})
_PRODUCTS = frozenset({"torch.matmul"})
_NUMBERS = frozenset({"float", "int", "len", "numpy.sqrt"})
_KEEPS_SHAPE = frozenset({"contiguous", "float", "half", "bfloat16", "to", "type_as", "clone"})
_SHARES = (cst.FunctionDef, cst.ClassDef, cst.Lambda, cst.Global, cst.Nonlocal)
"""Where names are read at another time, or from elsewhere."""
_COMPOUND = (cst.If, cst.For, cst.While, cst.With, cst.Try, cst.TryStar, cst.Match)


Made: TypeAlias = "tuple[Scope, cst.BaseExpression]"
"""What an attribute of a class is given, and where that stands."""


class Expressions:
    """Reads the expressions of one function."""

    def __init__(self, machine: Interpreter, function: Function, attributes: dict[str, list[Made]]) -> None:
        self._machine = machine
        self._attributes = attributes
        self._scope = function.scope
        self._names: Names = {}
        self._found: list[Attention] = []
        self._numbers: dict[str, bool] = {}
        inner = descendants(function.node.body, *_SHARES)
        self._captured = {name.value for one in inner for name in descendants(one, cst.Name)}
        self._bound = {one.name.value for one in descendants(function.node.params, cst.Param)}

    def _bind(self, target: cst.BaseExpression, value: Known) -> None:
        if isinstance(target, cst.Name):
            self._bound.add(target.value)
            self._names[target.value] = value
            if target.value in self._captured:
                leave(value)
        elif isinstance(target, (cst.Tuple, cst.List)):
            for index, element in enumerate(target.elements):
                starred = isinstance(element, cst.StarredElement)
                self._bind(element.value, None if starred else item(value, index))
        else:
            leave(value)
            self._use(target)

    def _use(self, node: cst.CSTNode) -> None:
        """Something is done with an expression, or with what stands in a statement, that is not known."""
        if isinstance(node, cst.BaseExpression):
            leave(self._value(node))
        elif isinstance(node, _COMPOUND):
            for target in descendants(node, cst.Name):
                leave(self._names.pop(target.value, None))
        elif isinstance(node, cst.AsName):
            self._bind(node.name, None)
        else:
            for one in [node.value] if isinstance(node, cst.Arg) else children(node):
                self._use(one)

    def _value(self, node: cst.BaseExpression) -> Known:
        read = _READ.get(type(node))
        if read is not None:
            return read(self, node)
        for one in children(node):
            self._use(one)
        return None

    def _name(self, node: cst.Name) -> Known:
        return self._names.get(node.value)

    def _number(self, node: cst.BaseExpression) -> Known:
        return Number()

    def _sequence(self, node: cst.Tuple | cst.List) -> Known:
        return Parts(tuple(self._value(one.value) for one in node.elements))

    def _minus(self, node: cst.UnaryOperation) -> Known:
        value = self._value(node.expression)
        leave(value)
        return value if value == Number() else None

    def _either(self, node: cst.IfExp) -> Known:
        self._use(node.test)
        return either((self._value(node.body), self._value(node.orelse)))

    def _or(self, node: cst.BooleanOperation) -> Known:
        """``scale or dim ** -0.5`` is a number whatever it was given."""
        self._use(node.left)
        right = self._value(node.right)
        leave(right)
        return right if right == Number() else None

    def _named(self, node: cst.NamedExpr) -> Known:
        value = self._value(node.value)
        self._bind(node.target, value)
        return value

    def _lambda(self, node: cst.Lambda) -> Known:
        return None

    def _attribute(self, node: cst.Attribute) -> Known:
        name = self_attribute(node)
        if name is not None:
            return Number() if self._holds_number(name) else None
        owner = self._value(node.value)
        if node.attr.value == "shape":
            leave(owner)
            return Each(Number())
        if node.attr.value == "mT" and not isinstance(owner, (Scores, Weights)):
            return crossed(owner)
        leave(owner)
        return None

    def _subscript(self, node: cst.Subscript) -> Known:
        owner = self._value(node.value)
        leave(owner)
        for one in node.slice:
            self._use(one)
        only = node.slice[0].slice if len(node.slice) == 1 else None
        if isinstance(only, cst.Index) and isinstance(only.value, cst.Integer):
            return item(owner, int(only.value.value, 0))
        return item(owner, 0) if isinstance(owner, Each) and isinstance(only, cst.Index) else None

    def _binary(self, node: cst.BinaryOperation) -> Known:
        # long sums are nested as deeply as they are long: walk down the left side instead of recursing
        spine: list[cst.BinaryOperation] = []
        first: cst.BaseExpression = node
        while isinstance(first, cst.BinaryOperation):
            spine.append(first)
            first = first.left
        left = self._value(first)
        for one in reversed(spine):
            left = self._combine(one, left, self._value(one.right))
        return left

    def _combine(self, node: cst.BinaryOperation, left: Known, right: Known) -> Known:
        operator = node.operator
        if isinstance(operator, cst.MatrixMultiply):
            return self._product(node, left, right)
        if isinstance(operator, cst.Power):
            leave(Parts((left, right)))
            return Number() if right == Number() and not isinstance(left, Shaped) else None
        if isinstance(operator, (cst.Multiply, cst.Divide)):
            scaled = left if isinstance(left, (Scores, Shaped)) else right
            factor = right if scaled is left else left
            whole = scaled is left or isinstance(operator, cst.Multiply)
            if isinstance(scaled, Shaped) or (isinstance(scaled, Scores) and factor == Number() and whole):
                leave(factor)
                return scaled
        leave(Parts((left, right)))
        counts = isinstance(operator, cst.FloorDivide)
        return Number() if (left == right == Number() or (counts and right == Number())) else None

    def _product(self, node: cst.BaseExpression, left: Known, right: Known) -> Known:
        if isinstance(left, Weights) and not isinstance(right, (Scores, Weights)):
            left.attention.products += 1
            return None
        ranks = {one.rank for one in (left, right) if isinstance(one, Shaped) and one.rank is not None}
        crossed = isinstance(right, Shaped) and right.crossed
        if crossed and ranks == {HEADS} and (left is None or (isinstance(left, Shaped) and not left.crossed)):
            self._found.append(Attention(node))
            return Scores(self._found[-1])
        leave(Parts((left, right)))
        return None

    # -- calls

    def _call(self, node: cst.Call) -> Known:
        function = self._callee(node.func)
        given = [one.value for one in node.args if one.keyword is None]
        if any(one.star for one in node.args):
            return self._unknown_call(node)
        if function == "map" and len(given) == 2 and isinstance(given[0], cst.Lambda):
            self._use(given[1])
            return Each(self._value(given[0].body))
        if function == "einops.rearrange" and len(given) == 2:
            self._use(given[0])
            return rearranged(given[1])
        if function in _PRODUCTS and len(node.args) == len(given) == 2:
            return self._product(node, self._value(given[0]), self._value(given[1]))
        if function in _SOFTMAX and given:
            return self._softmax(node, given[0], node.args[1:])
        if (function in _DROPOUT or self._is_made(node.func, _is_dropout)) and given:
            for one in node.args[1:]:
                self._use(one)
            value = self._value(given[0])
            leave(value if isinstance(value, Scores) else None)
            return value if isinstance(value, Weights) else None
        if len(node.args) == len(given) == 1 and self._is_made(node.func, _is_softmax):
            return self._softmax(node, given[0], None)
        if function in _NUMBERS or function.startswith("math."):
            self._unknown_call(node)
            return Number()
        if isinstance(node.func, cst.Attribute) and self_attribute(node.func) is None and not function:
            return self._method(node, node.func, given)
        return self._unknown_call(node)

    def _unknown_call(self, node: cst.Call) -> Known:
        for one in node.args if self_attribute(node.func) is not None else children(node):
            self._use(one)
        return None

    def _softmax(self, node: cst.Call, scores: cst.BaseExpression, others: Iterable[cst.Arg] | None) -> Known:
        value, last = self._value(scores), others is None
        for index, one in enumerate(others or ()):
            self._use(one)
            meant = one.keyword.value == "dim" if one.keyword is not None else index == 0
            last |= meant and integer(one.value) in (-1, HEADS - 1)
        if isinstance(value, Scores) and last:
            value.attention.softmaxes += 1
            return Weights(value.attention)
        leave(value)
        return None

    def _method(self, node: cst.Call, method: cst.Attribute, given: list[cst.BaseExpression]) -> Known:
        name, numbers = method.attr.value, [integer(one) for one in given]
        if name == "softmax":
            return self._softmax(node, method.value, node.args)
        owner = self._value(method.value)
        if name == "matmul" and len(given) == 1:
            return self._product(node, owner, self._value(given[0]))
        for arg in node.args:
            self._use(arg)
        if name in ("masked_fill", "masked_fill_") and isinstance(owner, Scores):
            owner.attention.masked = True
            return owner
        if isinstance(owner, (Scores, Weights)):
            leave(owner)
            return None
        if name == "size":
            return Number() if given else Each(Number())
        if name == "transpose" and len(numbers) == 2:
            if set(numbers) == {2, 3}:
                return crossed(Shaped(HEADS, isinstance(owner, Shaped) and owner.crossed))
            return crossed(owner) if set(numbers) == {-2, -1} else owner
        if name in ("view", "reshape", "permute"):
            sizes = given[0].elements if len(given) == 1 and isinstance(given[0], (cst.Tuple, cst.List)) else given
            return Shaped(len(sizes)) if len(sizes) > 1 else None
        if name == "unbind":
            return Each(item(owner, 0)) if isinstance(owner, Shaped) else None
        if name in ("chunk", "split"):
            return Each(owner)
        return owner if name in _KEEPS_SHAPE else None

    # -- names of libraries, and attributes

    def _callee(self, node: cst.BaseExpression) -> str:
        root = node
        while isinstance(root, cst.Attribute):
            root = root.value
        if not isinstance(root, cst.Name) or root.value in self._bound:
            return ""
        value = value_of(self._machine, self._scope, node)
        return value.name if isinstance(value, Qualified) else ""

    def _holds_number(self, name: str) -> bool:
        """Whether an attribute is a number, whichever of its assignments came last. One that is made from itself is
        taken for none, and each is looked at once: among attributes that are made from each other the ways are many."""
        known = self._numbers.get(name)
        if known is None:
            self._numbers[name] = False
            made = self._attributes.get(name, ())
            known = bool(made) and all(self._value_elsewhere(scope, one) == Number() for scope, one in made)
            self._numbers[name] = known
        return known

    def _is_made(self, node: cst.BaseExpression, wanted: Callable[[str, cst.Call], bool]) -> bool:
        """Whether ``self.name`` holds what a call makes that is wanted, whichever of its assignments came last."""
        name = self_attribute(node)
        made = self._attributes.get(name, []) if name is not None else []
        return bool(made) and all(self._makes(scope, one, wanted) for scope, one in made)

    def _makes(self, scope: Scope, node: cst.BaseExpression, wanted: Callable[[str, cst.Call], bool]) -> bool:
        if isinstance(node, cst.IfExp):
            return self._makes(scope, node.body, wanted) and self._makes(scope, node.orelse, wanted)
        made = value_of(self._machine, scope, node.func) if isinstance(node, cst.Call) else None
        return isinstance(node, cst.Call) and isinstance(made, Qualified) and wanted(made.name, node)

    def _value_elsewhere(self, scope: Scope, node: cst.BaseExpression) -> Known:
        """What an expression of another method is worth, whose names stand for nothing that is known here."""
        kept = self._scope, self._names, self._bound
        self._scope, self._names, self._bound = scope, {}, set()
        try:
            return self._value(node)
        finally:
            self._scope, self._names, self._bound = kept


def _is_dropout(name: str, call: cst.Call) -> bool:
    return name in ("torch.nn.Dropout", "torch.nn.Identity")


def _is_softmax(name: str, call: cst.Call) -> bool:
    return name == "torch.nn.Softmax" and any(integer(one.value) in (-1, HEADS - 1) for one in call.args)


_READ: dict[type[cst.CSTNode], Callable[..., Known]] = {
    cst.Name: Expressions._name,
    cst.Integer: Expressions._number,
    cst.Float: Expressions._number,
    cst.Tuple: Expressions._sequence,
    cst.List: Expressions._sequence,
    cst.UnaryOperation: Expressions._minus,
    cst.IfExp: Expressions._either,
    cst.BooleanOperation: Expressions._or,
    cst.NamedExpr: Expressions._named,
    cst.Lambda: Expressions._lambda,
    cst.Attribute: Expressions._attribute,
    cst.Subscript: Expressions._subscript,
    cst.BinaryOperation: Expressions._binary,
    cst.Call: Expressions._call,
}
