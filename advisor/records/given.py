"""What rules may know of a value: of an argument, of what a method is called on, of what is moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accel_advisor.records.clock import Moment
from accel_advisor.values.devices import device_kinds, is_first
from accel_advisor.values.evidence import PROVEN, Evidence
from accel_advisor.values.places import HOST, SOMEWHERE, WITH_MODEL, Place, is_cuda_capable, is_host, union_of
from accel_advisor.values.tensors import BatchSource
from accel_advisor.values.values import (
    Absent,
    Birth,
    Class,
    Configured,
    Constant,
    Device,
    Filed,
    Instance,
    Iterated,
    Loader,
    Mapping,
    Method,
    Module,
    Opaque,
    Qualified,
    Sequence,
    Tensor,
    Unknown,
    Value,
    options_of,
)

if TYPE_CHECKING:
    import libcst as cst

    from accel_advisor.source.document import Document

__all__ = ["Birth", "Class", "Given", "Module"]


class Given:
    """One value, as far as it is known. Every question is answered with no where the value is not known, but for
    :attr:`unknown`; and where it is one of several, which depends on the run, for all but :attr:`alternatives`,
    :attr:`device_kinds` and :attr:`graph`."""

    __slots__ = ("_value",)

    def __init__(self, value: Value) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Given) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return f"Given({type(self._value).__name__})"

    # -- whether and how it is known

    @property
    def absent(self) -> bool:
        """Whether no such argument is given, and the callee's own default holds."""
        return isinstance(self._value, Absent)

    @property
    def unknown(self) -> bool:
        """Whether nothing is known of it."""
        return isinstance(self._value, Unknown)

    @property
    def alternatives(self) -> tuple[Given, ...]:
        """What it may be; itself alone, where that is certain. One of them may be absent."""
        return tuple(Given(one) for one in options_of(self._value))

    @property
    def configured(self) -> bool:
        """Whether a command line or the environment may decide it."""
        return isinstance(self._value, Configured)

    @property
    def decided_by(self) -> str:
        """The option of the command line that decides it (``--workers``), or else the environment's variable; empty
        where neither does."""
        known = self._value
        return (known.options[-1] if known.options else known.variable) if isinstance(known, Configured) else ""

    @property
    def filed(self) -> bool:
        """Whether a file of settings decides it that the program reads, of whose contents nothing is known."""
        return isinstance(self._value, Filed)

    @property
    def default(self) -> Given:
        """What it is where the command line and the environment say nothing."""
        return Given(self._value.default) if isinstance(self._value, Configured) else self

    # -- literals and names

    @property
    def written(self) -> bool:
        """Whether it is a literal: a string, a number, True, False or None."""
        return isinstance(self._value, Constant)

    def is_written_in(self, document: Document) -> bool:
        """Whether it is a literal that stands in this file; one of another file may be a default of its settings."""
        known = self._value
        return isinstance(known, Constant) and known.origin is not None and known.origin.document is document

    @property
    def literal(self) -> object:
        """The literal's value; None where it is none, too (:attr:`written` says whether it is)."""
        return self._value.value if isinstance(self._value, Constant) else None

    def is_literal(self, *values: object) -> bool:
        """Whether it is one of these literals, of the same type: 1 is neither True nor 1.0."""
        known = self._value
        return isinstance(known, Constant) and any(
            type(known.value) is type(one) and known.value == one for one in values
        )

    @property
    def named(self) -> str:
        """The full name of the library's object that it is (``torch.float16``, ``torch.nn.Linear``); or empty."""
        return self._value.name if isinstance(self._value, Qualified) else ""

    # -- what made it

    @property
    def made_by(self) -> str:
        """The full name of the library's function or class whose result it is (``torch.load``, ``torch.optim.SGD``,
        ``Tensor.numpy``), where it is no tensor, module or loader; or empty."""
        return self._value.name if isinstance(self._value, Opaque) else ""

    def argument(self, name: str, position: int | None = None) -> Given:
        """An argument of the call whose result it is; absent where none is seen there."""
        made = self._value
        if isinstance(made, Opaque):
            for key, value in made.keywords:
                if key == name:
                    return Given(value)
            if position is not None and position < len(made.arguments):
                return Given(made.arguments[position])
        return Given(Absent())

    @property
    def positional(self) -> tuple[Given, ...]:
        """The positional arguments of the call whose result it is."""
        return tuple(map(Given, self._value.arguments)) if isinstance(self._value, Opaque) else ()

    @property
    def parameters_of(self) -> Module | None:
        """The module whose ``parameters()`` it is."""
        made = self._value
        known = isinstance(made, Opaque) and made.name == "module.parameters"
        return Given(made.arguments[0]).module if known and isinstance(made, Opaque) else None

    @property
    def is_object(self) -> bool:
        """Whether it is an object of a class of the project that is neither a module nor a loader."""
        return isinstance(self._value, Instance)

    @property
    def attribute(self) -> str:
        """The name of the attribute that it was taken from, of something whose attributes are not known
        (``device`` of ``accelerator.device``); or empty."""
        return self._value.name if isinstance(self._value, Method) else ""

    @property
    def owner(self) -> Given:
        """What :attr:`attribute` was taken from; absent where it is no attribute."""
        return Given(self._value.receiver if isinstance(self._value, Method) else Absent())

    # -- what it holds

    @property
    def items(self) -> tuple[Given, ...] | None:
        """The items of a tuple or list of known length; None where it is none."""
        return tuple(Given(one) for one in self._value.items) if isinstance(self._value, Sequence) else None

    @property
    def holds_dicts(self) -> bool:
        """Whether it is a tuple or list of one or more dicts, and of nothing else."""
        held = self._value.items if isinstance(self._value, Sequence) else ()
        return bool(held) and all(isinstance(one, Mapping) for one in held)

    @property
    def element(self) -> Given:
        """What it yields again and again, where it is a list or an iterator of unknown length; absent otherwise."""
        return Given(self._value.element if isinstance(self._value, Iterated) else Absent())

    # -- modules, loaders and devices

    @property
    def module(self) -> Module | None:
        """The ``torch.nn.Module`` that it is."""
        return self._value if isinstance(self._value, Module) else None

    @property
    def moves_batches(self) -> bool:
        """Whether it is a loader in a wrapper that moves its batches."""
        return isinstance(self._value, Loader) and self._value.delivers is not None

    @property
    def is_device(self) -> bool:
        """Whether it is a ``torch.device``."""
        return isinstance(self._value, Device) and not self._value.text

    @property
    def means_device(self) -> bool:
        """Whether, as the target of a move, it is certainly a device, and no dtype or tensor; where a command line
        decides, its default is."""
        one = self.default
        options = options_of(one._value)
        if any(isinstance(each, Device) for each in options):
            named = [each.name for each in options if isinstance(each, Qualified)]
            casts = any(isinstance(each, Tensor) for each in options)
            return not casts and not any(name.startswith("torch.") for name in named)
        return one.attribute == "device" or isinstance(one.literal, (str, int))

    @property
    def device_kinds(self) -> frozenset[str]:
        """The kinds of device that it can stand for, as a ``torch.device``, a string or a number (``cpu``, ``cuda``,
        ``mps``...), with ``unknown`` among them where it may be anything."""
        return device_kinds(self._value)

    @property
    def is_first_device(self) -> bool:
        """Whether, as a device, it is written out as the first GPU, or else as the host."""
        return is_first(self._value)

    # -- readings of the clock

    def misses_work_until(self, end: Given) -> bool:
        """Whether both are readings of the clock, and the time from this one to the other certainly leaves out work
        that the GPU was given in between."""
        return isinstance(self._value, Moment) and isinstance(end._value, Moment) and self._value.misses(end._value)

    def misses_work_in_each_pass_until(self, end: Given) -> bool:
        """Whether both are readings of the clock in one pass of a loop, and the time between them evidently leaves out
        work that the GPU was given there."""
        start, stop = self._value, end._value
        return isinstance(start, Moment) and isinstance(stop, Moment) and start.misses_in_each_pass(stop)

    def waits_until(self, end: Given) -> bool:
        """Whether both are readings of the clock, and something waits for the GPU in between."""
        start, stop = self._value, end._value
        return isinstance(start, Moment) and isinstance(stop, Moment) and stop.halted > start.now

    # -- tensors

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor, or a batch that may be a container of tensors."""
        return isinstance(self._value, Tensor)

    @property
    def is_plain_tensor(self) -> bool:
        """Whether it is certainly a tensor, and no container."""
        return isinstance(self._value, Tensor) and self._value.proven

    @property
    def recast(self) -> bool:
        """Whether it is what a cast on the host made of a batch, or a part of one: memory that no loader pinned."""
        return isinstance(self._value, Tensor) and self._value.recast

    @property
    def is_scalar(self) -> bool:
        """Whether it is a tensor without dimensions."""
        return isinstance(self._value, Tensor) and self._value.scalar

    @property
    def is_condition(self) -> bool:
        """Whether it is a tensor that may be asked for its truth: a number, a comparison, but no container."""
        one = self._value
        return isinstance(one, Tensor) and (one.scalar or one.mask or one.proven)

    @property
    def on_host(self) -> bool:
        """Whether it is a tensor that is certainly on the host."""
        return isinstance(self._value, Tensor) and is_host(self._value.place)

    @property
    def may_be_left_behind(self) -> bool:
        """Whether it is a tensor that stays on the host where one branch makes it, and goes with its module where
        another one does: a plain tensor, or a parameter."""
        return isinstance(self._value, Tensor) and self._value.place == HOST | WITH_MODEL

    @property
    def on_accelerator(self) -> bool:
        """Whether it is a tensor that is certainly on a CUDA device where the machine has one."""
        one = self._value
        return isinstance(one, Tensor) and one.basis.proven and bool(one.place) and is_cuda_capable(one.place)

    @property
    def may_be_on_gpu(self) -> bool:
        """Whether it is a tensor that may be on a CUDA device, for all that is known."""
        elsewhere = ("cpu", "mps", "xpu", "hpu", "meta")
        return isinstance(self._value, Tensor) and not union_of(self._value.place) <= frozenset(elsewhere)

    @property
    def place(self) -> Place:
        """Where it lives, if it is a tensor."""
        return self._value.place if isinstance(self._value, Tensor) else SOMEWHERE

    @property
    def basis(self) -> Evidence:
        """What shows that it is a tensor in its place; :data:`~accel_advisor.values.evidence.PROVEN` for all else."""
        return self._value.basis if isinstance(self._value, Tensor) else PROVEN

    @property
    def born(self) -> Birth | None:
        """The factory call that a tensor came out of."""
        return self._value.born if isinstance(self._value, Tensor) else None

    @property
    def fills(self) -> frozenset[cst.Call]:
        """The calls of factories that alone made what a tensor holds; empty where data went into it, or may have."""
        return self._value.fills if isinstance(self._value, Tensor) else frozenset()

    @property
    def source(self) -> BatchSource | None:
        """The loader that it is, or whose batch, or part of one, it is, by its identity:
        :func:`~accel_advisor.records.loaders.loader_of` gives the record of it."""
        if isinstance(self._value, Loader):
            return self._value.call
        return self._value.loader if isinstance(self._value, Tensor) else None

    @property
    def path(self) -> tuple[object, ...]:
        """Which element of the batch it is: positions and keys, outermost first; ``...`` for some element."""
        return self._value.path if isinstance(self._value, Tensor) else ()

    @property
    def arrives_by(self) -> cst.Call | None:
        """The asynchronous copy to the host that it is the result of, and that may not be done yet."""
        return self._value.pending if isinstance(self._value, Tensor) else None

    @property
    def graph(self) -> frozenset[cst.CSTNode]:
        """The calls of modules and losses, and the sums, in whose autograd graph it is the last."""
        options = options_of(self._value)
        return frozenset().union(*(one.grown for one in options if isinstance(one, Tensor)))
