"""Loaders, their batches and other tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from accel_advisor.values.evidence import PROVEN, Evidence
from accel_advisor.values.immutable import immutable
from accel_advisor.values.lattice import Value
from accel_advisor.values.places import SOMEWHERE, Place

if TYPE_CHECKING:
    import libcst as cst

    from accel_advisor.source.document import Document
    from accel_advisor.values.objects import Class


class BatchSource:
    """What batches come from, by its identity. What is known of it stands in a record above the values: its subclass
    :class:`~accel_advisor.records.loaders.LoaderCall`."""

    __slots__ = ()


@immutable
class Loader(Value):
    """A DataLoader, or a loader of another library.

    ``delivers`` is where its batches live; None stands for the host, where every loader of torch puts them. ``basis``
    is what shows that the value is this loader.
    """

    call: BatchSource
    delivers: Place | None = None
    basis: Evidence = PROVEN


@dataclass(frozen=True, slots=True)
class Birth:
    """The factory call that a tensor came out of.

    Attributes:
        document, node: the call, and where it stands.
        functions: names of the project's functions around it, outermost first.
        owner: the class whose method it stands in, if any.
        loops: the records of the loops around it, by their identity, outermost first.
        dtype: full name of the dtype that it was given, if one is known.
        length: how long its first dimension is, where the call says so.
    """

    document: Document
    node: cst.Call
    functions: tuple[str, ...]
    owner: Class | None
    loops: tuple[object, ...]
    dtype: str | None = None
    length: int | None = None


@immutable
class Tensor(Value):
    """A tensor, or (``path`` empty, ``proven`` false) a batch that may be a container of tensors.

    Attributes:
        place: where it lives.
        loader: the loader whose batch it came from, if any.
        path: which element of the batch: positions and keys, outermost first; ``...`` for "some element".
        proven: whether it is certainly a plain tensor.
        scalar: whether it certainly has no dimensions.
        born: the factory call that it is the result of, or a view or a cast of.
        grown: the calls of modules and losses, and the sums, in whose autograd graph it is the last; empty where it
            carries no graph, or none that is known.
        pending: the asynchronous copy to the host that it is the result of, and that may not be done yet.
        mask: whether it certainly holds truth values, so that indexing with it has to count them first.
        recast: whether a cast on the host made it of a batch, in memory that no loader pinned unless the dtype was
            the same before.
        fills: the calls of factories that alone made what it holds, with arithmetic that any device can do; empty
            where data went into it, or may have.
        basis: what shows that it is a tensor in this place.
    """

    place: Place = SOMEWHERE
    loader: BatchSource | None = None
    path: tuple[object, ...] = ()
    proven: bool = True
    scalar: bool = False
    born: Birth | None = None
    grown: frozenset[cst.CSTNode] = frozenset()
    pending: cst.Call | None = None
    mask: bool = False
    recast: bool = False
    fills: frozenset[cst.Call] = frozenset()
    basis: Evidence = PROVEN
