"""Tensors on a GPU that a loop reads one element at a time: each read waits, where one copy would do for all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Act, calls, methods
from accel_advisor.records.queries.steps.host_waits import gpu_of, is_for_eyes, read_on_gpu
from accel_advisor.records.queries.steps.training_steps import training_loop
from accel_advisor.syntax.shapes import dotted, named_parameters, names_read_in
from accel_advisor.syntax.variation import bindings
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.loops import Loop
    from accel_advisor.records.operations import Operation, OperationContext
    from accel_advisor.values.evidence import Evidence

_METHODS = (*methods("Tensor", "item", "cpu", "tolist"), *methods("?", "item"))
_NUMBERS = calls("int", "float", "bool")
_READS = (*_METHODS, *_NUMBERS, Act.TRUTH, Act.FORMATS, Act.INDEXES_BY_NUMBER)
_SAME = frozenset({"detach", "cpu", "float", "long", "int", "clone", "item", "numpy", "data"})
_LISTS = frozenset({"split", "chunk", "unbind", "items", "values", "keys", "get", "pop", "list", "tensor_split"})
"""Methods and functions that give several things, or something of a container."""
_SIZES = frozenset({"size", "shape", "dim", "ndim", "view", "dtype", "device"})
_HOST_ALONE = frozenset({"apply_", "map_", "map2_", "numpy"})
"""Methods that raise for what is not on the host."""
_SHORT = 4
"""Passes of a loop that are too few to count."""
_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)


@dataclass(frozen=True, slots=True)
class ElementsRead:
    """The reads of one tensor's elements in one loop.

    Attributes:
        tensor: the tensor.
        reads: what reads an element, in the order of the text.
        loop: the innermost loop around them.
        nested: whether another loop repeats all of that.
        numbers: whether each is read as a number, so that a list of them would do.
        basis: what shows that they are on a GPU.
    """

    tensor: cst.BaseExpression
    reads: tuple[cst.CSTNode, ...]
    loop: Loop
    nested: bool
    numbers: bool
    basis: Evidence


def elements_read(facts: Facts) -> Iterator[ElementsRead]:
    """The tensors that loops of a document read by element, outside of trainings, in which each wait of a step counts
    as one; not those that the loop computes itself, nor what is shown to people."""
    gpu = gpu_of(facts)
    if gpu is None:
        return
    found: dict[tuple[cst.CSTNode, str], list[tuple[Operation, cst.BaseExpression, OperationContext, Evidence]]] = {}
    for operation in facts.operations_of(*_READS):
        for context in operation.contexts:
            loop = context.inner
            if loop is None or loop.document is not facts.document or not _counts(loop, context):
                continue
            tensor = _Element(operation, loop).tensor()
            if tensor is not None and any(one.asks_for_list(dotted(tensor)) for one in context.conditions):
                continue  # each of its elements is a tensor that has to be copied by itself
            basis = read_on_gpu(facts, operation, context, gpu) if tensor is not None else None
            if tensor is not None and basis is not None:
                key = loop.node, facts.document.code(tensor)
                found.setdefault(key, []).append((operation, tensor, context, basis | context.basis))
                break
    for several in found.values():
        _, tensor, context, basis = several[0]
        reads = dict.fromkeys(operation.node for operation, *_ in several)
        numbers = all(not one.does(*methods("Tensor", "cpu")) for one, *_ in several)
        if context.inner is not None:
            yield ElementsRead(tensor, tuple(reads), context.inner, len(context.loops) > 1, numbers, basis)


def _counts(loop: Loop, context: OperationContext) -> bool:
    """Whether a loop may take many passes outside of a training."""
    if loop.loaders or loop.learns or loop.goes_over_epochs or not loop.repeats:
        return False
    if training_loop(context, epochs=True) is not None or is_for_eyes(context):
        return False
    return not _is_short(loop) and not any(one.for_debugging or one.never for one in context.conditions)


def _is_short(loop: Loop) -> bool:
    over = _iterated(loop)
    if isinstance(over, (cst.List, cst.Tuple)):
        return len(over.elements) <= _SHORT
    last = over.args[-1].value if isinstance(over, cst.Call) and len(over.args) == 1 else None
    return isinstance(last, cst.Integer) and last.evaluated_value <= _SHORT


def _head(loop: Loop) -> cst.For | cst.CompFor | None:
    node = loop.node.for_in if isinstance(loop.node, _COMPREHENSIONS) else loop.node
    return node if isinstance(node, (cst.For, cst.CompFor)) else None


def _iterated(loop: Loop) -> cst.BaseExpression | None:
    head = _head(loop)
    return head.iter if head is not None else None


class _Element:
    """What an operation in a loop reads."""

    def __init__(self, operation: Operation, loop: Loop) -> None:
        self._operation, self._loop = operation, loop
        self._bound = bindings(loop.node)
        head = _head(loop)
        self._counted = names_read_in(head.target) if head is not None else frozenset[str]()

    def tensor(self) -> cst.BaseExpression | None:
        """The tensor whose element is read, by what the loop counts, or as what it goes over; None where it reads
        something else, or computes that tensor in its passes."""
        found = next((one for part in self._read() if (one := self._whole(part)) is not None), None)
        root = found.value if isinstance(found, cst.Subscript) else found
        return None if root is None or self._is_on_host(dotted(root)) else found

    def _read(self) -> Iterator[cst.BaseExpression]:
        node = self._operation.node
        if isinstance(node, cst.Call):
            if self._operation.does(*_METHODS) and isinstance(node.func, cst.Attribute):
                yield node.func.value
            elif self._operation.does(*_NUMBERS) and len(node.args) == 1:
                yield node.args[0].value
        elif isinstance(node, cst.Subscript) and self._operation.does(Act.INDEXES_BY_NUMBER):
            yield from (one.slice.value for one in node.slice if isinstance(one.slice, cst.Index))
        elif isinstance(node, cst.Comparison):
            yield node.left
            yield from (one.comparator for one in node.comparisons)
        elif isinstance(node, cst.BaseExpression):
            yield node

    def _whole(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        while True:
            if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _SAME:
                node = node.func.value
            elif isinstance(node, cst.Attribute) and node.attr.value in _SAME:
                node = node.value
            else:
                break
        if isinstance(node, cst.Name):
            return self._gone_over(node.value)
        return self._indexed(node) if isinstance(node, cst.Subscript) else None

    def _gone_over(self, name: str) -> cst.BaseExpression | None:
        """The tensor that a name is an element of: what the loop goes over, or what it was taken out of."""
        if name not in self._counted:
            given = [one for one in self._bound.get(name, ()) if one is not None]
            return self._indexed(given[0]) if len(given) == 1 and isinstance(given[0], cst.Subscript) else None
        head = _head(self._loop)
        over: cst.BaseExpression | None = head.iter if head is not None else None
        target: cst.BaseExpression | None = head.target if head is not None else None
        if isinstance(over, cst.Call) and dotted(over.func) == "enumerate" and isinstance(target, cst.Tuple):
            over, target = over.args[0].value, target.elements[1].value
        if not isinstance(target, cst.Name) or target.value != name or not isinstance(over, (cst.Name, cst.Attribute)):
            return None
        return over if self._is_tensor(over) else None

    def _indexed(self, node: cst.Subscript) -> cst.BaseExpression | None:
        indices = 0
        many = counted = False
        whole: cst.BaseExpression = node
        while isinstance(whole, cst.Subscript):
            inside = [one.slice.value for one in whole.slice if isinstance(one.slice, cst.Index)]
            by_count = any(not names_read_in(one).isdisjoint(self._counted) for one in inside)
            if counted and not by_count:
                break  # which of several tensors it is
            if len(inside) < len(whole.slice):
                return None
            counted = counted or by_count
            indices += len(inside)
            many = many or len(inside) > 1
            whole = whole.value
        root = whole.value if isinstance(whole, cst.Subscript) else whole
        if (
            not counted
            or not dotted(root)
            or any(one in self._bound for one in (dotted(root), dotted(root).split(".")[0]))
        ):
            return None
        if self._operation.does(*methods("Tensor", "cpu", "tolist")) and indices < 2:
            return None  # a row
        return whole if many or self._is_tensor(whole) else None

    def _is_tensor(self, node: cst.BaseExpression) -> bool:
        """Whether the text of the function says that something is a tensor, and no list of them."""
        scope, name = self._scope, dotted(node)
        given = bindings(scope).get(name, ()) if isinstance(node, cst.Name) else ()
        if given:
            return all(one is not None and _makes_tensor(one, name) for one in given) or self._has_sizes(name)
        return self._has_sizes(name) or self._is_parameter(name)

    @property
    def _scope(self) -> cst.CSTNode:
        function = self._operation.function
        return function.body if isinstance(function, cst.FunctionDef) else self._operation.document.tree

    def _has_sizes(self, name: str) -> bool:
        asked = (one for one in descendants(self._scope, cst.Attribute) if one.attr.value in _SIZES)
        return any(dotted(one.value) == name for one in asked)

    def _is_parameter(self, name: str) -> bool:
        """Whether it is given to the function, and the loop counts something else than the things in it."""
        function, over = self._operation.function, _iterated(self._loop)
        if not isinstance(function, cst.FunctionDef) or not isinstance(over, cst.Call) or dotted(over.func) != "range":
            return False
        named = {one.name.value for one in named_parameters(function.params)}
        return name in named and name not in names_read_in(over)

    def _is_on_host(self, root: str) -> bool:
        """Whether a method is called on something, or on a part of it, that only works on the host."""
        for one in descendants(self._scope, cst.Attribute):
            if one.attr.value in _HOST_ALONE:
                held = one.value
                while isinstance(held, cst.Subscript):
                    held = held.value
                if dotted(held) == root:
                    return True
        return False


def _makes_tensor(node: cst.CSTNode, name: str) -> bool:
    if isinstance(node, cst.Call):
        last = node.func.attr.value if isinstance(node.func, cst.Attribute) else ""
        known = isinstance(node.func, cst.Attribute) and dotted(node.func.value) in ("torch", "F", "th")
        return bool(last) and last not in _LISTS and (known or not dotted(node.func).startswith("self."))
    if isinstance(node, cst.Subscript):
        return dotted(node.value) == name or any(not isinstance(one.slice, cst.Index) for one in node.slice)
    return isinstance(node, (cst.BinaryOperation, cst.Comparison, cst.UnaryOperation))
