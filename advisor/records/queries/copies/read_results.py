"""Results of models that are read at once: autograd records them for nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, methods
from accel_advisor.records.queries.evaluation import Evaluation, records_nothing, wants_graphs
from accel_advisor.syntax.shapes import methods_of, self_attribute
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.given import Module
    from accel_advisor.records.transfers import ModuleCallContext

_READS = (*methods("Tensor", "numpy", "tolist", "item"), *methods("?", "item"), AnyCall("item"))


def read_at_once(facts: Facts, others: Iterable[Evaluation]) -> Iterator[Evaluation]:
    """Calls of models in loops while autograd records, of whose result nothing is used but values on the host:
    ``model(x).detach().cpu().numpy()``; the first of each function, where it is none of the ``others``. What a model
    computes that keeps something of its own may be used otherwise."""
    read = {id(one): operation for operation in facts.operations_of(*_READS) for one in _sources(operation.node)}
    known, seen = [one.loop for one in others], set[int]()
    for call in facts.module_calls:
        operation = read.get(id(call.node))
        if operation is None or id(operation.function) in seen or call.loss or call.framework:
            continue
        loops = [one.inner for one in call.contexts if one.inner is not None]
        if any(one is other or one.is_within(other) for one in loops for other in known):
            continue
        nothing = all(map(_records_for_nothing, call.contexts))
        if loops and nothing and not any(wants_graphs(facts, one) for one in loops):
            seen.add(id(operation.function))
            yield Evaluation(loops[0], call.document, call.node, at_once=True)


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
