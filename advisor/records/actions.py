"""What an operation does: the types that rules ask for.

Each thing that a program does with a library is one object of these types, and equal ones are one object: they are
compared by identity, serve as keys and stand in sets. :class:`~.facts.Facts`, :class:`~.facts.Program` and
:class:`~.operations.Operation` take them, and the patterns below, wherever they are asked what a program does::

    facts.does(Call("torch.optim.LBFGS"))
    facts.operations_of(*calls("torch.cat", "torch.stack"), Method("Tensor", "item"), Act.TRUTH)
    operation.does(Within("torch.optim")) and operation.does(AnyCall("step"))
"""

from __future__ import annotations

from typing import Any, ClassVar


class _Interned(type):
    """Makes one object for equal arguments: rules look these up for each operation, so that hashing has to be cheap."""

    _made: ClassVar[dict[tuple[object, ...], Any]] = {}

    def __call__(cls, *arguments: object) -> Any:
        key = (cls, *arguments)
        known = cls._made.get(key)
        if known is None:
            known = cls._made[key] = super().__call__(*arguments)
        return known


class Asked(metaclass=_Interned):
    """What may be asked for: an action, or a pattern that covers many."""

    __slots__ = ()


class Pattern(Asked):
    """What covers many actions."""

    __slots__ = ("name",)

    def __init__(self, name: str, /) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class AnyCall(Pattern):
    """The call of a method of this name, whatever it is called on, or of a function or class of any library that ends
    so, but for those that are built into Python: ``AnyCall("synchronize")`` covers ``torch.cuda.synchronize()`` and
    ``event.synchronize()``."""

    __slots__ = ()


class AnySets(Pattern):
    """The assignment to an attribute of this name, whatever has it."""

    __slots__ = ()


class Within(Pattern):
    """Whatever is called or set in a package, or on what comes out of it: ``Within("torch.optim")`` covers
    ``torch.optim.SGD(...)``, its ``step()`` and all of ``torch.optim.lr_scheduler``. A kind of receiver serves as well:
    ``Within("Module")``."""

    __slots__ = ()


class Action(Asked):
    """What an operation does; its subclasses say which sort of thing.

    Attributes:
        owner: the package of a function or class, the kind of what a method is called on, or what has an attribute;
            empty for an :class:`Act`, and for what is built into Python.
        name: the last part: the name of the function, class, method or attribute; for an Act what it is.
        answers: all that may be asked for to find it: itself, and the patterns that cover it.
    """

    __slots__ = ("answers", "name", "owner")

    def __init__(self, owner: str, name: str, *patterns: Pattern) -> None:
        self.owner = owner
        self.name = name
        self.answers: frozenset[Asked] = frozenset({self, *patterns})

    @property
    def full(self) -> str:
        """The full name: ``torch.cuda.synchronize``, ``Tensor.item``."""
        return f"{self.owner}.{self.name}" if self.owner else self.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.full!r})"


class Call(Action):
    """Calls a function or a class of a library, or one that is built into Python, by its full name:
    ``Call("torch.utils.data.DataLoader")``, ``Call("print")``.

    A class of the project that derives from one of ``threading`` counts as a call of that one; where one is built that
    derives from ``torch.nn.DataParallel``, this counts as a call of it.
    """

    __slots__ = ()

    def __init__(self, full: str, /) -> None:
        owner, _, name = full.rpartition(".")
        super().__init__(owner, name, *([AnyCall(name)] if owner else []), *_around(full))


class Method(Action):
    """Calls a method: ``Method("Tensor", "item")``, ``Method("torch.optim.SGD", "step")``.

    The owner is ``Tensor``, ``Module`` (a ``torch.nn.Module`` of a library or of the project), ``DataLoader`` (any
    loader), ``list`` (one that was bound before the innermost loop), the full name of the library's function or class
    that the object came out of, or ``?`` where nothing is known of it; of those only a few methods with clear names are
    kept (``backward``, ``step``, ``item``...).
    """

    __slots__ = ()

    def __init__(self, owner: str, name: str, /) -> None:
        super().__init__(owner, name, AnyCall(name), *_around(f"{owner}.{name}"))


