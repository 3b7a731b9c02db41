"""In which precision autocast leaves what an expression stands for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.queries.autocast.forward_calls import calls_of_forward, forward_of
from accel_advisor.records.queries.evaluations.computed_values import called_on
from accel_advisor.records.queries.gradients.fates import parameter_of
from accel_advisor.records.queries.gradients.flows import flow_around, flow_of
from accel_advisor.syntax.shapes import dotted, names_read_in
from accel_advisor.tables.autocast import IN_FLOAT32, IN_HALF, LAYERS_IN_FLOAT32, LAYERS_IN_HALF
from accel_advisor.tables.tensor_methods import CASTS, KEEPS_VALUES, MASKS, MOVES, SHAPES, TENSOR_METHODS

if TYPE_CHECKING:
    from accel_advisor.records.actions import Asked
    from accel_advisor.records.facts import Facts, Loop, Operation
    from accel_advisor.records.given import Module
    from accel_advisor.records.queries.gradients.data_flow import Binding, DataFlow
    from accel_advisor.records.transfers import ModuleCall

_NUMBERS = frozenset({"argmax", "argmin", "argsort", "nonzero", "bincount", "multinomial", "item", "size", "dim"})
"""What gives no floats, or no tensor."""
_KEEPS = (TENSOR_METHODS | KEEPS_VALUES | SHAPES | MOVES | {"cat", "stack", "concat", "dropout", "max_pool2d"}) - (
    MASKS | CASTS.keys() | _NUMBERS
)
"""What gives the precision of what it is called on or given."""
_PAIRS = frozenset({"max", "min", "topk", "sort", "median", "mode", "kthvalue"})
"""What gives values, and where they stood."""
_ASKS = frozenset({"shape", "dtype", "device", "grad", "indices", "ndim"})
_MOST_STEPS = 200
_MOST_CALLS = 3


class Width(Enum):
    """The precision of a value under autocast."""

    HALF = "half precision"
    FLOAT32 = "float32"
    OTHER = "no float, or nothing that is known"


def calls_of(facts: Facts, *asked: Asked) -> Iterator[tuple[Operation, cst.Call, DataFlow]]:
    """The calls of a program that do one of these, each with the function that it stands in."""
    for one in facts.program.operations_of(*asked):
        flow = flow_of(facts, one.function or one.document.tree)
        if flow is not None and isinstance(one.node, cst.Call) and flow.holds(one.node):
            yield one, one.node, flow


def widths_in(facts: Facts, loop: Loop) -> Widths:
    """What autocast makes of expressions around a loop, whose models it calls itself."""
    called = facts.program.calls_in.get(loop, ())
    return Widths(facts, [call.node for call, context in called if not (call.loss or context.nested)])


class Widths:
    """Finds out what autocast makes of expressions.

    Args:
        models: the calls of models that happen under it: what is not known of these is in half precision.

    Attributes:
        calls: those of them that the last answer rests on.
    """

    def __init__(self, facts: Facts, models: Iterable[cst.Call]) -> None:
        self._facts = facts
        self._models = {id(one) for one in models}
        self._modules: dict[int, ModuleCall] = {
            id(one.node): one for each in facts.program for one in each.module_calls
        }
        self._seen: set[tuple[int, int]] = set()
        self._entered: dict[int, tuple[DataFlow, cst.Call]] = {}
        self.calls: list[cst.Call] = []

    def of(self, flow: DataFlow, node: cst.BaseExpression) -> Width:
        """The precision of an expression of a function."""
        self._seen, self.calls = set(), []
        return self._of(flow, node, 0)

    def _of(self, flow: DataFlow, node: cst.BaseExpression, depth: int) -> Width:
        entered = self._entered.get(id(flow.root))
        key = id(node), id(entered[1]) if entered else 0
        if key in self._seen or len(self._seen) > _MOST_STEPS:
            return Width.OTHER
        self._seen.add(key)
        if isinstance(node, cst.Call):
            return self._of_call(flow, node, depth)
        if flow.is_reading(node):
            return _joined([self._bound(flow, one, depth) for one in flow.reaching(node)])
        if isinstance(node, cst.BinaryOperation):
            if isinstance(node.operator, cst.MatrixMultiply):
                return Width.HALF
            return _promoted([self._of(flow, node.left, depth), self._of(flow, node.right, depth)])
        if isinstance(node, cst.Subscript) and _is_place(node):
            return Width.OTHER
        if isinstance(node, (cst.Subscript, cst.Attribute)):
            asks = isinstance(node, cst.Attribute) and node.attr.value in _ASKS
            return Width.OTHER if asks else self._of(flow, node.value, depth)
        if isinstance(node, cst.UnaryOperation):
            return Width.OTHER if isinstance(node.operator, cst.Not) else self._of(flow, node.expression, depth)
        if isinstance(node, cst.IfExp):
            return _joined([self._of(flow, node.body, depth), self._of(flow, node.orelse, depth)])
        if isinstance(node, (cst.Tuple, cst.List)):
            return _joined([self._of(flow, one.value, depth) for one in node.elements])
        return self._of(flow, node.elt, depth) if isinstance(node, (cst.ListComp, cst.GeneratorExp)) else Width.OTHER

    def _bound(self, flow: DataFlow, binding: Binding, depth: int) -> Width:
        """That of what a binding holds: a parameter, what the call gives for it by which its function was entered, or
        what any caller does."""
        if binding.statement is not None:
            if _is_second(binding):
                return Width.OTHER
            return _joined([self._of(flow, one, depth) for one in binding.values])
        entered = self._entered.get(id(flow.root))
        if entered:
            given = _given_for(flow.root, entered[1], binding.name)
            return self._of(entered[0], given, depth) if given is not None else Width.OTHER
        found = []
        for call, outer in self._callers(flow.root) if depth < _MOST_CALLS else ():
            given = _given_for(flow.root, call, binding.name)
            if given is not None:
                found.append(self._of(outer, given, depth + 1))
        return _joined(found)

    def _callers(self, function: cst.CSTNode) -> Iterator[tuple[cst.Call, DataFlow]]:
        """The calls of a function, or of the modules whose ``forward`` it is, each with what it stands in."""
        for call, caller in self._facts.call_graph.calls_of(function):
            outer = flow_around(self._facts, call, caller)
            if outer is not None:
                yield call, outer
        yield from calls_of_forward(self._facts, function)

    def _of_call(self, flow: DataFlow, call: cst.Call, depth: int) -> Width:
        if id(call) in self._models:
            self.calls.append(call)
        module = self._modules.get(id(call))
        if module is not None:
            return self._of_module(flow, module, depth)
        functions = self._facts.call_graph.called_from(call)
        if functions and depth < _MOST_CALLS:
            return _joined([self._returned(one, depth + 1, (flow, call)) for one in functions])
        name, given = called_on(call)
        name = name.removesuffix("_")
        if name in IN_HALF:
            return Width.HALF
        if given is None or functions:
            return Width.OTHER
        if name in MOVES:
            named = {one.rpartition(".")[2].lower() for arg in call.args for one in names_read_in(arg)}
            if named & {"float", "float32", "float64", "double", "floattensor", "doubletensor"}:
                return Width.FLOAT32
            return Width.OTHER if named & {"long", "int", "bool", "uint8", "int64"} else self._of(flow, given, depth)
        if name in IN_FLOAT32:
            self._of(flow, given, depth)
            return Width.FLOAT32
        if name == "sigmoid" and self._of(flow, given, depth) is not Width.FLOAT32:
            return Width.HALF  # of what is no probability yet: scores
        return self._of(flow, given, depth) if name in _KEEPS or name in _PAIRS else Width.OTHER

    def _of_module(self, flow: DataFlow, call: ModuleCall, depth: int) -> Width:
        """That of what a model, a layer or a loss gives."""
        if call.loss:
            return Width.FLOAT32
        models = [one for context in call.contexts for one in context.models]
        found = [self._made_by(flow, call, one, depth) for one in {id(one.plain): one for one in models}.values()]
        width = _joined(found)
        return Width.HALF if width is Width.OTHER and id(call.node) in self._models else width

    def _made_by(self, flow: DataFlow, call: ModuleCall, module: Module, depth: int) -> Width:
        if module.cls is not None:
            forward, entry = forward_of(module), (flow, call.node)
            return (
                self._returned(forward, depth + 1, entry)
                if forward is not None and depth < _MOST_CALLS
                else Width.OTHER
            )
        if module.kind in LAYERS_IN_HALF:
            return Width.HALF
        if module.kind in LAYERS_IN_FLOAT32:
            return Width.FLOAT32
        if module.kind == "torch.nn.Sequential" or not module.kind.startswith("torch.nn.") or not call.node.args:
            return Width.OTHER
        return self._of(flow, call.node.args[0].value, depth)

    def _returned(self, function: cst.CSTNode, depth: int, entry: tuple[DataFlow, cst.Call]) -> Width:
        """That of what a call of a function gives."""
        flow = flow_of(self._facts, function)
        if flow is None or id(function) in self._entered:
            return Width.OTHER
        self._entered[id(function)] = entry
        returned = [one.value for one in flow.of(cst.Return) if isinstance(one, cst.Return) and one.value is not None]
        width = _joined([self._of(flow, one, depth) for one in returned])
        del self._entered[id(function)]
        return width


def _joined(widths: Collection[Width]) -> Width:
    """Of a value that is one of several, on some way half precision."""
    return next((one for one in (Width.HALF, Width.FLOAT32) if one in widths), Width.OTHER)


def _promoted(widths: Collection[Width]) -> Width:
    """Of what is computed from several: float32 beside half precision gives float32."""
    return next((one for one in (Width.FLOAT32, Width.HALF) if one in widths), Width.OTHER)


def _is_second(binding: Binding) -> bool:
    """Whether a name takes where values stood, and not the values: ``_, best = scores.max(1)``."""
    statement = binding.statement
    target = statement.targets[0].target if isinstance(statement, cst.Assign) else None
    if not isinstance(target, (cst.Tuple, cst.List)) or len(target.elements) < 2:
        return False
    pairs = any(isinstance(one, cst.Call) and called_on(one)[0] in _PAIRS for one in binding.values)
    return pairs and dotted(target.elements[1].value) == binding.name


def _is_place(node: cst.Subscript) -> bool:
    """Whether of values and where they stood the second is taken."""
    index = node.slice[0].slice
    second = isinstance(index, cst.Index) and isinstance(index.value, cst.Integer) and index.value.value == "1"
    return second and isinstance(node.value, cst.Call) and called_on(node.value)[0] in _PAIRS


def _given_for(function: cst.CSTNode, call: cst.Call, name: str) -> cst.BaseExpression | None:
    """What a call gives for a parameter of the function that it calls; None where that is not clear."""
    return next((one.value for one in call.args if parameter_of(function, call, one) == name), None)
