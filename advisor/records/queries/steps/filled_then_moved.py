"""Tensors that are filled on the host and moved before anything else happens to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Call, Method, calls
from accel_advisor.records.queries.training_loops import runs_often
from accel_advisor.syntax.shapes import dotted
from accel_advisor.syntax.variation import bindings
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation, OperationContext
    from accel_advisor.records.transfers import Transfer

_EXACT = calls("torch.zeros", "torch.ones", "torch.full", "torch.empty", "torch.eye")
_RANDOM = calls("torch.rand", "torch.randn", "torch.randint", "torch.randperm")
_STEPPED = calls("torch.arange", "torch.linspace", "torch.logspace")
_UNWANTED = ("device", "out", "generator", "pin_memory", "requires_grad")
_SHAPES = frozenset({"view", "reshape", "unsqueeze", "squeeze", "expand", "repeat", "permute", "transpose", "t"})
_FILLS = frozenset({"fill_", "zero_"})
_TYPE_AS = Method("Tensor", "type_as")


@dataclass(frozen=True, slots=True)
class FilledThenMoved:
    """A move of a tensor that the factory before it could have filled where it goes.

    Attributes:
        node: the move.
        call: the call of the factory.
        device: the code of the device, for a fix; empty where it is not known, or is not all that changes.
        keywords: what to pass to the factory.
        often: whether it happens at every step.
        same: whether the device would fill it with the same numbers.
    """

    node: cst.Call
    call: cst.Call
    device: str
    keywords: str
    often: bool
    same: bool


def filled_then_moved(facts: Facts) -> Iterator[FilledThenMoved]:
    """All such moves of a document, in the order in which they were met: first those to a device, then those to where
    another tensor is."""
    made = {one.node: one for one in facts.operations_of(*_EXACT, *_RANDOM, *_STEPPED)}
    if not made:
        return
    for transfer in facts.transfers:
        factory = _factory(facts, made, transfer.node, transfer.statement) if _moves(transfer) else None
        if factory is not None and isinstance(factory.node, cst.Call):
            func = transfer.node.func
            at_once = isinstance(func, cst.Attribute) and func.value is factory.node
            known = at_once or not any(one.guarded for one in transfer.contexts)
            device = _device(transfer) if known else ""
            keywords = f"device={device or '...'}"
            yield _found(facts, transfer.node, factory, factory.node, device if at_once else "", keywords)
    for operation in facts.operations_of(_TYPE_AS):
        node = operation.node
        if isinstance(node, cst.Call) and all(map(_follows_gpu, operation.contexts)):
            factory = _factory(facts, made, node, operation.statement)
            if factory is not None and isinstance(factory.node, cst.Call):
                other = facts.document.code(node.args[0].value)
                keywords = f"device={other}.device, dtype={other}.dtype"
                yield _found(facts, node, factory, factory.node, "", keywords)


def _found(
    facts: Facts, node: cst.Call, factory: Operation, call: cst.Call, device: str, keywords: str
) -> FilledThenMoved:
    often = any(runs_often(facts, one) for one in factory.contexts)
    return FilledThenMoved(node, call, device, keywords, often, _fills_the_same(factory))


def _device(transfer: Transfer) -> str:
    if transfer.device is not None:
        return transfer.document.code(transfer.device)
    return "" if transfer.node.args else '"cuda"'


def _factory(
    facts: Facts, made: dict[cst.CSTNode, Operation], move: cst.Call, statement: cst.CSTNode
) -> Operation | None:
    """The factory whose result is moved as it was made: at once, or by the name that only the two have to do with."""
    moved = move.func.value if isinstance(move.func, cst.Attribute) else None
    if not isinstance(moved, cst.Name):
        found = made.get(_filled(moved, facts)) if moved is not None else None
        return found if found is not None and _is_plain(found) else None
    for factory in made.values():
        around = factory.function
        if around is None or not isinstance(factory.statement, cst.Assign) or not _is_plain(factory):
            continue
        bound = bindings(around.body).get(moved.value, []) if isinstance(around, cst.FunctionDef) else []
        if not bound or bound[0] is None or _filled(bound[0], facts) is not factory.node:
            continue
        if len(bound) == 1 or (isinstance(statement, cst.Assign) and bound[1] is statement.value):
            return factory if _is_untouched(facts, around, moved, factory.node, statement) else None
    return None


def _filled(node: cst.BaseExpression, facts: Facts) -> cst.CSTNode:
    """What makes a tensor that is given another form, filled with a number, or wrapped in a ``Variable``."""
    while isinstance(node, cst.Call):
        func = node.func
        if dotted(func).rpartition(".")[2] == "Variable" and len(node.args) == 1:
            node = node.args[0].value
        elif isinstance(func, cst.Attribute) and func.attr.value in _SHAPES | _FILLS:
            node = func.value
        else:
            break
    return node


def _is_untouched(
    facts: Facts, around: cst.CSTNode, moved: cst.Name, made: cst.CSTNode, statement: cst.CSTNode
) -> bool:
    """Whether nothing mentions a name between the statement that made it and the one that moves it."""
    span = facts.document.span
    begin, end = span(made).end.offset, span(statement).start.offset
    named = [span(one).start.offset for one in descendants(around, cst.Name) if one.value == moved.value]
    loops = [one for one in descendants(around, cst.For, cst.While) if span(one).start.offset > begin]
    inside = any(span(one).start.offset < end < span(one).end.offset for one in loops)
    return begin < end and not inside and not any(begin < one < end for one in named)


def _moves(transfer: Transfer) -> bool:
    if transfer.method not in ("to", "cuda") or not transfer.contexts or transfer.discarded:
        return False  # what is thrown away was made to start CUDA, or to measure it
    return all(
        context.from_host and not context.casts and context.kinds != {"cpu"} and context.device.means_device
        for context in transfer.contexts
    )


def _follows_gpu(context: OperationContext) -> bool:
    """Whether a tensor on the host is moved to where another one is, which may be on a GPU."""
    other = context.given("other", 0)
    return context.subject.on_host and other.may_be_on_gpu and not other.on_host


def _is_plain(factory: Operation) -> bool:
    return all(context.given(name).absent for context in factory.contexts for name in _UNWANTED)


def _fills_the_same(factory: Operation) -> bool:
    return factory.what in _EXACT or (factory.what is Call("torch.arange") and all(map(_counts, factory.contexts)))


def _counts(context: OperationContext) -> bool:
    return all(type(one.literal) is int for one in context.values)
