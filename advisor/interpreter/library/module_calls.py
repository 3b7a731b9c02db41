"""Calls of modules: where their results live, and what their arguments become inside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.arguments import Arguments
from accel_advisor.interpreter.loader_batches import holds_host_batch, may_be_batch
from accel_advisor.interpreter.parameters import takes, takes_what_it_is_given
from accel_advisor.interpreter.resolution import class_member, parts_of, wraps
from accel_advisor.records.facts import ArgumentPlace, ModuleCallContext
from accel_advisor.records.inputs import WEIGHTS
from accel_advisor.records.operations import Argument
from accel_advisor.syntax.shapes import makes_parts, reads_in_forward
from accel_advisor.syntax.variation import numbers_returned
from accel_advisor.tables.torch_modules import MODULE_BASES, STATELESS, WRAPPERS_THAT_MOVE_INPUTS, WRAPPERS_THAT_WAIT
from accel_advisor.values.evidence import PROVEN, Evidence, Ground
from accel_advisor.values.places import (
    HOST,
    SOMEWHERE,
    WITH_MODEL,
    Place,
    is_cuda_capable,
    place_of_input,
    union_of,
)
from accel_advisor.values.store import BUILT, ESCAPED, PARTS, TAKES_AS_GIVEN
from accel_advisor.values.values import (
    UNKNOWN,
    Constant,
    Function,
    Module,
    Sequence,
    Tensor,
    Value,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine
    from accel_advisor.records.around import Surroundings
    from accel_advisor.values.values import Class

_OWN_CALL = ("__call__", "to", "cuda", "_apply")
"""Methods with which a module may do something else to its inputs."""


def call_module(machine: Machine, callee: Value, arguments: Arguments, node: cst.Call) -> Value:
    """A module's forward: its result lives where the module lives, but for numbers that it returns beside."""
    made = _called(machine, callee, arguments, node)
    if not isinstance(callee, Module) or callee.cls is None:
        return made
    forward = class_member(machine, callee.cls, "forward")
    code = forward.node if isinstance(forward, Function) else None
    numbers = numbers_returned(code) if isinstance(code, cst.FunctionDef) else ()
    return Sequence(tuple(UNKNOWN if one else made for one in numbers)) if any(numbers) else made


def _called(machine: Machine, callee: Value, arguments: Arguments, node: cst.Call) -> Value:
    modules = [one for one in options_of(callee) if isinstance(one, Module)]
    module = modules[0]
    escaped = any(machine.store.get(one, ESCAPED) is not None for one in modules)
    touches = any(machine.recorder.touches_devices(one.cls) for one in modules if one.cls is not None)
    given = tuple(_given(machine, modules, arguments))
    meant = _that_take(machine, modules, arguments)
    for one in modules:
        _scatter(machine, one, arguments)
        if not machine.frame.guarded and machine.place_of(one) == WITH_MODEL:
            machine.recorder.inputs.follow(given, _unmoved_around(machine))
        if one.cls is not None:
            machine.recorder.called.classes |= set(one.cls.lineage())
            forward = class_member(machine, one.cls, "forward")
            if isinstance(forward, Function) and machine.losses_in(forward.node):
                machine.recorder.backward(machine.frame)  # it trains itself
        around, graphs = machine.recorder.called.step_around(machine.frame), machine.frame.graphs
        if one in meant and around.loops and machine.recorder.called.is_new(one, around, arguments, graphs=graphs):
            _note_called(machine, one, around, arguments)
    context = _context(machine, modules, given)
    place, wrapper = context.place, context.wrapper
    if machine.frame.loops and not context.moves_inputs:
        machine.recorder.inputs.given(given)
    machine.frame.run.clock.work(place, machine.frame.loops)
    if any(one.cls is not None and reads_in_forward(_texts(one.cls)) for one in modules):
        machine.frame.run.clock.wait()
    if any(map(may_be_batch, arguments.values())):
        machine.recorder.model_called(machine.frame)
    loss = module.kind.startswith("torch.nn.") and module.kind.endswith("Loss")
    machine.recorder.module_call(machine.frame, node, loss, context)
    if loss:
        first = arguments.positional[0].value if arguments.positional else UNKNOWN
        place, basis = (first.place, first.basis) if isinstance(first, Tensor) else (SOMEWHERE, PROVEN)
        return Tensor(place, scalar=True, grown=machine.grown(node), basis=basis)
    if module.kind in STATELESS and arguments.positional and isinstance(arguments.positional[0].value, Tensor):
        first = arguments.positional[0].value
        return Tensor(first.place, proven=False, grown=machine.grown(node), basis=first.basis)
    known = not (escaped or touches) or wrapper is not None
    if place == HOST:
        stateless = module.cls is not None and _has_no_parts(module.cls)
        elsewhere = (one.place != HOST if isinstance(one, Tensor) else stateless for one in arguments.values())
        known = known and not any(elsewhere)  # without weights it computes where its arguments are
    if known:
        return Tensor(place, proven=False, grown=machine.grown(node))
    stays = not touches and bool(place) and is_cuda_capable(place)
    basis = Evidence.of(Ground.KEPT)
    return Tensor(place if stays else SOMEWHERE, proven=False, grown=machine.grown(node), basis=basis)


