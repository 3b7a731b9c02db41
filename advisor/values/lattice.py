"""Values that hold all that is known of them: names, literals, alternatives and what is made of these."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from typing import Literal as OneOf

from accel_advisor.values.evidence import PROVEN, Evidence
from accel_advisor.values.immutable import immutable

if TYPE_CHECKING:
    import libcst as cst

    from accel_advisor.source.document import Document


class Value:
    """Base of everything that an expression can evaluate to."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Unknown(Value):
    """Nothing is known; every rule that depends on it stays silent."""


@dataclass(frozen=True, slots=True)
class Absent(Value):
    """No such argument, entry or attribute: the callee's own default holds."""


UNKNOWN = Unknown()
ABSENT = Absent()


@immutable
class Compound(Value):
    """A value that is made of values."""

    parts: int = field(default=1, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        count = 1
        for one in self.inner():
            count += one.parts if isinstance(one, Compound) else 1
        object.__setattr__(self, "parts", count)

    def inner(self) -> tuple[Value, ...]:
        """The values that it is made of."""
        return ()


OriginKind = OneOf[
    "argument",
    "constant",
    "dict entry",
    "parameter default",
    "argparse default",
    "option default",
    "environment default",
    "class attribute",
    "formula",
]


@immutable(eq=False)
class Origin:
    """The place in the source where a value is decided.

    Attributes:
        document, node: the literal expression, and the document that it stands in.
        kind: what sort of place it is.
        name: what the user calls it: the constant, the dict entry's key, the parameter, the option string, the
            environment variable.
    """

    document: Document
    node: cst.BaseExpression
    kind: OriginKind = "argument"
    name: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Origin) and self.node is other.node and self.kind == other.kind

    def __hash__(self) -> int:
        return id(self.node)


@immutable(eq=False)
class Constant(Value):
    """A Python literal: str, bytes, int, float, bool or None, and where it was written."""

    value: object
    origin: Origin | None = None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Constant)
            and type(self.value) is type(other.value)
            and self.value == other.value
            and self.origin == other.origin
        )

    def __hash__(self) -> int:
        return hash((type(self.value), self.value, self.origin))

    def at(self, kind: OriginKind, name: str) -> Constant:
        """This constant with its origin described as the place it was just put in, if it was put in none before."""
        if self.origin is None or self.origin.kind != "argument":
            return self
        return Constant(self.value, replace(self.origin, kind=kind, name=name))


@immutable(eq=False)
class Choice(Compound):
    """One of several values, in the order in which they were met: which, depends on the run."""

    options: tuple[Value, ...]

    def inner(self) -> tuple[Value, ...]:
        return self.options

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Choice) and frozenset(self.options) == frozenset(other.options)

    def __hash__(self) -> int:
        return hash(frozenset(self.options))


@immutable
class Named(Compound):
    """What a name stands for that only the run tells: most likely one of these functions, classes and modules."""

    options: tuple[Value, ...]

    def inner(self) -> tuple[Value, ...]:
        return self.options


@immutable
class Configured(Compound):
    """Decided at run time by a command line or the environment, with a default in the source.

    Attributes:
        options: the option strings that override the default on the command line.
        variable: the environment variable that overrides it.
    """

    default: Value
    options: tuple[str, ...] = ()
    variable: str = ""

    def inner(self) -> tuple[Value, ...]:
        return (self.default,)


@immutable
class Filed(Value):
    """Decided by a file that the program reads.

    Attributes:
        path: as the program names it; empty where that is not known.
        keys: where in the file it stands, outermost first; empty for all that it holds.
        overrides: whether words on the command line override it, as ``loader.num_workers=4`` (hydra).
    """

    path: str
    keys: tuple[str, ...] = ()
    overrides: bool = False

    def at(self, key: object) -> Filed:
        """What the file holds under one more key."""
        return Filed(self.path, (*self.keys, str(key)), self.overrides)


@immutable
class Qualified(Value):
    """A name of a library, under its full dotted name (``torch.utils.data.DataLoader``)."""

    name: str


@immutable
class Text(Value):
    """A text that is put together while the program runs: the full name of a module of which only a part is known.

    Attributes:
        beginning, end: what is known of it.
    """

    beginning: str
    end: str = ""


@immutable
class Device(Value):
    """A ``torch.device``, or the text that names one.

    Attributes:
        kinds: the kinds of accelerator that it can be on some machine, ``unknown`` among them.
        first: whether it is certainly the first GPU wherever it is one, since no number is given, or 0.
        basis: what shows that it is one of these.
        text: whether it may be a text.
    """

    kinds: frozenset[str]
    first: bool = False
    basis: Evidence = PROVEN
    text: bool = False


@immutable
class Sequence(Compound):
    """A tuple or list of known length."""

    items: tuple[Value, ...]

    def inner(self) -> tuple[Value, ...]:
        return self.items


@immutable
class Iterated(Compound):
    """Something that yields ``element`` again and again: an iterator, ``enumerate``, ``zip``, a generator, a list."""

    element: Value

    def inner(self) -> tuple[Value, ...]:
        return (self.element,)


@immutable
class Opaque(Compound):
    """The result of a call into a library: an instance or a return value, known by the callee's full name.

    Attributes:
        origin: where it is computed, if it is a number (``os.cpu_count() // 2``, under the name ``operator``), or a
            ``functools.partial``.
    """

    name: str
    arguments: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    origin: Origin | None = None

    def inner(self) -> tuple[Value, ...]:
        return (*self.arguments, *(value for _, value in self.keywords))


@immutable
class Pending(Value):
    """A module of the project, or a name in it, that was imported and not looked at yet."""

    filename: str
    name: str | None = None


@immutable
class Method(Compound):
    """A method of a library object, by name: ``x.to``, ``loader.dataset.close``."""

    receiver: Value
    name: str

    def inner(self) -> tuple[Value, ...]:
        return (self.receiver,)
