"""Copies to the GPU of what each step of a training makes of arrays and lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Call, methods
from accel_advisor.records.queries.destinations import reaches_gpu
from accel_advisor.records.queries.gradients.flows import flow_of
from accel_advisor.records.queries.steps.accumulation import paces
from accel_advisor.records.queries.steps.literal_copies import OF_ARRAYS, OF_DATA, OF_LISTS, is_literal, maker_of
from accel_advisor.records.queries.steps.settled_copies import copies_data, settled_copies
from accel_advisor.records.queries.steps.training_steps import one_step_each, training_loop
from accel_advisor.syntax.shapes import dotted, last_name, root_of
from accel_advisor.tables.torch_functions import DEVICE_KINDS
from accel_advisor.values.evidence import Evidence, Ground

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.loops import Loop
    from accel_advisor.records.operations import Operation, OperationContext
    from accel_advisor.records.transfers import Transfer

_COPIES, _MOVES = Call("torch.tensor"), methods("Tensor", "cuda", "to")
_OF_ITS_OWN = ("numpy.random.", "numpy.zeros", "numpy.ones", "numpy.empty", "numpy.full", "Tensor.numpy")
"""What a step draws, or fills or brings back from the GPU for an algorithm of its own: no data that lie ready."""

_COPIED = frozenset({"astype", "copy"})
"""Methods of arrays that give the same numbers."""


@dataclass(frozen=True, slots=True)
class MadeCopy:
    """A copy to the GPU, in each step of a training, of a tensor that the step makes of an array or a list.

    Attributes:
        node: the whole expression, up to the move.
        making: what makes the tensor, or moves it where it is ``filled``.
        basis: what shows that it happens in each step, and goes to a GPU.
        filled: whether a loop writes the samples into it one by one.
    """

    node: cst.Call
    making: Operation
    basis: Evidence
    filled: bool = False


def made_copies(facts: Facts) -> list[list[MadeCopy]]:
    """Such copies of a document that the host waits for, by function, in the order in which they were met."""
    found = {id(one.node): one for one in facts.operations_of(OF_ARRAYS, *OF_DATA, *OF_LISTS) if _is_made(one)}
    epochs, counted = (facts.program.once(one_step_each), facts.program.once(paces)) if found else (False, {})
    known = {key: _in_each_step(one, epochs, counted) for key, one in found.items()}
    made = {key: one for key, one in found.items() if known[key] is not None}
    settled = {id(one.node) for one in settled_copies(facts)} if made else set()
    functions: dict[int, list[MadeCopy]] = {}
    for transfer in facts.transfers if made else ():
        call = maker_of(facts, transfer, made)
        basis = known[id(call)] if call is not None else None
        if call is None or basis is None or id(transfer.node) in settled or not _waits(transfer):
            continue
        for destination in _bases(facts, transfer):
            copy = MadeCopy(transfer.node, made[id(call)], basis | destination)
            functions.setdefault(id(made[id(call)].function), []).append(copy)
    return [*functions.values(), *_filled_copies(facts), *_copies_where_made(facts)]


def _copies_where_made(facts: Facts) -> Iterator[list[MadeCopy]]:
    """The calls of ``torch.tensor`` that are given parts of arrays and the GPU, by function: of several tensors, since
    one alone may be small."""
    functions: dict[int, list[MadeCopy]] = {}
    calls = [one for one in facts.operations_of(_COPIES) if _is_read(one) and not is_literal(one)]
    epochs, counted = (facts.program.once(one_step_each), facts.program.once(paces)) if calls else (False, {})
    settled = {id(one.node) for one in settled_copies(facts)} if calls else set()
    for one in calls:
        basis = _in_each_step(one, epochs, counted)
        goes = [_goes_to_gpu(facts, context) for context in one.contexts]
        if basis is None or None in goes or id(one.node) in settled or not isinstance(one.node, cst.Call):
            continue
        basis = min((known for known in goes if known is not None), key=lambda known: len(known.grounds)) | basis
        functions.setdefault(id(one.function), []).append(MadeCopy(one.node, one, basis))
    yield from (copies for copies in functions.values() if len(copies) > 1)


def _is_read(operation: Operation) -> bool:
    """Whether what a tensor is made of is a part of something that is no tensor, or a copy of it."""
    node = operation.arguments[0].value if operation.arguments else None
    while isinstance(node, cst.Call) and dotted(node.func).startswith(("np.", "numpy.")) and node.args:
        node = node.args[0].value
    data = [context.given("data", 0) for context in operation.contexts]
    told = any(one.is_tensor or one.items is not None or one.made_by.startswith(_OF_ITS_OWN) for one in data)
    return isinstance(node, cst.Subscript) and not told


def _goes_to_gpu(facts: Facts, context: OperationContext) -> Evidence | None:
    """What shows that a tensor is made on a GPU, and wants no gradient; None where nothing does."""
    device = context.given("device")
    if device.absent or not device.means_device or not context.given("requires_grad").absent:
        return None
    if "cuda" in device.device_kinds and "unknown" not in device.device_kinds:
        return context.basis
    named = facts.names_gpu_anywhere and not device.device_kinds <= DEVICE_KINDS
    return context.basis | Evidence.of(Ground.GPU, Ground.MOVE) if named else None


def _filled_copies(facts: Facts) -> Iterator[list[MadeCopy]]:
    """The copies of batches into which a function writes sample after sample, by function: of several tensors, since
    one alone may be small."""
    functions: dict[int, list[MadeCopy]] = {}
    moves = {id(one.node): one for one in facts.operations_of(*_MOVES)}
    epochs, counted = (facts.program.once(one_step_each), facts.program.once(paces)) if moves else (False, {})
    for transfer in facts.transfers if moves else ():
        move, subject = moves.get(id(transfer.node)), getattr(transfer.node.func, "value", None)
        if move is None or not isinstance(subject, cst.Name) or not isinstance(move.function, cst.FunctionDef):
            continue
        if not _waits(transfer) or not _is_written_in_loop(facts, subject, move.function):
            continue
        if not all(one.loader is None and one.moved.on_host for one in transfer.contexts):
            continue
        basis = _in_each_step(move, epochs, counted)
        for destination in _bases(facts, transfer) if basis is not None else ():
            copy = MadeCopy(transfer.node, move, (basis or destination) | destination, filled=True)
            functions.setdefault(id(move.function), []).append(copy)
    yield from (copies for copies in functions.values() if len(copies) > 1)


def _is_written_in_loop(facts: Facts, name: cst.Name, function: cst.FunctionDef) -> bool:
    """Whether a loop of a function has written parts into what a name stands for where it is read, or into what that
    was made of since: what is written after the copy is written on the GPU."""
    flow = flow_of(facts, function)
    pending, seen = flow.reaching(name)[:] if flow is not None and flow.holds(name) else [], set[int]()
    while flow is not None and pending:
        one = pending.pop()
        if id(one) in seen or one.statement is None:
            continue
        seen.add(id(one))
        targets = one.statement.targets if isinstance(one.statement, cst.Assign) else ()
        parts = (target.target for target in targets if isinstance(target.target, cst.Subscript))
        written = any(dotted(part.value) == one.name for part in parts)
        if written and any(isinstance(above, cst.For) for above in flow.around(one.statement)):
            return True
        pending += [other for value in one.values for other in flow.reaching(root_of(value))]
    return False


def _is_made(operation: Operation) -> bool:
    """Whether it makes a tensor of data that the host has."""
    return copies_data(operation) and not is_literal(operation) and _is_of_data(operation)


def _in_each_step(
    operation: Operation, epochs: bool, counted: Mapping[Loop, frozenset[cst.CSTNode]]
) -> Evidence | None:
    """What shows that each step of a training does it, outside of models; None where nothing does. Where callers of its
    function are seen, they say whether that is a step, and not what is seen of the function by itself."""
    called = [
        one for one in operation.contexts if len(one.functions) != 1 or not all(loop.functions for loop in one.loops)
    ]
    for context in called or operation.contexts:
        loop = training_loop(context, epochs=epochs)
        if loop is None or "forward" in context.functions:
            continue
        if not context.is_skipped_in(loop, counted.get(loop, ())):
            return context.basis
    return None


def _is_of_data(operation: Operation) -> bool:
    """Whether it makes a tensor of an array, of a part of something, or of parts of samples (``[one[0] for one in
    data]``), and not of what is drawn, written out, or worked out for a step alone."""
    given = [context.given("data", 0) for context in operation.contexts]
    if any(one.items is not None or one.made_by.startswith(_OF_ITS_OWN) for one in given):
        return False
    node = operation.node
    made = node.args[0].value if isinstance(node, cst.Call) and len(node.args) == 1 else None
    if isinstance(made, cst.ListComp):
        made = made.elt
    elif operation.does(OF_ARRAYS):
        while isinstance(made, cst.Call) and isinstance(made.func, cst.Attribute) and last_name(made.func) in _COPIED:
            made = made.func.value
        return isinstance(made, (cst.Name, cst.Attribute, cst.Subscript))
    return isinstance(made, cst.Subscript)


def _waits(transfer: Transfer) -> bool:
    return transfer.method in ("to", "cuda") and transfer.waits and not transfer.framework and not transfer.discarded


def _bases(facts: Facts, transfer: Transfer) -> Iterator[Evidence]:
    """What shows that it goes to a GPU: the best of all ways in which it is reached."""
    bases = [reaches_gpu(facts, context) for context in transfer.contexts if context.loader is None]
    yield from sorted((one for one in bases if one is not None), key=lambda one: len(one.grounds))[:1]
