"""The records of what moves between devices, and of what modules are given."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.editing.edits import add_keyword
from accel_advisor.records.given import Given
from accel_advisor.records.written_call import WrittenCall
from accel_advisor.syntax.shapes import receiver_of
from accel_advisor.values.evidence import PROVEN, Evidence
from accel_advisor.values.immutable import immutable
from accel_advisor.values.places import HOST, Place, is_cuda_capable, is_host, union_of
from accel_advisor.values.tensors import BatchSource
from accel_advisor.values.values import ABSENT, Value

if TYPE_CHECKING:
    from accel_advisor.finding import Edit
    from accel_advisor.records.given import Module
    from accel_advisor.records.loops import Loop
    from accel_advisor.source.document import Document


@immutable
class TransferContext:
    """A transfer as it happens when reached in one particular way.

    Attributes:
        source: where the object lived before.
        destination: the device kinds that it goes to; empty where the call moves nothing.
        loader: whose batch it is, and path: which element of it.
        proven: whether the receiver is certainly a plain tensor.
        loop: the innermost loop over a loader that it happens in.
        receiver: what is moved.
        target: the value of the device expression.
        casts: whether the call changes the dtype too.
        functions: names of the project's functions around it, outermost first.
        guarded: whether a condition, inside of the innermost loop, decides whether it happens.
        seldom: whether it seldom happens, as a condition in the loop over batches says: in one of many
            passes, or at the first use.
        basis: what shows what is moved, and where to.
    """

    source: Place
    destination: Place
    loader: BatchSource | None
    path: tuple[object, ...]
    proven: bool
    loop: Loop | None
    receiver: Value
    target: Value
    casts: bool
    functions: tuple[str, ...] = ()
    guarded: bool = False
    seldom: bool = False
    basis: Evidence = PROVEN

    @property
    def kinds(self) -> frozenset[str]:
        """All kinds of device that it goes to."""
        return union_of(self.destination)

    @property
    def moved(self) -> Given:
        """What is moved."""
        return Given(self.receiver)

    @property
    def device(self) -> Given:
        """The value of the device expression; absent where there is none."""
        return Given(self.target)

    @property
    def from_host(self) -> bool:
        """Whether what is moved is certainly on the host before."""
        return is_host(self.source)

    @property
    def asked_from_host(self) -> bool:
        """Whether what is moved is on the host in one of the ways in which it was made, and a condition may ask for
        that."""
        return self.guarded and not self.source.isdisjoint(HOST)

    @property
    def from_accelerator(self) -> bool:
        """Whether what is moved is certainly on a CUDA device before, where the machine has one."""
        return bool(self.source) and is_cuda_capable(self.source)

    @property
    def to_cuda(self) -> bool:
        """Whether it goes, on some machine, to a CUDA device."""
        return "cuda" in self.kinds

    @property
    def stays(self) -> bool:
        """Whether it goes to where it is."""
        return self.destination == self.source


@dataclass(eq=False, slots=True)
class Transfer(WrittenCall):
    """A call that moves a tensor or module between devices.

    Attributes:
        method: ``to``, ``cuda``, ``type``..., or ``copy_``, where a batch is copied into a tensor that lives there.
        device: the device expression, where there is one.
        non_blocking: the value of the argument; ABSENT where it is not given.
        alone: the call is a statement by itself, and its result is all that it does.
        framework: the framework whose class the call stands in, if any.
        statement: the statement that the call stands in.
    """

    document: Document
    node: cst.Call
    method: str
    device: cst.BaseExpression | None
    non_blocking: Value
    alone: bool
    framework: str | None
    statement: cst.CSTNode
    contexts: list[TransferContext] = field(default_factory=list)

    @property
    def receiver(self) -> cst.BaseExpression | None:
        """What the method is called on, or the module of a function that moves; None for a bare name."""
        return receiver_of(self.node)

    @property
    def discarded(self) -> bool:
        """Whether nothing is done with the result, not even shown below a notebook's cell."""
        return self.alone and not self.document.displays(self.node)

    @property
    def kinds(self) -> frozenset[str]:
        """All kinds of device that it moves something to."""
        return union_of(context.kinds for context in self.contexts)

    @property
    def asynchronous(self) -> bool:
        """Whether ``non_blocking`` is a literal True."""
        return Given(self.non_blocking).is_literal(True)

    @property
    def assigns_item(self) -> bool:
        """Whether its result is assigned to an item of something."""
        targets = self.statement.targets if isinstance(self.statement, cst.Assign) else ()
        return any(isinstance(one.target, cst.Subscript) for one in targets)

    @property
    def moves_models(self) -> bool:
        """Whether all that it moves, to CUDA among others, are modules."""
        return "cuda" in self.kinds and all(context.moved.module is not None for context in self.contexts)

    @property
    def waits_unless_asked(self) -> bool:
        """Whether it is asynchronous only where a setting, and no option of the command line, asks for it."""
        known = Given(self.non_blocking)
        return known.configured and known.default.is_literal(False) and not known.decided_by

    @property
    def waits(self) -> bool:
        """Whether it certainly is not asynchronous: ``non_blocking`` is not given."""
        return self.non_blocking == ABSENT

    def keyword_edits(self, name: str, expression: str) -> tuple[Edit, ...] | None:
        """The edits that give the call one more keyword; None where it splats arguments."""
        return add_keyword(self.document, self.node, name, expression)


