"""The calls that are being interpreted, and the modules that they stand in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from accel_advisor.values.store import Layer, Scope
from accel_advisor.values.values import Function, Value

if TYPE_CHECKING:
    from accel_advisor.source.document import Document


class Modules(Protocol):
    """What the interpreter asks of the project: the module behind an import."""

    def resolve(self, name: str, level: int, importer: Document) -> str | None:
        """The file that ``name`` names, seen from ``importer``; None where it is not part of the project."""

    def load(self, filename: str) -> Document | None:
        """The document of a file; None where it cannot be read or parsed."""


@dataclass(slots=True)
class Frame:
    """One call that is being interpreted."""

    function: Function | None
    scope: Scope
    level: int
    """How many layers the store had when it began."""
    returned: list[Value] = field(default_factory=list)
    yielded: list[Value] = field(default_factory=list)
    exits: list[Layer] = field(default_factory=list)
    loop_exits: list[tuple[int, list[Layer]]] = field(default_factory=list)
    managers: list[Value] = field(default_factory=list)
