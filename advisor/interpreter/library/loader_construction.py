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
from accel_advisor.syntax.shapes import dotted, names_bound_in, names_read_in, positional_parameters
from accel_advisor.syntax.variation import bindings
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
    SourceModule,
    Value,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine
    from accel_advisor.interpreter.frames import Frame
    from accel_advisor.records.conditions import Condition
    from accel_advisor.records.loops import Loop


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
        untaken=any(one.never for one in machine.frame.conditions),
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
    """What ``left + right`` or ``3 * right`` is of data sets, by methods of their own or as torch joins them, and of
    what numpy drew (``np.random.rand(8) / 2``), which stays drawn; Unknown where neither is one."""
    drawn = [one for one in (left, right) if isinstance(one, Opaque) and one.name.startswith("numpy.random.")]
    if len(drawn) == 2 or (drawn and any(isinstance(one, Constant) for one in (left, right))):
        return drawn[0]
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


def _may_differ(machine: Machine, frame: Frame, call: cst.Call) -> bool:
    """Whether a call may give something else each time: it draws at random, or nothing is known of it."""
    callee = value_of(machine, frame.scope, call.func)
    if isinstance(callee, Qualified):
        known = "." not in callee.name or callee.name.partition(".")[0] in _KNOWN
        return not known or callee.name.startswith(DRAWS)
    return not isinstance(callee, (Class, Function))


def _repeats(machine: Machine, node: cst.Call) -> bool:
    """Whether the call happens in each pass of a loop, none of which changes what it reads: in the loop itself, or in a
    function that is called there."""
    frame = machine.frame
    loop = frame.loop
    if loop is None or not isinstance(loop.node, (cst.For, cst.While)):
        return False
    if any(one.within is loop and not _holds_again(one) for one in frame.conditions):
        return False
    if any(isinstance(one, cst.Del) for one in descendants(loop.node)):
        return False
    changing = _changing(machine, frame, loop)
    return changing is not None and not _differs(machine, frame, node.args, changing)


def _holds_again(condition: Condition) -> bool:
    """Whether what a condition decides happens in each pass of the loop around it if it does in one, and may do so."""
    if not condition.exits:
        return condition.varies is not condition.within and not condition.never
    alone = isinstance(condition.node, cst.If) and condition.node.orelse is None
    return alone and condition.answer is False  # the exit that the function is not told to take


def _changing(machine: Machine, frame: Frame, loop: Loop) -> frozenset[str] | None:
    """The names in a frame that may stand for something else in each pass of a loop; None where nothing is known."""
    caller, function, site = frame.caller, frame.function, frame.site
    if caller is None or loop not in caller.loops:
        bound = names_bound_in(loop.node)
        return frozenset(one for one in bound if "." in one or not _stays(machine, frame, loop, one))
    outside = _changing(machine, caller, loop)
    node = function.node if function is not None else None
    if outside is None or site is None or not isinstance(node, cst.FunctionDef):
        return None
    if any(one.star for one in site.node.args) or node.asynchronous is not None:
        return None
    bound = names_bound_in(node.body)
    parameters = [one.name.value for one in positional_parameters(node.params)]
    places = parameters[isinstance(site.node.func, cst.Attribute) and parameters[:1] == ["self"] :]
    known = {*parameters, *(one.name.value for one in node.params.kwonly_params), *bindings(node.body)}
    changing = {one for one in bound | outside if one not in known}
    for at, arg in enumerate(site.node.args):
        name = arg.keyword.value if arg.keyword is not None else places[at] if at < len(places) else ""
        if _differs(machine, caller, [arg], outside):
            changing.add(name)
    before = -1
    while before < len(changing):
        before = len(changing)
        for name, values in bindings(node.body).items():
            if any(one is None or _differs(machine, frame, [one], frozenset(changing)) for one in values):
                changing.add(name)
    return frozenset(changing)


def _differs(machine: Machine, frame: Frame, parts: Iterable[cst.CSTNode], changing: frozenset[str]) -> bool:
    """Whether pieces of code in a frame read one of the names that change, or call what may give something else."""
    for part in parts:
        if not changing.isdisjoint(names_read_in(part)):
            return True
        if any(_may_differ(machine, frame, one) for one in descendants(part, cst.Call)):
            return True
    return False


def _stays(machine: Machine, frame: Frame, loop: Loop, name: str) -> bool:
    """Whether a name stands for a library, or for a module of the project in which the text of a loop sets nothing, and
    which it gives to nobody: who gets what such a module holds cannot change the rest of it."""
    value = value_of(machine, frame.scope, cst.Name(name))
    if not isinstance(value, SourceModule):
        return isinstance(value, Qualified)
    calls = list(descendants(loop.node, cst.Call))
    touched = [dotted(one.func) for one in calls]
    touched += [arg.value.value for one in calls for arg in one.args if isinstance(arg.value, cst.Name)]
    return name not in {one.partition(".")[0] for one in (*touched, *bindings(loop.node))}
