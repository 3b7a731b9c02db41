"""A document with what is recorded of its functions, found by its nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation
    from accel_advisor.records.transfers import Transfer


@dataclass(eq=False)
class RecordedCode:
    """The code of one document.

    Attributes:
        operations, transfers: those of the document, by the identity of their nodes.
        functions: the functions in which something is recorded, by identity.
        returned: whether functions of it return what depends on sizes alone, and which others they enter for that, by
            their identity and how deep they were followed.
    """

    facts: Facts
    operations: dict[int, Operation] = field(init=False)
    transfers: dict[int, Transfer] = field(init=False)
    functions: frozenset[int] = field(init=False)
    returned: dict[tuple[int, int], tuple[bool, frozenset[int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.operations = {id(one.node): one for one in self.facts.operations}
        self.transfers = {id(one.node): one for one in self.facts.transfers}
        self.functions = frozenset(id(one.function) for one in self.facts.operations)