class Sets(Action):
    """Sets an attribute of something of a library: ``Sets("torch.backends.cudnn", "benchmark")``,
    ``Sets("DataLoader", "num_workers")``. The value is the operation's argument ``value``."""

    __slots__ = ()

    def __init__(self, owner: str, name: str, /) -> None:
        super().__init__(owner, name, AnySets(name), *_around(f"{owner}.{name}"))


class SetsItem(Action):
    """Sets an item of something of a library: ``SetsItem("os.environ", "CUDA_VISIBLE_DEVICES")``. The value is the
    operation's argument ``value``."""

    __slots__ = ("key",)

    def __init__(self, owner: str, key: object, /) -> None:
        super().__init__(owner, f"[{key!r}]", *_around(owner))
        self.key = key


class Reads(Action):
    """Reads a setting of ``torch.backends``: ``Reads("torch.backends.cuda.matmul.allow_tf32")``."""

    __slots__ = ()

    def __init__(self, full: str, /) -> None:
        owner, _, name = full.rpartition(".")
        super().__init__(owner, name)


class Decorates(Action):
    """Decorates a function with one of a library that is not called: ``Decorates("torch.no_grad")`` for
    ``@torch.no_grad``; ``@torch.no_grad()`` is a :class:`Call`. :class:`AnyCall` covers it too."""

    __slots__ = ()

    def __init__(self, full: str, /) -> None:
        owner, _, name = full.rpartition(".")
        super().__init__(owner, name, AnyCall(name))


class Act(Action):
    """What Python's own syntax does with a tensor, a module, a loader or a reading of the clock: one of the constants
    below. What it is done to is the operation's subject, and what is added or set is its argument ``value``."""

    __slots__ = ()

    ADDS: Act
    """``a + b`` where either carries an autograd graph; the left one is the subject."""
    AUGMENTS: Act
    """``a += b``, and the like; what ``a`` was before is the subject."""
    COMPUTES_UNARRIVED: Act
    """The host computes with, or compares, what is still being copied to it."""
    ELAPSED: Act
    """The difference of two readings of the clock; the earlier one is the subject."""
    EXITS_BY_DEVICE: Act
    """The name of a kind of device in a test on which a branch leaves the loop or function, or an assertion fails."""
    FORMATS: Act
    """A tensor becomes a part of a string."""
    GOES_OVER: Act
    """``for x in y:`` begins; what it goes over is the subject, and the loops around it are those of the operation."""
    INDEXES_BY_MASK: Act
    """``tensor[mask]``; the mask is the subject."""
    INDEXES_BY_NUMBER: Act
    """A tensor is an index, or the end of a slice, that Python needs as a number; it is the subject."""
    MIXES_PLACES: Act
    """An operator between tensors in different places; the left one is the subject."""
    READS_FIRST: Act
    """``loss[0]`` of a tensor without dimensions, which read its value until torch 0.4."""
    SAVES_STATE: Act
    """``torch.save`` of what holds a module's ``state_dict()``; the module is the subject."""
    SETS_MODULE_ATTRIBUTE: Act
    """``module.name = value``."""
    SETS_TENSOR_ITEM: Act
    """``tensor[...] = value``."""
    TAKES_FIRST_BATCH: Act
    """``next(iter(loader))``, which begins the loader again."""
    TRUTH: Act
    """The truth of a tensor decides what happens next."""

    def __init__(self, name: str, /) -> None:
        super().__init__("", name)


for _name in Act.__annotations__:
    setattr(Act, _name, Act(_name))


def calls(*names: str) -> frozenset[Call]:
    """The calls of functions and classes with these full names."""
    return frozenset(Call(name) for name in names)


def methods(owner: str, *names: str) -> frozenset[Method]:
    """The calls of these methods of one kind of receiver."""
    return frozenset(Method(owner, name) for name in names)


def any_calls(*names: str) -> frozenset[AnyCall]:
    """The patterns for calls of methods, functions and classes whose names end so."""
    return frozenset(AnyCall(name) for name in names)


def within(*packages: str) -> frozenset[Within]:
    """The patterns for all that is done with these packages."""
    return frozenset(Within(package) for package in packages)


def _around(full: str) -> list[Within]:
    parts = full.split(".")
    return [Within(".".join(parts[:count])) for count in range(1, len(parts))]
