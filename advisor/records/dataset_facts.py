"""What is known of a loader's data set, and of what its workers run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

import libcst as cst

from accel_advisor.records.given import Given
from accel_advisor.values.values import Class, Opaque, Qualified, Unknown, Value, options_of

if TYPE_CHECKING:
    from accel_advisor.source.document import Document

Cost = Literal["costly", "light", "memory", "unknown"]


class VetoKind(StrEnum):
    """What sort of thing argues against workers."""

    STREAM = "stream"
    """It is a stream that each worker would read."""
    HANDLE = "handle"
    """It opens a handle before the workers start, which they would share."""
    GENERATOR = "generator"
    """It keeps a random generator of which each worker would get the same copy."""
    CACHE = "cache"
    """It keeps what it has read, which each worker would do for itself."""
    MEMORY = "memory"
    """Its samples are in memory, so that workers would gain nothing."""
    SINGLE = "single"
    """It has one sample, which one worker would make."""
    WRITTEN = "written"
    """The program writes or reads its attributes from outside, which would not reach the workers."""


class IssueKind(StrEnum):
    """What sort of thing goes wrong in worker processes."""

    DEVICE = "device"
    """They use an accelerator."""
    CONSTANT_SEED = "constant seed"
    """All of them get the same seed."""
    UNPICKLABLE = "unpicklable"
    """Something cannot be pickled, as starting them may need."""
    UNPINNABLE = "unpinnable"
    """The batch is of a class that is not pinned."""
    UNPINNABLE_PART = "unpinnable part"
    """A part of the batch is."""
    CHANGED = "changed"
    """A worker changes what it holds, and does not forget it between epochs."""


@dataclass(frozen=True, slots=True)
class Veto:
    """Something in a data set that argues against workers.

    Attributes:
        kind: what sort of thing.
        words: why, as a clause that can stand in a message.
        attribute: the attribute that it is about; empty where it is about none.
        certain: whether it is seen to go wrong as soon as there are workers: each of them uses the attribute, and
            nothing in the class makes it again; a stream is read whole by each of them.
        document, node: where it is decided, if that is one place.
    """

    kind: VetoKind
    words: str
    attribute: str = ""
    certain: bool = False
    document: Document | None = None
    node: cst.CSTNode | None = None


@dataclass(frozen=True, slots=True)
class Hold:
    """An assignment ``self.name = callee(...)`` in a data set's ``__init__``; no callee: that of a comprehension."""

    cls: Class
    name: str
    node: cst.BaseExpression
    callee: str = ""


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """What is known of a data set.

    Attributes:
        value: the expression's value that this was read from.
        cost: ``costly`` reads or decodes for each sample, ``light`` computes a little, ``memory`` only indexes.
        reason: what a sample costs, in words that can stand in a message; empty where nothing is known.
        vetoes: why workers would break it or gain nothing; empty where no reason is known.
        plain: whether its samples are known to be tensors, numbers and containers of them.
        on_device: whether its samples are on an accelerator already.
        on_host: whether they are certainly not.
        tensors: whether its samples hold anything that can be pinned.
        iterable: whether it is a stream.
        ranked: whether it may know which of several processes it is read in.
        whole: whether it is a stream that is seen to give every process the same samples.
        objects: the lists and dicts of Python objects that it makes its samples from.
        changes: whether the program changes it, or may change it, while it is in use.
        adjusted: whether the program assigns an attribute of it once, as before the first epoch.
        decodes: whether a picture, a recording or a video is decoded for each sample.
    """

    value: Value
    cost: Cost = "unknown"
    reason: str = ""
    vetoes: tuple[Veto, ...] = ()
    plain: bool = False
    on_device: bool = False
    tensors: bool = True
    iterable: bool = False
    changes: bool = False
    adjusted: bool = False
    ranked: bool = True
    whole: bool = False
    objects: tuple[Hold, ...] = ()
    on_host: bool = False
    decodes: bool = False

    @property
    def given(self) -> Given:
        """The data set itself, as far as rules may know it."""
        return Given(self.value)

    @property
    def may_stream(self) -> bool:
        """Whether it is a stream, or made by a library of which the tables do not say that it is none."""
        known = ("torch.", "torchvision.", "numpy.", "range", "list", "tuple")
        return self.iterable or any(
            isinstance(one, (Unknown, Qualified)) or (isinstance(one, Opaque) and not one.name.startswith(known))
            for one in options_of(self.value)
        )

    @property
    def even(self) -> bool:
        """Whether nothing says that its samples differ in size, as pictures with boxes do."""
        names = [one.name for one in options_of(self.value) if isinstance(one, Opaque)]
        return not any(name.endswith(("Detection", "WIDERFace", "Kitti", "CocoCaptions")) for name in names)


@dataclass(frozen=True, slots=True)
class WorkerIssue:
    """Something that goes wrong in worker processes.

    Attributes:
        label: what it happens in, as a message names it: ``Photos.__getitem__``, ``collate_fn``.
        document, node: where.
        certain: whether no condition decides about it.
    """

    kind: IssueKind
    label: str
    document: Document
    node: cst.CSTNode
    certain: bool = True

    @property
    def seed(self) -> cst.BaseExpression:
        """What a :attr:`IssueKind.CONSTANT_SEED` gives to the generator."""
        assert isinstance(self.node, cst.Call)
        return self.node.args[0].value

    @property
    def seeds_torch(self) -> bool:
        """Whether it seeds the generator of torch, which has another seed in each worker anyway."""
        return isinstance(self.node, cst.Call) and self.document.code(self.node.func).endswith("manual_seed")
