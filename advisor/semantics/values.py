"""What the interpreter knows of a value: a small lattice whose top is :data:`UNKNOWN`.

Values are immutable and hashable. What changes while a program runs (the entries of a dict, the attributes of an
instance, where a module lives) is kept in the :class:`~.store.Store` under the identity of a :class:`Cell`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from typing import Literal as OneOf

from .immutable import immutable
from .places import HOST, SOMEWHERE, Place

if TYPE_CHECKING:
    import libcst as cst

    from ..source.document import Document
    from .facts import LoaderCall, Loop
    from .scope import Scope

MOST_OPTIONS = 6
"""Alternatives that a value keeps apart before it becomes Unknown."""
MOST_PARTS = 500
"""Values within a value beyond which it is Unknown once it is stored: ``x = (x, x)``, a few times over, has many."""
MOST_BASES = 50
"""Classes of the project that are looked at from one of them upwards."""


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


@dataclass(frozen=True, slots=True)
class Compound(Value):
    """A value that is made of values."""

    parts: int = field(default=1, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        count = 1 + sum([one.parts if isinstance(one, Compound) else 1 for one in self.inner()])
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


@dataclass(frozen=True, slots=True)
class Choice(Compound):
    """One of several values, in the order in which they were met: which, depends on the run."""

    options: tuple[Value, ...]

    def inner(self) -> tuple[Value, ...]:
        return self.options

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Choice) and frozenset(self.options) == frozenset(other.options)

    def __hash__(self) -> int:
        return hash(frozenset(self.options))


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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
class Device(Value):
    """A ``torch.device``: the kinds of accelerator that it can be on some machine, ``unknown`` among them."""

    kinds: frozenset[str]


@dataclass(frozen=True, slots=True)
class Sequence(Compound):
    """A tuple or list of known length."""

    items: tuple[Value, ...]

    def inner(self) -> tuple[Value, ...]:
        return self.items


@dataclass(frozen=True, slots=True)
class Iterated(Compound):
    """Something that yields ``element`` again and again: an iterator, ``enumerate``, ``zip``, a generator, a list."""

    element: Value
    loaders: frozenset[LoaderCall] = frozenset()

    def inner(self) -> tuple[Value, ...]:
        return (self.element,)


@dataclass(frozen=True, slots=True)
class Opaque(Compound):
    """The result of a call into a library: an instance or a return value, known by the callee's full name.

    Attributes:
        origin: where it is computed, if it is a number (``os.cpu_count() // 2``, under the name ``operator``).
    """

    name: str
    arguments: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    origin: Origin | None = None

    def inner(self) -> tuple[Value, ...]:
        return (*self.arguments, *(value for _, value in self.keywords))


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

    @property
    def name(self) -> str:
        """The class's own name."""
        return self.node.name.value

    def library_bases(self) -> frozenset[str]:
        """Full names of the library classes that it derives from, near or far, through classes of the project; ``?``
        where it may derive from others."""
        lineage = self.lineage()
        found = {"?"} if len(lineage) == MOST_BASES else set[str]()
        for base in [base for one in lineage for base in one.bases]:
            if isinstance(base, Qualified):
                found.add(base.name)
            elif isinstance(base, (Unknown, Choice)):
                found.add("?")
        return frozenset(found)

    def lineage(self) -> list[Class]:
        """The class and its bases in the project, nearest first."""
        found: dict[Class, None] = {}
        todo = [self]
        while todo and len(found) < MOST_BASES:
            one = todo.pop()
            if one not in found:
                found[one] = None
                todo += [base for base in reversed(one.bases) if isinstance(base, Class)]
        return list(found)


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
    """Full name of the class: a library's, or ``project:<name>``."""
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
        return id(self.plain)

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
class Pending(Value):
    """A module of the project, or a name in it, that was imported and not looked at yet."""

    filename: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Bound(Compound):
    """A method with the object that it was taken from."""

    receiver: Value
    function: Function

    def inner(self) -> tuple[Value, ...]:
        return (self.receiver,)


@dataclass(frozen=True, slots=True)
class Method(Compound):
    """A method of a library object, by name: ``x.to``, ``loader.dataset.close``."""

    receiver: Value
    name: str

    def inner(self) -> tuple[Value, ...]:
        return (self.receiver,)


@immutable
class Loader(Value):
    """A DataLoader or one of its kin.

    ``delivers`` is where its batches live; None stands for the host, where every loader of torch puts them.
    """

    call: LoaderCall
    delivers: Place | None = None


@dataclass(frozen=True, slots=True)
class Birth:
    """The factory call that a tensor came out of.

    Attributes:
        document, node: the call, and where it stands.
        statement: the statement that it stands in.
        functions: names of the project's functions around it, outermost first.
        owner: the class whose method it stands in, if any.
        loops: the loops around it, outermost first.
        dtype: full name of the dtype that it was given, if one is known.
        length: how long its first dimension is, where the call says so.
    """

    document: Document
    node: cst.Call
    statement: cst.CSTNode
    functions: tuple[str, ...]
    owner: Class | None
    loops: tuple[Loop, ...]
    dtype: str | None = None
    length: int | None = None


@immutable
class Tensor(Value):
    """A tensor, or (``path`` empty, ``proven`` false) a batch that may be a container of tensors.

    Attributes:
        place: where it lives.
        loader: the loader whose batch it came from, if any.
        path: which element of the batch: positions and keys, outermost first; ``...`` for "some element".
        proven: whether it is certainly a plain tensor (rules.md 0.4).
        scalar: whether it certainly has no dimensions.
        born: the factory call that it is the result of, or a view or a cast of.
        grown: the calls of modules and losses, and the sums, in whose autograd graph it is the last; empty where it
            carries no graph, or none that is known.
        pending: the asynchronous copy to the host that it is the result of, and that may not be done yet.
        mask: whether it certainly holds truth values, so that indexing with it has to count them first.
    """

    place: Place = SOMEWHERE
    loader: LoaderCall | None = None
    path: tuple[object, ...] = ()
    proven: bool = True
    scalar: bool = False
    born: Birth | None = None
    grown: frozenset[cst.CSTNode] = frozenset()
    pending: cst.Call | None = None
    mask: bool = False


def join(left: Value, right: Value) -> Value:
    """What is known of a value that is either of two."""
    if left is right or left == right:
        return left
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return UNKNOWN
    merged = _merge(left, right)
    if merged is not None:
        return merged
    kept: list[Value] = []
    for option in (*options_of(left), *options_of(right)):
        for index, one in enumerate(kept):
            both = one if one == option else _merge(one, option)
            if both is not None:
                kept[index] = both
                break
        else:
            kept.append(option)
    if len(kept) == 1:
        return kept[0]
    return Choice(tuple(kept)) if len(kept) <= MOST_OPTIONS else UNKNOWN


def _merge(left: Value, right: Value) -> Value | None:
    """The one value that covers both exactly enough, or None where they must be kept apart."""
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        if left.loader is right.loader:
            return Tensor(
                left.place | right.place,
                left.loader,
                left.path if left.path == right.path else (...,),
                left.proven and right.proven,
                left.scalar and right.scalar,
                left.born if left.born == right.born else None,
                left.grown | right.grown,
                left.pending if left.pending is right.pending else None,
                left.mask and right.mask,
            )
        return None
    if isinstance(left, Device) and isinstance(right, Device):
        return Device(left.kinds | right.kinds)
    if isinstance(left, Sequence) and isinstance(right, Sequence) and len(left.items) == len(right.items):
        return Sequence(tuple(join(one, two) for one, two in zip(left.items, right.items, strict=True)))
    if isinstance(left, Iterated) and isinstance(right, Iterated):
        return Iterated(join(left.element, right.element), left.loaders | right.loaders)
    if isinstance(left, Module) and isinstance(right, Module) and left.plain is right.plain:
        return left if left.eager is not None else right
    if isinstance(left, Loader) and isinstance(right, Loader) and left.call is right.call:
        return Loader(left.call, (left.delivers or HOST) | (right.delivers or HOST))
    return None


def join_all(values: Iterable[Value]) -> Value:
    """The join of any number of values; Unknown for none."""
    result: Value | None = None
    for value in values:
        result = value if result is None else join(result, value)
        if isinstance(result, Unknown):
            return UNKNOWN
    return UNKNOWN if result is None else result


def options_of(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value: itself, unless it is a Choice."""
    return value.options if isinstance(value, Choice) else (value,)


def constant_of(value: Value) -> Constant | None:
    """The one constant that a value is for certain, or None."""
    return value if isinstance(value, Constant) else None