def _texts(cls: Class) -> tuple[cst.ClassDef, ...]:
    return tuple(one.node for one in cls.lineage())


def _context(machine: Machine, modules: list[Module], given: tuple[ArgumentPlace, ...]) -> ModuleCallContext:
    """How one of these modules is called here."""
    place: Place = frozenset()
    for one in modules:
        place |= machine.place_of(one)
    wrapper = next((one.kind for one in modules if one.kind in WRAPPERS_THAT_MOVE_INPUTS), None)
    moves = [one for one in modules if one.kind in WRAPPERS_THAT_MOVE_INPUTS]
    moves = [one for one in moves if machine.store.get(one, TAKES_AS_GIVEN) is None]
    escaped = any(machine.store.get(one, ESCAPED) is not None for one in modules)
    return ModuleCallContext(
        module=modules[0],
        place=place,
        escaped=escaped or len(modules) > 1,
        wrapper=wrapper,
        moves_inputs=bool(moves),
        copied_by=next((one.kind for one in moves if one.kind in WRAPPERS_THAT_WAIT), ""),
        arguments=given,
        loop=machine.frame.batch_loop,
        evaluating=all(machine.store.get(one, "\0evaluating") == Constant(True) for one in modules),
        around=machine.frame.around,
        inner=machine.frame.loop,
        graphs=machine.frame.graphs,
        nested="forward" in machine.frame.function_names,
        others=tuple(modules[1:]),
    )


def enter(machine: Machine, module: Module, method: Function, arguments: Arguments, node: cst.Call) -> None:
    """A module is entered by a method of its own: what that does is a part of the step, as a ``forward`` is. To call
    ``forward`` by its name, from elsewhere, is to call the module."""
    if method.name == "forward" and "forward" not in machine.frame.function_names:
        machine.recorder.module_call(machine.frame, node, False, _context(machine, [module], ()))
    around = machine.recorder.called.step_around(machine.frame)
    if around.loops and module.cls is not None and machine.store.get(module, BUILT) is None:
        called = machine.recorder.called
        called.note(module.cls, method.name, around, graphs=machine.frame.graphs, followed=arguments)


def _scatter(machine: Machine, module: Module, arguments: Arguments) -> None:
    """A wrapper of the project divides its inputs among GPUs in its own way."""
    scatter = class_member(machine, module.cls, "scatter") if wraps(module) else None
    if isinstance(scatter, Function):
        given = [Sequence(tuple(one.value for one in arguments.positional)), UNKNOWN, UNKNOWN]
        machine.call_function(scatter, Arguments(None, [Argument(one) for one in given]), None, module)


def _note_called(machine: Machine, module: Module, around: Surroundings, arguments: Arguments) -> None:
    """Notes whose ``forward`` runs where a module is called: that of its own class, or those of what it wraps and
    holds; nothing may be known of these."""
    called, frame = machine.recorder.called, machine.frame
    pending, seen = [module], set[Value]()
    given = {module}  # what gets the arguments as they are
    while pending:
        one = pending.pop()
        if one in seen:
            continue
        seen.add(one)
        if one.cls is not None:
            moves = one is module and not wraps(one) and machine.recorder.touches_devices(one.cls)
            batches = moves and any(map(holds_host_batch, arguments.values()))
            followed = arguments if batches else None
            called.note(one.cls, "forward", around, graphs=frame.graphs, followed=followed)
            if class_member(machine, one.cls, "forward") is not None:
                continue
        held = parts_of(machine, one)
        parts = [child for part in held for child in options_of(part) if isinstance(child, Module)]
        if not parts and (not one.kind or one.kind in WRAPPERS_THAT_MOVE_INPUTS):
            called.note_unknown(frame, arguments if one in given else None)
        if one in given and one.kind in WRAPPERS_THAT_MOVE_INPUTS:
            parts = _that_take(machine, parts, arguments)
            given |= set(parts)
        pending += parts


