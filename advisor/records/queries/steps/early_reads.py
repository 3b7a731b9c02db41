"""Where the host reads too early: what an asynchronous copy from the GPU may not have brought yet, and the clock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Act, Method, SetsItem, any_calls, calls, methods
from accel_advisor.values.evidence import PROVEN, Evidence, Ground

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.given import Given
    from accel_advisor.records.operations import Operation

_READS = (
    *any_calls("item", "numpy", "tolist", "mean", "sum", "max", "min", "argmax", "softmax", "float", "double", "half"),
    *any_calls("long", "int", "any", "all", "norm", "clone", "add", "sub", "mul", "div", "format", "bool"),
    *any_calls("print", "save", "asarray", "array", "stack", "cat", "exp", "log", "sqrt", "matmul", "argsort", "topk"),
    *calls("print", "float", "int", "bool", "format"),
    *(Act.COMPUTES_UNARRIVED, Act.FORMATS, Act.TRUTH),
)
_COPY = Method("Tensor", "copy_")
_WAITS = (*methods("Tensor", "item", "tolist", "cpu", "numpy"), *calls("float", "int", "print"), Act.FORMATS)
"""What waits for everything that the GPU was given before, where it reads a tensor that is there."""


def early_reads(facts: Facts) -> Iterator[tuple[cst.Call, Operation]]:
    """The asynchronous copies from the GPU in a document, each with the first operation that reads its result, where
    nothing is seen to wait before."""
    if facts.does(*any_calls("synchronize", "wait", "query", "wait_stream", "wait_event")):
        return
    moves = [one for one in facts.transfers if one.method == "to"]
    copies = {one.node for one in moves if not any(context.from_host for context in one.contexts)}
    staged: dict[cst.Call, cst.Call] = {}
    seen: set[cst.Call] = set()
    for operation in facts.operations_of(*_READS, _COPY):
        if operation.what is _COPY:
            staged |= _staged(facts, operation)
            continue
        for read in _tensors(operation):
            made = read.born.node if read.born is not None else None
            copy = read.arrives_by if read.arrives_by in copies else staged.get(made) if made is not None else None
            if copy is not None and copy not in seen and not _waits_between(facts, copy, operation):
                seen.add(copy)
                yield copy, operation


def _staged(facts: Facts, operation: Operation) -> dict[cst.Call, cst.Call]:
    """The factory call that made a pinned buffer, and the asynchronous copy from the GPU into it, if it is one."""
    if not operation.gives("non_blocking", True, 1):
        return {}
    pinned = {one.node for one in facts.operations if one.makes_tensor and one.gives("pin_memory", True)}
    found: dict[cst.Call, cst.Call] = {}
    for context in operation.contexts:
        born = context.subject.born
        arrives = context.given("src", 0).on_accelerator
        if born is not None and arrives and born.node in pinned and isinstance(operation.node, cst.Call):
            found[born.node] = operation.node
    return found


def _waits_between(facts: Facts, copy: cst.Call, read: Operation) -> bool:
    """Whether something behind the copy reads from the GPU, which ends when the copy has."""
    started = False
    for operation in facts.operations:
        if operation is read:
            return False
        started |= operation.node is copy
        waits = started and operation.does(*_WAITS) and not operation.guarded
        if waits and any(one.on_accelerator and one.arrives_by is None for one in _tensors(operation)):
            return True
    return False


def _tensors(operation: Operation) -> Iterator[Given]:
    """The tensors that an operation reads: its subject, or the arguments of a function."""
    for context in operation.contexts:
        given = context.values if context.subject.absent else ()
        items = [item for one in given for item in one.items or ()]
        yield from (one for one in (context.subject, *given, *items) if one.is_tensor)


@dataclass(frozen=True, slots=True)
class TimedLaunch:
    """A difference of the clock that is over before the GPU has done what it times.

    Attributes:
        basis: what shows that nothing waits for the GPU before the second reading.
        waits: whether something waits for it earlier on, so that only what was launched behind that is left out.
    """

    operation: Operation
    basis: Evidence
    waits: bool


def timed_launches(facts: Facts) -> Iterator[TimedLaunch]:
    """Such differences of a document."""
    if facts.does(SetsItem("os.environ", "CUDA_LAUNCH_BLOCKING")):
        return
    for operation in facts.operations_of(Act.ELAPSED):
        readings = [(context.subject, context.value) for context in operation.contexts]
        waits = any(start.waits_until(end) for start, end in readings)
        if all(start.misses_work_until(end) for start, end in readings):
            yield TimedLaunch(operation, PROVEN, waits)
        elif facts.names_gpu_anywhere and all(start.misses_work_in_each_pass_until(end) for start, end in readings):
            yield TimedLaunch(operation, Evidence.of(Ground.QUEUE), waits)
