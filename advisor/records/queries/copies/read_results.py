"""Results of models that are read at once: autograd records them for nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, methods
from accel_advisor.records.queries.evaluation import SETS_RECORDING, Evaluation, records_nothing, wants_graphs
from accel_advisor.records.queries.gradients.fates import Fate, Followed
from accel_advisor.records.queries.gradients.flows import flow_of, outside_of_functions
from accel_advisor.syntax.shapes import methods_of, names_read_in, self_attribute
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.given import Module
    from accel_advisor.records.transfers import ModuleCall, ModuleCallContext

_READS = (*methods("Tensor", "numpy", "tolist", "item"), *methods("?", "item"), AnyCall("item"))
_VALUES = frozenset({Fate.ASKED, Fate.DETACHED})
"""What becomes of a result of which nothing is used but values."""


def read_at_once(facts: Facts, others: Iterable[Evaluation]) -> Iterator[Evaluation]:
    """Calls of models in loops while autograd records, of whose result nothing is used but values, in the same
    expression (``model(x).detach().cpu().numpy()``) or, where nothing learns, under the names that it is bound to; the
    first of each function, where it is none of the ``others``. What a model computes that keeps something of its own
    may be used otherwise."""
    read = {id(one): operation for operation in facts.operations_of(*_READS) for one in _sources(operation.node)}
    known, seen = [one.loop for one in others], set[int]()
    for call in facts.module_calls:
        operation = read.get(id(call.node))
        loops = [one.inner for one in call.contexts if one.inner is not None]
        function = operation.function if operation is not None else loops[0].function if loops else None
        if id(function) in seen or call.loss or call.framework:
            continue
        if any(one is other or one.is_within(other) for one in loops for other in known):
            continue
        nothing = all(map(_records_for_nothing, call.contexts))
        if not (loops and nothing) or (operation is None and not _is_read_later(facts, call, loops)):
            continue
        if not any(wants_graphs(facts, one) for one in loops):
            seen.add(id(function))
            yield Evaluation(loops[0], call.document, call.node, at_once=True)


def _is_read_later(facts: Facts, call: ModuleCall, loops: list[Loop]) -> bool:
    """Whether a call of a model, in loops in which nothing learns, has a result of which only values are used."""
    if not facts.names_gpu_anywhere or facts.does(*SETS_RECORDING) or not all(_takes_turns(call, one) for one in loops):
        return False
    if any(one.nested or one.model is None or one.model.evident for one in call.contexts):
        return False  # a pipeline of a library stops autograd by itself
    evaluating = all(one.evaluating for one in call.contexts)
    if not evaluating and any(_is_put_in_training_mode(facts, one) for one in loops):
        return False
    function = loops[0].function
    flow = flow_of(facts, function) if function is not None else outside_of_functions(call.document)
    if flow is None or not flow.holds(call.node) or isinstance(flow.parent(call.node), cst.Expr):
        return False
    fates = Followed(facts).fates(flow, call.node)
    return bool(fates) and fates <= _VALUES


def _takes_turns(call: ModuleCall, loop: Loop) -> bool:
    """Whether a loop calls a model again and again, the same one, and nothing learns there."""
    if not isinstance(loop.node, (cst.For, cst.While)) or not loop.repeats:
        return False
    if loop.backward or any(one.learns for one in (loop, *loop.outer)):
        return False
    bound = names_read_in(loop.node.target) if isinstance(loop.node, cst.For) else frozenset[str]()
    return bound.isdisjoint(names_read_in(call.node.func))


def _is_put_in_training_mode(facts: Facts, loop: Loop) -> bool:
    """Whether the function of a loop, or one that calls it, puts a model in training mode."""
    switches = (one for one in facts.operations_of(AnyCall("train")) if not one.gives("mode", False, 0))
    above = (context.functions for one in switches for context in one.contexts)
    return any(one == loop.functions[: len(one)] for one in above)


def _sources(read: cst.CSTNode) -> Iterator[cst.Call]:
    """The calls that what is read comes from, and nothing else: each is a part of the next one's name."""
    node = read.func if isinstance(read, cst.Call) else read
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
        if isinstance(node, cst.Call):
            yield node
            node = node.func
        else:
            node = node.value


def _records_for_nothing(context: ModuleCallContext) -> bool:
    model = context.model
    return context.graphs and model is not None and model.has_state and not (records_nothing(model) or _keeps(model))


def _keeps(model: Module) -> bool:
    """Whether the ``forward`` of a model keeps something, from which a backward pass may start."""
    for cls in model.cls.lineage() if model.cls is not None else ():
        forward = methods_of(cls.node).get("forward")
        targets = descendants(forward, cst.AssignTarget) if forward is not None else ()
        if any(self_attribute(one.target) for one in targets):
            return True
    return False
