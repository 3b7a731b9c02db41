"""Values with an identity, whose contents the store keeps: dicts, functions, classes and objects of the project."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from accel_advisor.syntax.shapes import methods_of
from accel_advisor.values.immutable import immutable
from accel_advisor.values.lattice import Choice, Compound, Qualified, Unknown, Value
from accel_advisor.values.scope import Scope

if TYPE_CHECKING:
    import libcst as cst

    from accel_advisor.source.document import Document

MOST_BASES = 50
"""Classes of the project that are looked at from one of them upwards."""


class Cell(Value):
    """Something with an identity, whose contents live in the store."""

    __slots__ = ()


@dataclass(frozen=True, eq=False, slots=True)
class Mapping(Cell):
    """A dict. Its entries are stored by key; :data:`OPEN` says that it may have others."""

    document: Document
    node: cst.CSTNode | None
    """The dict display or ``dict(...)`` call that made it, where one place did."""


@dataclass(frozen=True, eq=False, slots=True)
class Function(Cell):
    """A function, method or lambda of the project."""

    document: Document
    node: cst.FunctionDef | cst.Lambda
    scope: Scope
    """Where it was defined: the scope its free names are looked up in."""
    defaults: tuple[tuple[str, Value], ...] = ()
    owner: Class | None = None
    decorators: tuple[Value, ...] = ()
    options: tuple[tuple[str, Value], ...] = ()
    """Parameters that a command line gives, where the program does not."""

    @property
    def name(self) -> str:
        """The function's own name, ``<lambda>`` for a lambda."""
        name = getattr(self.node, "name", None)
        return name.value if name is not None else "<lambda>"


@dataclass(frozen=True, eq=False, slots=True)
class Class(Cell):
    """A class of the project."""

    document: Document
    node: cst.ClassDef
    scope: Scope
    bases: tuple[Value, ...]
    decorators: tuple[Value, ...] = ()
    _above: tuple[Class, ...] = field(default=(), init=False, repr=False)
    _library_bases: frozenset[str] = field(default=frozenset(), init=False, repr=False)

    def __post_init__(self) -> None:
        # asked for at each call of a method
        lineage = self._found_lineage()
        # without itself: what refers to itself is gone only once garbage is collected
        object.__setattr__(self, "_above", lineage[1:])
        object.__setattr__(self, "_library_bases", self._found_library_bases(lineage))

    @property
    def name(self) -> str:
        """The class's own name."""
        return self.node.name.value

    def library_bases(self) -> frozenset[str]:
        """Full names of the library classes that it derives from, near or far, through classes of the project; ``?``
        where it may derive from others."""
        return self._library_bases

    def lineage(self) -> tuple[Class, ...]:
        """The class and its bases in the project, nearest first."""
        return (self, *self._above)

    def _found_library_bases(self, lineage: tuple[Class, ...]) -> frozenset[str]:
        found = {"?"} if len(lineage) == MOST_BASES else set[str]()
        for base in [base for one in lineage for base in one.bases]:
            if isinstance(base, Qualified):
                found.add(base.name)
            elif isinstance(base, (Unknown, Choice)):
                found.add("?")
        return frozenset(found)

    def method_names(self) -> frozenset[str]:
        """The methods that it and its bases in the project define."""
        return frozenset(name for one in self.lineage() for name in methods_of(one.node))

    def _found_lineage(self) -> tuple[Class, ...]:
        found: dict[Class, None] = {}
        todo = [self]
        while todo and len(found) < MOST_BASES:
            one = todo.pop()
            if one not in found:
                found[one] = None
                todo += [base for base in reversed(one.bases) if isinstance(base, Class)]
        return tuple(found)


@dataclass(frozen=True, eq=False, slots=True)
class Instance(Cell):
    """An object of a class of the project that is neither a module nor a loader."""

    cls: Class


@dataclass(frozen=True, eq=False, slots=True)
class Module(Cell):
    """A ``torch.nn.Module``: of a class of the project, or of a library.

    What ``torch.compile`` makes of a module shares all that the store knows of that module.
    """

    document: Document
    node: cst.BaseExpression
    """The call that built it."""
    kind: str
    """Full name of the class: a library's, or ``project:<name>``; empty where only its use shows that it is a model."""
    cls: Class | None = None
    has_state: bool = True
    """Whether it has, or may have, parameters or buffers, which live somewhere."""
    eager: Module | None = None
    """The module that ``torch.compile`` wrapped, where this is what it returned."""
    compiled: cst.Call | None = None
    """That call of ``torch.compile``."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Module) and self.plain is other.plain and self.compiled is other.compiled

    def __hash__(self) -> int:
        return id(self.eager or self)

    @property
    def evident(self) -> bool:
        """Whether only its use shows that it is a model."""
        return not self.kind

    @property
    def plain(self) -> Module:
        """The module itself, compiled or not."""
        return self.eager or self


@dataclass(frozen=True, eq=False, slots=True)
class Parser(Cell):
    """An ``argparse.ArgumentParser``; the store keeps what ``add_argument`` declared."""


@dataclass(frozen=True, eq=False, slots=True)
class Namespace(Cell):
    """What ``parse_args`` returned, or a namespace that nothing else is known of."""

    parser: Parser | None = None


@dataclass(frozen=True, slots=True)
class SourceModule(Value):
    """A module of the project, by the scope of its globals."""

    scope: Scope = field(hash=False)

    def __hash__(self) -> int:
        return id(self.scope)


@immutable
class Bound(Compound):
    """A method with the object that it was taken from."""

    receiver: Value
    function: Function

    def inner(self) -> tuple[Value, ...]:
        return (self.receiver,)
