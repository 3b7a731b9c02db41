"""Scopes: where names are bound and looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accel_advisor.values.lattice import Value

if TYPE_CHECKING:
    from accel_advisor.source.document import Document


class Scope:
    """A module's globals, a class body, or the locals of one call.

    Attributes:
        document: where its code stands.
        parent: the scope that free names are looked up in next; None for a module.
        kind: ``module``, ``class`` or ``function``.
        captured: whether a function or class was defined in it, which may look names up here later.
        global_names: names that a ``global`` statement sends there.
        stars: scopes and library modules whose names a star import brought in.
    """

    def __init__(self, document: Document, parent: Scope | None, kind: str) -> None:
        self.document = document
        self.parent = parent
        self.kind = kind
        self._module: Scope | None = None if parent is None else parent.globals
        if parent is not None:
            parent.captured |= kind == "class"
        self.captured: bool = False
        self.global_names: set[str] = set()
        self.stars: list[Value] = []

    @property
    def globals(self) -> Scope:
        """The scope of the module that it belongs to. One that referred to itself would be gone only once garbage is
        collected, and its document with it."""
        return self._module or self

    def enclosing(self) -> Scope | None:
        """Where a free name is looked up next; class bodies are skipped, as Python does."""
        scope = self.parent
        while scope is not None and scope.kind == "class":
            scope = scope.parent
        return scope
