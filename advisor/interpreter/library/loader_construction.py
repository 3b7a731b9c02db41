"""From a call that builds a loader to the record of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.arguments import Arguments
from accel_advisor.interpreter.loader_batches import loaders_of
from accel_advisor.interpreter.resolution import value_of
from accel_advisor.records.facts import LoaderContext
from accel_advisor.records.operations import Argument
from accel_advisor.syntax.shapes import names_bound_in, names_read_in
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.frameworks import LIBRARIES
from accel_advisor.tables.loader_libraries import Constructor
from accel_advisor.tables.torch_functions import DRAWS
from accel_advisor.values.places import SOMEWHERE
from accel_advisor.values.values import (
    UNKNOWN,
    Bound,
    Class,
    Constant,
    Function,
    Instance,
    Loader,
    Opaque,
    Qualified,
    Sequence,
    Value,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine


_DATASETS = ("torch.utils.data.", "torchvision.datasets.")
_JOINED = "torch.utils.data.ConcatDataset"
_METHODS: dict[type[cst.BaseBinaryOp], str] = {cst.Add: "add", cst.Multiply: "mul"}
_KNOWN = LIBRARIES | {"numpy", "os", "pathlib", "glob", "functools"}


def build_loader(
    machine: Machine,
    constructor: Constructor,
    arguments: Arguments,
    node: cst.Call,
    *,
    opaque: bool = False,
    cls: Class | None = None,
) -> Value:
    """Records a loader as it is built in the present context, and returns it.

    Args:
        opaque: the arguments of the call are not those that the loader gets (a subclass with an ``__init__`` of its
            own).
        cls: the subclass in the project, if it is one.
    """
    call = machine.recorder.loader(machine.frame, node, constructor)
    call.opaque |= opaque
    given: dict[str, Argument] = dict(zip(constructor.positional, arguments.positional, strict=False))
    given.update(arguments.keywords)
    context = LoaderContext(
        arguments=given,
        open=arguments.open,
        mappings=arguments.mappings,
        chain=machine.frame.chain,
        loops=machine.frame.loops,
        repeats=_repeats(machine, node),
        files=arguments.files,
    )
    call.contexts.append(context)
    method = next((one for one in reversed(machine.frame.functions) if one.owner is not None), None)
    if method is not None and method.owner is not None and method.name.endswith("_dataloader"):
        framework = any(base.startswith("lightning.") for base in method.owner.library_bases())
        call.moved_by = "lightning" if framework else call.moved_by
    own_iteration = cls is not None and machine.recorder.touches_devices(cls)
    delivers = SOMEWHERE if constructor.delivers == "device" or own_iteration else None
    return Loader(call, delivers)


def combined(machine: Machine, node: cst.BinaryOperation, left: Value, right: Value) -> Value:
    """What ``left + right`` or ``3 * right`` is of data sets, by methods of their own or as torch joins them;
    Unknown where neither is one."""
    method = _METHODS.get(type(node.operator))
    if method is None or not any(isinstance(one, Instance) or _is_dataset(one) for one in (left, right)):
        return UNKNOWN
    for operand, other, name in ((left, right, f"__{method}__"), (right, left, f"__r{method}__")):
        own = machine.attribute(operand, name) if isinstance(operand, Instance) else None
        if isinstance(own, Bound):
            given = Arguments(None, [Argument(other)])
            return machine.call_function(own.function, given, None, own.receiver)
    return Opaque(_JOINED, (Sequence((left, right)),)) if method == "add" and _is_dataset(left) else UNKNOWN


def _is_dataset(value: Value) -> bool:
    """Whether a value is a data set of torch or torchvision, or of a class of the project that is one of torch."""
    options = [one for one in options_of(value) if not isinstance(one, Constant)]
    known = [one.cls.library_bases() for one in options if isinstance(one, Instance)]
    made = [one.name for one in options if isinstance(one, Opaque)]
    own = all(any(base.startswith(_DATASETS) for base in bases) for bases in known)
    return bool(options) and len(known) + len(made) == len(options) and own and all(map(_makes_dataset, made))


def _makes_dataset(name: str) -> bool:
    return name.startswith(_DATASETS) and name.rpartition(".")[2][:1].isupper()


def take_loaders(framework: str, given: Iterable[Value]) -> None:
    """A framework is given loaders, whose batches it moves from now on."""
    for value in given:
        for loader in loaders_of(value, whole=True):
            loader.moved_by = framework


def _may_differ(machine: Machine, call: cst.Call) -> bool:
    """Whether a call may give something else each time: it draws at random, or nothing is known of it."""
    callee = value_of(machine, machine.scope, call.func)
    if isinstance(callee, Qualified):
        known = "." not in callee.name or callee.name.partition(".")[0] in _KNOWN
        return not known or callee.name.startswith(DRAWS)
    return not isinstance(callee, (Class, Function))


def _repeats(machine: Machine, node: cst.Call) -> bool:
    """Whether the call stands in a loop of which no pass changes a name that the call reads."""
    if not machine.frame.loops or machine.frame.guarded:
        return False
    loop = machine.frame.loops[-1]
    if loop.document is not machine.document or not isinstance(loop.node, (cst.For, cst.While)):
        return False
    if any(isinstance(one, cst.Del) for one in descendants(loop.node)):
        return False
    span, inner = machine.document.span(loop.node), machine.document.span(node)
    within = span.start.offset <= inner.start.offset and inner.end.offset <= span.end.offset
    changing = names_bound_in(loop.node) & names_read_in(node)
    if any(_may_differ(machine, one) for arg in node.args for one in descendants(arg, cst.Call)):
        return False
    return within and all("." not in name and isinstance(machine.lookup(name), Qualified) for name in changing)
