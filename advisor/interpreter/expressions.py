"""The values of expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.assignment import assign
from accel_advisor.interpreter.calls import attribute, call
from accel_advisor.interpreter.iteration import (
    concatenated,
    data_of_loss,
    element_at,
    element_of,
    mask_of,
    selected,
    some_of,
)
from accel_advisor.interpreter.library.dicts import merged_mapping, update_mapping
from accel_advisor.interpreter.library.evident_loaders import iterated
from accel_advisor.interpreter.library.external_settings import settings_in
from accel_advisor.interpreter.library.loader_construction import combined
from accel_advisor.interpreter.library.texts import formatted_text, text
from accel_advisor.interpreter.parameters import parameter_defaults
from accel_advisor.records.actions import Act, Reads
from accel_advisor.records.clock import Moment
from accel_advisor.syntax.shapes import dotted, self_attribute, slices_of
from accel_advisor.tables.python_functions import COMPUTES_NUMBERS
from accel_advisor.values.composed_texts import added, formatted, is_text
from accel_advisor.values.evidence import Evidence, Ground
from accel_advisor.values.fillings import fills_of
from accel_advisor.values.graphs import graph_of, sum_of
from accel_advisor.values.places import SOMEWHERE, is_host
from accel_advisor.values.scope import Scope
from accel_advisor.values.store import ANY, OPEN
from accel_advisor.values.values import (
    UNKNOWN,
    Configured,
    Constant,
    Device,
    Function,
    Iterated,
    Mapping,
    Opaque,
    Origin,
    Qualified,
    Sequence,
    SourceModule,
    Tensor,
    Value,
    join,
    join_all,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine

_COUNTS_GPUS = frozenset({"torch.cuda.device_count", "torch.accelerator.device_count"})
_CONSTANTS = {"True": True, "False": False, "None": None}
_ABOUT_IDENTITY: frozenset[type[cst.CSTNode]] = frozenset({cst.Is, cst.IsNot})
_READ_NOTHING: frozenset[type[cst.CSTNode]] = _ABOUT_IDENTITY | {cst.In, cst.NotIn}


def _name(machine: Machine, node: cst.Name) -> Value:
    if node.value in _CONSTANTS:
        return machine.literal(node, _CONSTANTS[node.value])
    return machine.lookup(node.value)


def _attribute(machine: Machine, node: cst.Attribute) -> Value:
    owner = machine.evaluate(node.value)
    if self_attribute(node) is None:
        machine.recorder.attribute_read(owner, node.attr.value)
    value = attribute(machine, owner, node.attr.value)
    if isinstance(value, Qualified) and value.name.startswith("torch.backends."):
        machine.recorder.operation(machine.frame, node, Reads(value.name))
    return value


def _integer(machine: Machine, node: cst.Integer) -> Value:
    return machine.literal(node, int(node.value, 0))


def _float(machine: Machine, node: cst.Float) -> Value:
    return machine.literal(node, node.evaluated_value)


def _sequence(machine: Machine, node: cst.Tuple | cst.List | cst.Set) -> Value:
    items: list[Value] = []
    known = True
    for element in node.elements:
        if type(element) is cst.StarredElement:
            items.append(element_of(machine, machine.evaluate(element.value)))
            known = False
        else:
            items.append(machine.evaluate(element.value))
    if known and len(items) <= 64:
        return Sequence(tuple(items))
    return Iterated(join_all(items))


def _dict(machine: Machine, node: cst.Dict) -> Value:
    mapping = Mapping(machine.document, node)
    for element in node.elements:
        if type(element) is cst.StarredDictElement:
            update_mapping(machine, mapping, machine.evaluate(element.value))
            continue
        if not isinstance(element, cst.DictElement):
            continue
        key = machine.evaluate(element.key)
        value = machine.evaluate(element.value)
        if isinstance(key, Constant) and isinstance(key.value, (str, int)):
            if isinstance(value, Constant):
                value = value.at("dict entry", str(key.value))
            machine.store.set(mapping, key.value, value)
        else:
            machine.store.set(mapping, OPEN, Constant(True))
            before = machine.store.get(mapping, ANY)
            machine.store.set(mapping, ANY, value if before is None else join(before, value))
    return mapping


def _subscript(machine: Machine, node: cst.Subscript) -> Value:
    owner = machine.evaluate(node.value)
    for one in node.slice:
        if type(one.slice) is cst.Slice:
            for bound in (one.slice.lower, one.slice.upper, one.slice.step):
                if bound is not None:
                    machine.recorder.index(machine.frame, node, machine.evaluate(bound), sure=True)
        elif isinstance(one.slice, cst.Index) and len(node.slice) != 1:
            at = machine.evaluate(one.slice.value)
            machine.recorder.index(machine.frame, node, at)
            if isinstance(owner, Tensor) and isinstance(at, Tensor) and at.mask:
                machine.recorder.operation(machine.frame, node, Act.INDEXES_BY_MASK, at)
    if isinstance(owner, Tensor) and owner.fills and all(map(_holds_no_tensor, node.slice)):
        part = element_at(machine, owner, ...)
        return replace(part, fills=owner.fills) if isinstance(part, Tensor) else part
    if len(node.slice) != 1:
        return some_of(owner) if isinstance(owner, Opaque) and slices_of(node) else element_at(machine, owner, ...)
    slice_ = node.slice[0].slice
    if not isinstance(slice_, cst.Index):
        return join_all(some_of(one) for one in options_of(owner))
    key = machine.evaluate(slice_.value)
    machine.recorder.index(machine.frame, node, key, data_of_loss(machine, node.value, owner))
    if isinstance(owner, Qualified) and owner.name == "sys.modules" and dotted(slice_.value) == "__name__":
        return SourceModule(machine.scope.globals)
    mask = mask_of(owner, key, slice_.value)
    if mask is not None:
        machine.recorder.operation(machine.frame, node, Act.INDEXES_BY_MASK, mask)
        return selected(owner)
    return element_at(machine, owner, key.value if isinstance(key, Constant) else ...)


def _holds_no_tensor(index: cst.SubscriptElement) -> bool:
    at = index.slice.value if isinstance(index.slice, cst.Index) else None
    return at is None or isinstance(at, (cst.Integer, cst.Ellipsis)) or dotted(at) == "None"


def truth(machine: Machine, node: cst.BaseExpression) -> Value:
    """The value of an expression whose truth decides what happens next: that of a tensor has to be read."""
    if type(node) is cst.BooleanOperation:
        return _either(machine, node, truth)
    value = machine.evaluate(node)
    if isinstance(value, Tensor):
        machine.recorder.operation(machine.frame, node, Act.TRUTH, value)
    return value


def _conditional(machine: Machine, node: cst.IfExp) -> Value:
    truth(machine, node.test)
    condition = machine.frame.condition(node, node.test, branches=2)
    with machine.under(condition.of_branch(0)):
        value = machine.evaluate(node.body)
    with machine.under(condition.of_branch(1)):
        return join(value, machine.evaluate(node.orelse))


def _boolean(machine: Machine, node: cst.BooleanOperation) -> Value:
    return _either(machine, node, lambda machine, last: machine.evaluate(last))


def _either(
    machine: Machine, node: cst.BooleanOperation, last: Callable[[Machine, cst.BaseExpression], Value]
) -> Value:
    """What ``and`` or ``or`` gives, where ``last`` evaluates what stands behind it."""
    left = truth(machine, node.left)
    # what stands behind `and` and `or` happens on a condition
    with machine.under(machine.frame.condition(node, node.left)):
        right = last(machine, node.right)
    if isinstance(left, Constant) and left.value is None and isinstance(node.operator, cst.Or):
        return right
    if isinstance(left, Configured) and isinstance(node.operator, cst.Or):
        return UNKNOWN
    return join(left, right)


def _not(machine: Machine, node: cst.UnaryOperation) -> Value:
    denied = isinstance(node.operator, cst.Not)
    value = truth(machine, node.expression) if denied else machine.evaluate(node.expression)
    if type(node.operator) is cst.Minus and isinstance(value, Constant) and isinstance(value.value, (int, float)):
        return Constant(-value.value, Origin(machine.document, node))
    if isinstance(node.operator, cst.Not):
        if isinstance(value, Constant):
            return Constant(not value.value, Origin(machine.document, node))
        return UNKNOWN
    if not isinstance(value, Tensor):
        return UNKNOWN
    return replace(value, mask=True) if isinstance(node.operator, cst.BitInvert) else value


def _binary(machine: Machine, node: cst.BinaryOperation) -> Value:
    # long sums are nested as deeply as they are long: walk down the left side instead of recursing
    spine: list[cst.BinaryOperation] = []
    first: cst.BaseExpression = node
    while type(first) is cst.BinaryOperation:
        spine.append(first)
        first = first.left
    left = machine.evaluate(first)
    for operation in reversed(spine):
        left = _combine(machine, operation, left, machine.evaluate(operation.right))
    return left


def _combine(machine: Machine, node: cst.BinaryOperation, left: Value, right: Value) -> Value:
    _read_pending(machine, node, left, right)
    if isinstance(left, Moment) and isinstance(right, Moment) and isinstance(node.operator, cst.Subtract):
        machine.recorder.operation(machine.frame, node, Act.ELAPSED, right, value=left)
    if isinstance(left, Mapping) and isinstance(node.operator, cst.BitOr):
        return merged_mapping(machine, left, right)
    if isinstance(left, Constant) and isinstance(left.value, str) and isinstance(node.operator, cst.Modulo):
        for one in right.items if isinstance(right, Sequence) else (right,):
            if isinstance(one, Tensor):
                machine.recorder.operation(machine.frame, node, Act.FORMATS, one)
        return formatted(left.value, right.items[0] if isinstance(right, Sequence) and right.items else right)
    if type(node.operator) is cst.Modulo and isinstance(right, Opaque) and right.name in _COUNTS_GPUS:
        return Opaque("int")
    if type(node.operator) is cst.Add and is_text(left):
        return added(left, right)
    if type(node.operator) is cst.Add and isinstance(left, Device):
        return left
    if type(node.operator) is cst.Add and machine.frame.graphs and (graph_of(left) or graph_of(right)):
        machine.recorder.operation(machine.frame, node, Act.ADDS, left, value=right)
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        if left.place != right.place:
            machine.recorder.operation(machine.frame, node, Act.MIXES_PLACES, left, value=right)
        grown = left.grown | right.grown if machine.frame.graphs else frozenset()
        grown = sum_of(grown, node) if isinstance(node.operator, cst.Add) else grown
        fills = fills_of((left, right))
        if left.scalar:
            place, scalar = right.place, right.scalar
            return Tensor(place, proven=right.proven, scalar=scalar, grown=grown, fills=fills, basis=right.basis)
        place = left.place if right.scalar else left.place | right.place
        proven, mask, basis = left.proven and right.proven, left.mask and right.mask, left.basis | right.basis
        return Tensor(place, proven=proven, grown=grown, mask=mask, fills=fills, basis=basis)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Tensor) and one.born is not None and isinstance(other, Opaque):
            machine.recorder.operation(machine.frame, node, Act.MIXES_PLACES, left, value=right)
        known = isinstance(other, (Constant, Configured))
        # what is no number would be with the tensor, and another tensor on a GPU would raise
        stays = known or (isinstance(one, Tensor) and not one.scalar and bool(fills_of((one, other))))
        if isinstance(one, Tensor) and (stays or one.grown or not is_host(one.place)):
            grown = sum_of(one.grown, node) if isinstance(node.operator, cst.Add) else one.grown
            return Tensor(
                SOMEWHERE if is_host(one.place) and not stays else one.place,
                proven=one.proven and known,
                scalar=one.scalar and known,
                grown=grown | graph_of(other) if machine.frame.graphs else frozenset(),
                fills=one.fills if stays else frozenset(),
                basis=one.basis if stays else one.basis | Evidence.of(Ground.FORMULA),
            )
    if _is_number(left) and _is_number(right):
        outside = (*settings_in(left), *settings_in(right))
        return Opaque("operator", outside[:1], origin=Origin(machine.document, node, "formula"))
    if isinstance(left, (Sequence, Iterated)) and isinstance(node.operator, cst.Add):
        return concatenated(machine, left, right)
    return combined(machine, node, left, right)


def _read_pending(machine: Machine, node: cst.BaseExpression, *values: Value) -> None:
    """Records that the host computes with what an asynchronous copy may not have brought yet."""
    for one in values:
        if isinstance(one, Tensor) and one.pending is not None:
            machine.recorder.operation(machine.frame, node, Act.COMPUTES_UNARRIVED, one)


def _is_number(value: Value) -> bool:
    """Whether a value is a number that comes of a literal, a setting, or a formula."""
    if isinstance(value, Opaque):
        return value.name in COMPUTES_NUMBERS
    value = value.default if isinstance(value, Configured) else value
    return isinstance(value, Constant) and type(value.value) in (int, float)


def _comparison(machine: Machine, node: cst.Comparison) -> Value:
    left = machine.evaluate(node.left)
    operands = [left]
    for one in node.comparisons:
        right = machine.evaluate(one.comparator)
        operands.append(right)
        if type(one.operator) not in _ABOUT_IDENTITY:
            _read_pending(machine, node, left, right)
        if type(one.operator) in _READ_NOTHING:
            return UNKNOWN
    compared = [one for one in operands if isinstance(one, Tensor)]
    if not compared:
        return UNKNOWN
    place = reduce(or_, (one.place for one in compared))
    basis = reduce(or_, (one.basis for one in compared))
    return Tensor(place, proven=False, mask=True, fills=fills_of(operands), basis=basis)


def _lambda(machine: Machine, node: cst.Lambda) -> Value:
    machine.scope.captured = True
    function = Function(machine.document, node, machine.scope, parameter_defaults(machine, node.params))
    machine.functions.append(function)
    return function


def _comprehension(machine: Machine, node: cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp) -> Value:
    part: cst.CompFor | None = node.for_in
    assert part is not None
    # Python evaluates the first iterable once, outside of the loop and of its scope
    iterable = iterated(machine, part.iter, machine.evaluate(part.iter))
    inner = machine.frame.of_block(Scope(machine.document, machine.scope, "function"))
    with machine.entered(inner), machine.looping(node) as loop:
        loop.repeats = True
        while part is not None:
            element = element_of(machine, iterable)
            machine.recorder.go_over(machine.frame, loop, element)
            assign(machine, part.target, element)
            for condition in part.ifs:
                truth(machine, condition.test)
            part = part.inner_for_in
            if part is not None:
                iterable = iterated(machine, part.iter, machine.evaluate(part.iter))
        if isinstance(node, cst.DictComp):
            machine.evaluate(node.key)
            mapping = Mapping(machine.document, None)
            machine.store.set(mapping, ANY, machine.evaluate(node.value))
            machine.store.set(mapping, OPEN, Constant(True))
            return mapping
        return Iterated(machine.evaluate(node.elt))


def _named(machine: Machine, node: cst.NamedExpr) -> Value:
    value = machine.evaluate(node.value)
    assign(machine, node.target, value)
    return value


def _await(machine: Machine, node: cst.Await) -> Value:
    return machine.evaluate(node.expression)


def _yield(machine: Machine, node: cst.Yield) -> Value:
    if node.value is None:
        machine.frame.yielded.append(Constant(None))
    elif isinstance(node.value, cst.From):
        machine.frame.yielded.append(element_of(machine, machine.evaluate(node.value.item)))
    else:
        machine.frame.yielded.append(machine.evaluate(node.value))
    return UNKNOWN


EVALUATE: dict[type[cst.CSTNode], Callable[..., Value]] = {
    cst.Name: _name,
    cst.Attribute: _attribute,
    cst.Integer: _integer,
    cst.Float: _float,
    cst.SimpleString: text,
    cst.ConcatenatedString: text,
    cst.FormattedString: formatted_text,
    cst.Tuple: _sequence,
    cst.List: _sequence,
    cst.Set: _sequence,
    cst.Dict: _dict,
    cst.Subscript: _subscript,
    cst.IfExp: _conditional,
    cst.BooleanOperation: _boolean,
    cst.UnaryOperation: _not,
    cst.BinaryOperation: _binary,
    cst.Comparison: _comparison,
    cst.Lambda: _lambda,
    cst.ListComp: _comprehension,
    cst.SetComp: _comprehension,
    cst.GeneratorExp: _comprehension,
    cst.DictComp: _comprehension,
    cst.NamedExpr: _named,
    cst.Await: _await,
    cst.Yield: _yield,
    cst.Call: call,
}
