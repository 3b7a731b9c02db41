"""Tensors that a module keeps as plain attributes, and that stay on the host when it moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Act
from accel_advisor.records.queries.mixing import Meeting, meetings

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.given import Birth, Class
    from accel_advisor.records.operations import Operation


def tensors_left_behind(facts: Facts) -> Iterator[tuple[Operation, Meeting]]:
    """The assignments in a document that keep such a tensor, each with the first operation that raises for it."""
    kept: dict[Birth, list[Operation]] = {}
    for operation in facts.operations_of(Act.SETS_MODULE_ATTRIBUTE):
        born = operation.contexts[0].value.born
        if born is not None:
            kept.setdefault(born, []).append(operation)
    seen: set[Birth] = set()
    for meeting in meetings(facts):
        born = meeting.born
        assigned = kept.get(born, [])
        if "__init__" not in born.functions or born in seen or len(assigned) != 1 or born.owner is None:
            continue
        moves_itself = born.owner.method_names() & {"to", "cuda", "_apply"}
        if not moves_itself and not _again(facts, born.owner, assigned[0]):
            seen.add(born)
            yield assigned[0], meeting


def _again(facts: Facts, owner: Class, assigned: Operation) -> bool:
    """Whether the attribute is assigned in another place too, which may put it where it belongs."""
    assert isinstance(assigned.node, cst.Attribute)
    return any(
        other is not assigned
        and isinstance(other.node, cst.Attribute)
        and other.node.attr.value == assigned.node.attr.value
        and (module := context.subject.module) is not None
        and module.cls is not None
        and owner in module.cls.lineage()
        for other in facts.program.operations_of(Act.SETS_MODULE_ATTRIBUTE)
        for context in other.contexts
    )
