"""Numbers that evaluations read from the GPU in each of their passes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from accel_advisor.records.actions import Act, AnyCall, calls, methods
from accel_advisor.records.queries.evaluations.evaluation_loops import evaluation_around
from accel_advisor.records.queries.steps.host_waits import gpu_of, read_on_gpu
from accel_advisor.records.queries.steps.step_values import WRITES, is_on_host, read_by

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.operations import Operation
    from accel_advisor.values.evidence import Evidence

_READS = (
    *methods("Tensor", "item"),
    *methods("?", "item"),
    *(AnyCall("item"), Act.FORMATS, WRITES),
    *calls("float", "int", "print"),
)


@dataclass(frozen=True, slots=True)
class ScalarReads:
    """The numbers that one evaluation reads in each pass, as far as a document does it, in the order of its text.

    Attributes:
        basis: what shows that the first is on a GPU.
    """

    loop: Loop
    operations: tuple[Operation, ...]
    basis: Evidence


def scalar_reads(facts: Facts) -> Iterator[ScalarReads]:
    """The evaluations that read numbers in each pass, other than those of a batch; what is read twice counts once."""
    gpu = gpu_of(facts)
    found: dict[Loop, dict[object, tuple[Operation, Evidence]]] = {}
    for operation in facts.operations_of(*_READS) if gpu is not None else ():
        around = evaluation_around(facts, operation)
        basis = read_on_gpu(facts, operation, around[1], gpu) if around is not None and gpu is not None else None
        if around is None or basis is None or around[1].subject.source is not None:
            continue
        if not basis.proven and is_on_host(facts, around[0], operation):
            continue
        found.setdefault(around[0], {}).setdefault(read_by(around[0], operation), (operation, basis | around[1].basis))
    for loop, reads in found.items():
        told = sorted(reads.values(), key=lambda one: facts.document.span(one[0].node).start.offset)
        yield ScalarReads(loop, tuple(one for one, _ in told), told[0][1])