@immutable
class ArgumentPlace:
    """An argument of a module's call, and where it lives.

    Attributes:
        position, keyword: which argument it is; no position where it is given by keyword.
        becomes: what it becomes in the module, for :meth:`~.facts.Facts.must_be_with_weights`.
    """

    node: cst.BaseExpression
    value: Value
    position: int | None = None
    keyword: str | None = None
    becomes: str = ""

    @property
    def given(self) -> Given:
        """What rules may know of its value."""
        return Given(self.value)


@immutable
class ModuleCallContext:
    """A module's call as it happens when reached in one particular way: where it lives, what it is given, whether
    ``eval()`` put it in evaluation mode before, and the context managers and decorators around it."""

    module: Value
    place: Place
    escaped: bool
    wrapper: str | None
    arguments: tuple[ArgumentPlace, ...]
    loop: Loop | None
    evaluating: bool = False
    around: tuple[Value, ...] = ()
    inner: Loop | None = None
    """The innermost loop of any kind."""
    moves_inputs: bool = False
    """Whether a wrapper moves the inputs to where the module is."""
    copied_by: str = ""
    """The wrapper that copies the inputs to where the module is, and waits for each copy; empty where none does."""
    graphs: bool = True
    """Whether autograd certainly records what it computes."""
    nested: bool = False
    """Whether it happens in the ``forward`` of a module."""
    others: tuple[Module, ...] = ()
    """What else may be called, where a condition decides which module it is."""

    @property
    def called(self) -> Given:
        """What is called: a module, or one of several."""
        return Given(self.module)

    @property
    def model(self) -> Module | None:
        """The module that is called; None where it is not known, or a function."""
        return Given(self.module).module

    @property
    def models(self) -> tuple[Module, ...]:
        """All modules that may be called, as far as they are known."""
        return tuple(one.module for one in self.called.alternatives if one.module is not None) + self.others

    @property
    def on_host(self) -> bool:
        """Whether the module is certainly on the host."""
        return is_host(self.place)

    @property
    def on_accelerator(self) -> bool:
        """Whether the module is certainly on a CUDA device, where the machine has one."""
        return bool(self.place) and is_cuda_capable(self.place)

    @property
    def regions(self) -> tuple[Given, ...]:
        """The context managers and decorators around it, outermost first."""
        return tuple(Given(one) for one in self.around)


@dataclass(eq=False, slots=True)
class ModuleCall(WrittenCall):
    """A call of an ``nn.Module``, or of a loss in ``torch.nn.functional``, on tensors."""

    document: Document
    node: cst.Call
    loss: bool
    framework: str | None
    contexts: list[ModuleCallContext] = field(default_factory=list)
