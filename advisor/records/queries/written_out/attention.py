"""Attention that a function computes step by step: scores, their softmax, and the product of these weights with values.

Names are followed in the order of the text: each stands for what the last assignment above it gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import calls
from accel_advisor.records.queries.written_out.attention_layout import Equation, equation, operands
from accel_advisor.records.queries.written_out.bound_names import BoundNames
from accel_advisor.records.queries.written_out.returned_weights import beside, is_dropped, returned_beside
from accel_advisor.syntax.shapes import assigned_value, last_name, self_attribute
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.values import Module

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.source.document import Document

_SOFTMAX = ("torch.softmax", "torch.nn.functional.softmax")
_PRODUCTS = ("torch.matmul", "torch.bmm")
_EINSUM, _WHERE = ("torch.einsum", "einops.einsum"), "torch.where"
_DROPS = ("torch.dropout", "torch.nn.functional.dropout", "torch.nn.Dropout", "torch.nn.Identity")
_NUMBERS = frozenset({"sqrt", "size", "float", "int"})
_INNER: frozenset[type[cst.CSTNode]] = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})
_SCALES = (cst.Multiply, cst.Divide, cst.MultiplyAssign, cst.DivideAssign)
_CASTS = frozenset({"float", "half", "type", "type_as", "to", "contiguous"})
_FACTS = frozenset({"dtype", "shape", "device", "size", "dim", "ndim"})
"""What is read of a tensor without its values."""
_LIKE = frozenset({"expand_as", "view_as", "reshape_as", "type_as"})
"""Methods that take a tensor for what it is like."""


@dataclass(slots=True)
class Attention:
    """One attention that is computed step by step.

    Attributes:
        scores: the product of queries and keys.
        equation: how that is written as an equation, and ``values``: the product of weights and values.
        flat: whether they have three dimensions.
        turned: the name of the keys, where that stands for them with their dimensions exchanged.
        masked: whether some scores are replaced before the softmax.
        names: where scores and weights are read by a name, on the way to the values, and what binds that name there.
        returned: whether the weights are returned beside the result to callers that may use them.
    """

    scores: cst.BaseExpression
    equation: Equation | None = None
    values: Equation | None = None
    flat: bool = False
    turned: str = ""
    masked: bool = False
    names: list[tuple[cst.Name, cst.CSTNode]] = field(default_factory=list)
    returned: bool = False


def attentions(facts: Facts) -> Iterator[Attention]:
    """The attentions of a document whose scores and weights are used for nothing else, but for weights that are
    returned beside the result."""
    if "softmax" not in facts.document.python:
        return
    functions = facts.operations_of(*calls(*_SOFTMAX, *_DROPS, *_PRODUCTS, *_EINSUM, _WHERE))
    called = {id(one.node): one.what.full for one in functions}
    for call in facts.module_calls:
        for module in (context.module for context in call.contexts):
            if isinstance(module, Module):
                made = module.node.args if isinstance(module.node, cst.Call) else ()
                over_last = module.kind == "torch.nn.Softmax" and _is_over_last(made)
                called[id(call.node)] = module.kind if module.kind in _DROPS else _SOFTMAX[0] if over_last else ""
    tree = facts.document.tree
    classes = {id(one): owner for owner in descendants(tree, cst.ClassDef) for one in owner.body.body}
    for function in descendants(tree, cst.FunctionDef):
        inside = descendants(function.body, cst.Call)
        if any(called.get(id(one)) in _SOFTMAX or _receiver(one, "softmax") is not None for one in inside):
            owner = classes.get(id(function))
            returned = returned_beside(function)
            alone = _Function(facts.document, function, owner, called, frozenset())
            yield from (kept := list(alone.attentions()))
            if not returned:
                continue
            dropped = is_dropped(facts, function, owner)
            known = {id(one.scores) for one in kept}
            for one in _Function(facts.document, function, owner, called, returned).attentions(
                without_options=not dropped
            ):
                if id(one.scores) not in known and (dropped or alone.are_weights(returned)):
                    yield replace(one, returned=not dropped)


class _Function:
    """The names of one function, and what it multiplies."""

    def __init__(
        self,
        document: Document,
        node: cst.FunctionDef,
        owner: cst.ClassDef | None,
        called: dict[int, str],
        dropped: frozenset[int],
    ) -> None:
        self._body, self._owner, self._called = node.body, owner, called
        self._names = BoundNames(document, node.body)
        labels = {id(one.target) for one in descendants(node.body, cst.AssignTarget)}
        labels |= {id(one.attr) for one in descendants(node.body, cst.Attribute)}
        labels |= {id(one.value) for one in descendants(node.body, cst.Attribute) if one.attr.value in _FACTS}
        alike = (one for one in descendants(node.body, cst.Call) if last_name(one.func) in _LIKE)
        labels |= {id(arg.value) for one in alike for arg in one.args}
        labels |= _given_on_demand(node.body) | dropped
        self._reads = [one for one in descendants(node.body, cst.Name) if id(one) not in labels]
        hidden = descendants(node.body, *_INNER, cst.Global, cst.Nonlocal)
        self._hidden = {name.value for one in hidden for name in descendants(one, cst.Name)}
        self._optional = {id(one) for one in self._reads if self._names.is_optional(one)}
        changes = [one for one in descendants(node.body, cst.Assign) if isinstance(one, cst.Assign)]
        changed = {id(name) for one in changes for name in descendants(one.value, cst.Name) if _binds(one, name)}
        self._changing = self._optional & changed
        self._no_weights: set[int] = set()
        self._no_scores: set[int] = set()

    def attentions(self, *, without_options: bool = False) -> Iterator[Attention]:
        """Those that end in a product, of what is used in no other way, unless an option asks for that, or, without
        options, changes it on the way."""
        for node in descendants(self._body, cst.BinaryOperation, cst.Call, but=_INNER):
            factors = self._factors(node)
            found = self._weights(factors[0]) if factors is not None else None
            if found is None or self._hidden & {one.value for one, _ in found.names}:
                continue
            names, ways = {id(one) for one, _ in found.names}, {(one.value, id(way)) for one, way in found.names}
            spared = self._changing if without_options else self._optional
            others = (one for one in self._reads if id(one) not in names and id(one) not in spared)
            if not any((one.value, id(way)) in ways for one in others for way in self._names.bindings(one)):
                yield replace(found, values=self._equation(node))

    def are_weights(self, names: frozenset[int]) -> bool:
        """Whether all of these names stand for weights of an attention where they are read."""
        read = [one for one in self._reads if id(one) in names]
        return len(read) == len(names) and all(self._weights(one) is not None for one in read)

    def _weights(self, node: cst.CSTNode | None) -> Attention | None:
        """The attention whose weights an expression is."""
        if node is None or id(node) in self._no_weights:
            return None
        found = self._weights_through(node) if isinstance(node, cst.Name) else self._weights_of(node)
        if found is None:
            self._no_weights.add(id(node))
        return found

    def _weights_through(self, name: cst.Name) -> Attention | None:
        each = ((self._weights(_given(one)), one) for one in self._names.bindings(name))
        return next((_through(found, name, one) for found, one in each if found is not None), None)

    def _weights_of(self, node: cst.CSTNode) -> Attention | None:
        if not isinstance(node, cst.Call):
            return None
        called = self._called.get(id(node), "")
        if node.args and (called in _DROPS or _is_called_dropout(node.func)):
            return self._weights(node.args[0].value)
        cast = _cast(node)
        if cast is not None:
            return self._weights(cast)
        if called in _SOFTMAX and node.args and (len(node.args) == 1 or _is_over_last(node.args[1:])):
            return self._scores(node.args[0].value)
        receiver = _receiver(node, "softmax")
        return self._scores(receiver) if receiver is not None and _is_over_last(node.args) else None

    def _scores(self, node: cst.CSTNode | None) -> Attention | None:
        """The attention whose scores an expression is."""
        if node is None or id(node) in self._no_scores:
            return None
        found = self._scores_through(node) if isinstance(node, cst.Name) else self._scores_of(node)
        if found is None:
            self._no_scores.add(id(node))
        return found

    def _scores_through(self, name: cst.Name) -> Attention | None:
        each = ((self._scores(_given(one)), one) for one in self._names.bindings(name))
        return next((_through(found, name, one) for found, one in each if found is not None), None)

    def _scores_of(self, node: cst.CSTNode) -> Attention | None:
        if isinstance(node, cst.Expr):
            changed = _receiver(node.value, "masked_fill_")
            return _masked(self._scores(changed)) if changed is not None else None
        if isinstance(node, cst.AugAssign):
            if isinstance(node.operator, cst.AddAssign):
                return _masked(self._scores(node.target)) if _is_called_mask(node.value) else None
            scaled = isinstance(node.operator, _SCALES) and self._is_scale(node.value)
            return self._scores(node.target) if scaled else None
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
            return _masked(self._scores(node.left)) if _is_called_mask(node.right) else None
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, _SCALES):
            left, right = node.left, node.right
            if isinstance(node.operator, cst.Multiply) and self._is_scale(left):
                left, right = right, left
            return self._scores(left) if self._is_scale(right) else None
        hidden = self._unmasked(node)
        if hidden is not None:
            return _masked(self._scores(hidden))
        if (cast := _cast(node)) is not None:
            return self._scores(cast)
        factors = self._factors(node)
        written = self._equation(node)
        flat = self._called.get(id(node)) == "torch.bmm" or _receiver(node, "bmm") is not None
        if written is not None:
            crossed, flat = written.is_of_scores, len(written.product) == 3 and "." not in written.product
        else:
            crossed = factors is not None and self._is_crossed(factors[1], flat) and not self._is_crossed(factors[0])
        if not crossed or factors is None or self._is_of_one(factors[0]) or not isinstance(node, cst.BaseExpression):
            return None
        turned = factors[1].value if written is None and isinstance(factors[1], cst.Name) else ""
        return Attention(node, written, flat=flat, turned=turned)

    def _unmasked(self, node: cst.CSTNode | None) -> cst.BaseExpression | None:
        """The scores of which some are replaced."""
        for method in ("masked_fill", "masked_fill_"):
            receiver = _receiver(node, method)
            if receiver is not None:
                return receiver
        if isinstance(node, cst.Call) and self._called.get(id(node)) == _WHERE and len(node.args) == 3:
            return node.args[1].value
        return None

    def _factors(self, node: cst.CSTNode | None) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
        """What a matrix product multiplies."""
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.MatrixMultiply):
            return node.left, node.right
        if self._equation(node) is not None and isinstance(node, cst.Call):
            first, second = operands(node)
            return first, second
        receiver = _receiver(node, "matmul") or _receiver(node, "bmm")
        given = node.args if isinstance(node, cst.Call) else ()
        if len(given) == 2 and self._called.get(id(node)) in _PRODUCTS:
            return given[0].value, given[1].value
        return (receiver, given[0].value) if receiver is not None and len(given) == 1 else None

    def _equation(self, node: cst.CSTNode | None) -> Equation | None:
        """The dimensions of both factors and of the product, for one that is written as an equation."""
        if not isinstance(node, cst.Call) or self._called.get(id(node)) not in _EINSUM:
            return None
        return equation(node)

    def _is_scale(self, node: cst.BaseExpression) -> bool:
        """Whether a factor is a number, for all that is known: neither computed here nor learnt."""
        name = self_attribute(node)
        if name is not None and self._owner is not None:
            assigns = [one for one in descendants(self._owner, cst.Assign) for each in one.targets]
            given = [one.value for one in assigns if name in [self_attribute(each.target) for each in one.targets]]
            if given and all(isinstance(one, (cst.Name, cst.Attribute)) for one in given):
                return True
        if isinstance(node, cst.Name) and self._names.bound_by(node) is None and "scale" in node.value:
            return True
        return self._is_number(node)

    def _is_crossed(self, node: cst.CSTNode | None, flat: bool = False) -> bool:
        """Whether the last two dimensions of a tensor were exchanged; of three, if it is flat."""
        if isinstance(node, cst.Name):
            return self._is_crossed(_given(self._names.bound_by(node)), flat)
        if isinstance(node, cst.Call) and _receiver(node, "transpose") is not None:
            return {_integer(one.value) for one in node.args} in ({-1, -2}, {1, 2} if flat else {2, 3})
        return isinstance(node, cst.Attribute) and node.attr.value == "mT"

    def _is_of_one(self, node: cst.CSTNode | None) -> bool:
        """Whether queries are those of one position, whose weights take no memory to speak of."""
        if isinstance(node, cst.Name):
            return self._is_of_one(_given(self._names.bound_by(node)))
        if isinstance(node, cst.BinaryOperation):
            return self._is_of_one(node.left)
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            return False
        shaped = node.func.value if node.func.attr.value in ("permute", "transpose") else None
        if isinstance(shaped, cst.Call) and (_receiver(shaped, "reshape") or _receiver(shaped, "view")) is not None:
            return len(shaped.args) > 1 and _integer(shaped.args[1].value) == 1
        return self._is_of_one(node.func.value)

    def _is_number(self, node: cst.BaseExpression) -> bool:
        """Whether a factor is made of numbers, roots and sizes: itself, or whatever its name or attribute is given."""
        name = self_attribute(node)
        given = [_given(self._names.bound_by(node))] if isinstance(node, cst.Name) else [node]
        if name is not None:
            assigns = descendants(self._owner, cst.Assign) if self._owner is not None else ()
            given = [one.value for one in assigns if name in [self_attribute(each.target) for each in one.targets]]
        return bool(given) and all(one is not None and _is_root(one) for one in given)


def _binds(assign: cst.Assign, name: cst.CSTNode) -> bool:
    """Whether a statement binds a name again that it reads."""
    target = assign.targets[0].target
    return isinstance(name, cst.Name) and isinstance(target, cst.Name) and target.value == name.value


def _masked(found: Attention | None) -> Attention | None:
    if found is not None:
        found.masked = True
    return found


def _cast(node: cst.CSTNode | None) -> cst.BaseExpression | None:
    """What a tensor is a copy of, in another type at most."""
    func = node.func if isinstance(node, cst.Call) else None
    return func.value if isinstance(func, cst.Attribute) and func.attr.value in _CASTS else None


def _is_called_dropout(func: cst.BaseExpression) -> bool:
    name = func.value if isinstance(func, cst.Name) else self_attribute(func)
    return name is not None and "drop" in name


def _is_called_mask(node: cst.BaseExpression) -> bool:
    """Whether what is added to scores is a mask, or a bias of positions: the fused function adds both."""
    return any("mask" in one.value or "bias" in one.value for one in descendants(node, cst.Name))


def _given_on_demand(body: cst.BaseSuite) -> set[int]:
    """The names that are given to others where an attribute or option alone asks for them: returned beside the result,
    or the one side of a choice."""
    found: set[int] = set()
    for choice in descendants(body, cst.IfExp):
        if isinstance(choice.test, (cst.Name, cst.Attribute)):
            found |= beside(choice.body) or {id(choice.body)}
    for branch in descendants(body, cst.If):
        if isinstance(branch.test, (cst.Name, cst.Attribute)):
            for one in descendants(branch.body, cst.Return):
                found |= beside(one.value)
    return found


def _through(found: Attention, name: cst.Name, bound_by: cst.CSTNode) -> Attention:
    found.names.append((name, bound_by))
    return found


def _given(statement: cst.CSTNode | None) -> cst.CSTNode | None:
    """What an assignment gives the one name that it binds."""
    named = isinstance(statement, cst.Assign) and isinstance(statement.targets[0].target, cst.Name)
    return assigned_value(statement) if statement is not None and named else statement


def _receiver(node: cst.CSTNode | None, method: str) -> cst.BaseExpression | None:
    """What a method is called on; None where it is not that method."""
    func = node.func if isinstance(node, cst.Call) else None
    return func.value if isinstance(func, cst.Attribute) and func.attr.value == method else None


def _is_root(node: cst.CSTNode) -> bool:
    """Whether an expression is made of numbers and their powers and roots, and of sizes."""
    called = [one.func for one in descendants(node, cst.Call)]
    names = {one.attr.value if isinstance(one, cst.Attribute) else getattr(one, "value", "") for one in called}
    numbers = [*descendants(node, cst.Integer, cst.Float)]
    return names <= _NUMBERS and bool(names or numbers)


def _is_over_last(args: Sequence[cst.Arg]) -> bool:
    """Whether the arguments of a softmax name the last of three or four dimensions."""
    return any(_integer(one.value) in (-1, 2, 3) for one in args)


def _integer(node: cst.BaseExpression) -> int | None:
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        return -int(node.expression.value, 0) if isinstance(node.expression, cst.Integer) else None
    return int(node.value, 0) if isinstance(node, cst.Integer) else None