def _that_take(machine: Machine, modules: list[Module], arguments: Arguments) -> list[Module]:
    """Those of some modules, of which the program chooses one, that can be called with these arguments; all of them,
    where none is seen to take them."""
    return [one for one in modules if _takes(machine, one, arguments)] or modules


def _takes(machine: Machine, module: Module, arguments: Arguments) -> bool:
    """Whether the ``forward`` of a module may be called with these arguments."""
    forward = class_member(machine, module.cls, "forward") if module.cls is not None else None
    if not isinstance(forward, Function) or not takes_what_it_is_given(forward):
        return True
    return takes(forward, arguments, bound=True)


def _unmoved_around(machine: Machine) -> cst.CSTNode | None:
    """The method of a module that is being interpreted, as long as it has not moved the module itself."""
    function = machine.frame.function
    first = next(iter(function.node.params.params), None) if function is not None else None
    receiver = machine.lookup(first.name.value) if first is not None else None
    stays = isinstance(receiver, Module) and machine.place_of(receiver) == WITH_MODEL
    return function.node if function is not None and stays else None


def _has_no_parts(cls: Class) -> bool:
    """Whether a module's class holds neither layers nor weights, as those of most losses do."""
    return cls.library_bases() <= MODULE_BASES and not any(makes_parts(one.node) for one in cls.lineage())


def _given(machine: Machine, modules: list[Module], arguments: Arguments) -> Iterator[ArgumentPlace]:
    everything: list[tuple[int | None, str | None, Argument]] = []
    everything += [(position, None, one) for position, one in enumerate(arguments.positional)]
    everything += [(None, keyword, one) for keyword, one in arguments.keywords.items()]
    for position, keyword, one in everything:
        if one.node is not None:
            meant = becomes(machine, modules[0], position or 0, keyword) if len(modules) == 1 else ""
            yield ArgumentPlace(one.node.value, one.value, position, keyword, meant)


def becomes(machine: Machine, module: Module, position: int, keyword: str | None) -> str:
    """What an argument of a module's call becomes: :data:`WEIGHTS` where it meets them at once, or an input of its
    ``forward``; empty where that is not known."""
    if module.kind == "torch.nn.parallel.DistributedDataParallel":
        inner = machine.store.get(module, PARTS)
        wrapped = inner.items[0] if isinstance(inner, Sequence) else None
        return becomes(machine, wrapped, position, keyword) if isinstance(wrapped, Module) else ""
    if module.cls is None:
        return _met_by_library(machine, module) if position == 0 and keyword is None else ""
    if any(class_member(machine, module.cls, name) is not None for name in _OWN_CALL):
        return ""
    forward = class_member(machine, module.cls, "forward")
    if not isinstance(forward, Function) or isinstance(forward.node, cst.Lambda):
        return ""
    names = [one.name.value for one in forward.node.params.params[1:]]
    star = forward.node.params.star_arg
    rest = f"*{star.name.value}" if isinstance(star, cst.Param) else ""
    name = keyword if keyword is not None else next(iter(names[position : position + 1]), rest)
    return "".join(union_of(place_of_input(forward.node, name))) if name in (*names, rest) and name else ""


def _met_by_library(machine: Machine, module: Module) -> str:
    if module.kind != "torch.nn.Sequential":
        layer = module.kind.startswith(("torch.nn.", "torchvision.models.")) and module.has_state
        return WEIGHTS if layer and not module.kind.endswith("Loss") else ""
    children = machine.store.get(module, PARTS)
    for child in children.items if isinstance(children, Sequence) else ():
        if not isinstance(child, Module):
            return ""
        if child.cls is not None or child.has_state:
            return becomes(machine, child, 0, None)
    return ""
