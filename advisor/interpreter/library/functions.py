"""Calls of library functions and classes, by their full names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.arguments import Arguments
from accel_advisor.interpreter.iteration import element_of, next_of, parameter_of
from accel_advisor.interpreter.library.device_moves import move_all
from accel_advisor.interpreter.library.dicts import default_mapping, made_mapping
from accel_advisor.interpreter.library.evident_loaders import iterated
from accel_advisor.interpreter.library.external_settings import call_configuration
from accel_advisor.interpreter.library.loader_construction import build_loader, take_loaders
from accel_advisor.interpreter.library.noted_calls import (
    note_first_batch,
    note_iterator,
    note_saved_states,
    note_trainer,
)
from accel_advisor.interpreter.library.unknown_code import REFLECTION, call_unknown, reflection
from accel_advisor.interpreter.loader_batches import mutates_in_place
from accel_advisor.interpreter.resolution import bases_of
from accel_advisor.records.actions import Act, Call
from accel_advisor.records.clock import CLOCKS
from accel_advisor.records.facts import ArgumentPlace, ModuleCallContext
from accel_advisor.records.operations import Argument
from accel_advisor.tables.frameworks import FRAMEWORK_CALLS, FRAMEWORK_CLASSES, MOVERS, TAKERS
from accel_advisor.tables.loader_libraries import CONSTRUCTORS
from accel_advisor.tables.python_functions import COMPUTES_NUMBERS, GIVES_NO_TENSORS, HARMLESS_CALLS, PASS_THROUGH
from accel_advisor.tables.settings_libraries import DICTS
from accel_advisor.tables.tensor_methods import GRAPHLESS, JOINS, MASKS, REDUCES
from accel_advisor.tables.torch_functions import (
    DEVICE_FUNCTIONS,
    LOSS_FUNCTIONS,
    ONE_OPERAND,
    READS_TENSOR,
    SAVES,
    SETS_DEFAULT_DEVICE,
    SHAPED_FACTORIES,
    SIZED_FACTORIES,
    TENSOR_FACTORIES,
    TENSOR_FUNCTIONS,
)
from accel_advisor.tables.torch_modules import CHECKPOINTS, MODULE_ALIASES, STATELESS, WRAPPERS_THAT_MOVE_INPUTS
from accel_advisor.values.devices import device_basis, device_kinds, is_first
from accel_advisor.values.evidence import PROVEN, Evidence, Ground
from accel_advisor.values.fillings import filled_by
from accel_advisor.values.places import HOST, SOMEWHERE, Place
from accel_advisor.values.store import ESCAPED, PARTS, TAKES_AS_GIVEN
from accel_advisor.values.values import (
    UNKNOWN,
    Birth,
    Bound,
    Class,
    Constant,
    Device,
    Function,
    Iterated,
    Mapping,
    Module,
    Opaque,
    Origin,
    Qualified,
    Sequence,
    Tensor,
    Unknown,
    Value,
    join_all,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine


def call_library(machine: Machine, name: str, arguments: Arguments, node: cst.Call) -> Value:
    """What calling the library object ``name`` returns."""
    recorder = machine.recorder
    if "." in name or (name in READS_TENSOR and any(map(_holds_tensor, arguments.values()))):
        recorder.operation(machine.frame, node, Call(name), None, arguments)
    if name in SAVES and arguments.positional:
        note_saved_states(machine, arguments.positional[0].value, node)
    written = arguments.get("out")
    if isinstance(written, Tensor):
        mutates_in_place(written, machine.frame.batch_loop)
    constructor = CONSTRUCTORS.get(name)
    if constructor is not None:
        return build_loader(machine, constructor, arguments, node)
    framework = FRAMEWORK_CALLS.get(name) or FRAMEWORK_CLASSES.get(name)
    if framework is not None:
        recorder.framework(machine.document, framework)
    if name == "lightning.cli.LightningCLI":
        note_trainer(machine, arguments, node)
    if Call(name) in CLOCKS:
        return machine.frame.run.clock.read(node, machine.frame.loops)
    taker = TAKERS.get(name)
    if taker is not None and (taker != "monai" or "cuda" in device_kinds(arguments.get("device", 0) or UNKNOWN)):
        take_loaders(taker, arguments.values())
    if name in MOVERS:
        return move_all(machine, name, arguments, node)
    if name == "torch.device":
        return _device(machine, arguments)
    if name in DEVICE_FUNCTIONS:
        return Device(DEVICE_FUNCTIONS[name])
    if name in SETS_DEFAULT_DEVICE:
        machine.frame.run.default_place = SOMEWHERE
        return Constant(None)
    configured = call_configuration(machine, name, arguments, node)
    if configured is not None:
        return configured
    if name == "iter":
        note_iterator(machine, arguments)
    if name in PASS_THROUGH:
        return _pass_through(machine, name, arguments)
    if name in ("enumerate", "zip"):
        counted = arguments.positional[:1] if name == "enumerate" else arguments.positional
        elements = tuple(element_of(machine, _iterated(machine, one)) for one in counted)
        return Iterated(Sequence((UNKNOWN, *elements)) if name == "enumerate" else Sequence(elements))
    if name in ("any", "all") and len(arguments.positional) == 1:
        asked = element_of(machine, arguments.positional[0].value)
        if isinstance(asked, Tensor):
            recorder.operation(machine.frame, node, Act.TRUTH, asked)
    if name == "itertools.repeat" and arguments.positional:
        return Iterated(arguments.positional[0].value)
    if name == "map":
        return _map(machine, arguments, node)
    if name == "next" and arguments.positional:
        given = _iterated(machine, arguments.positional[0])
        if isinstance(given, Opaque) and given.name == "module.parameters":
            return parameter_of(machine, given.arguments[0])
        element = next_of(machine, given)
        note_first_batch(machine, arguments, node)
        recorder.take_one(machine.frame, element)
        return element
    if name in ("sum", "abs", "max", "min") and arguments.positional:
        added = arguments.positional[0].value
        if name != "abs" and isinstance(added, (Iterated, Sequence)):
            added = element_of(machine, added)  # numbers, or tensors of which each is like the result
        if isinstance(added, Tensor):
            return replace(added, loader=None, path=(), scalar=False, born=None, mask=False, fills=frozenset())
    if name == "collections.defaultdict":
        return default_mapping(machine, arguments, node)
    if name in DICTS:
        return made_mapping(machine, arguments, node)
    if name == "torch.autograd.Variable" and arguments.positional:
        return arguments.positional[0].value
    if name == "super":
        return bases_of(machine, arguments)
    if name in REFLECTION:
        return reflection(machine, name, arguments, node)
    return _torch(machine, name, arguments, node)


def _torch(machine: Machine, name: str, arguments: Arguments, node: cst.Call) -> Value:
    last = name.rpartition(".")[2]
    if name in TENSOR_FACTORIES or (name.startswith("torch.") and last.endswith("Tensor") and last != "Tensor"):
        born = _birth(machine, name, arguments, node)
        made_in, scalar = _factory_place(machine, name, arguments), _is_scalar(name, arguments)
        tells = born is not None and born.dtype == "torch.bool"
        return Tensor(made_in, scalar=scalar, born=born, mask=tells, fills=frozenset({node}))
    if name in ("torch.Tensor", "torch.FloatTensor", "torch.LongTensor"):
        born = _birth(machine, name, arguments, node)
        return Tensor(machine.frame.default_place, born=born, fills=frozenset({node}))
    if name in LOSS_FUNCTIONS:
        return _loss_function(machine, arguments, node)
    if name in TENSOR_FUNCTIONS or name.startswith("torch.nn.functional."):
        inputs = machine.recorder.inputs
        place: Place = frozenset()
        grown: frozenset[cst.CSTNode] = frozenset()
        basis = PROVEN
        known = False
        for one in arguments.operands(alone=last in ONE_OPERAND):
            if isinstance(one, Tensor):
                place |= one.place
                grown |= one.grown
                basis |= one.basis
                known = True
                inputs.used_as_tensor(one.place)
        first = arguments.get("input", 0)
        asked = arguments.get("inplace")
        in_place = last.endswith("_") or (isinstance(asked, Constant) and asked.value is True)
        if in_place and isinstance(first, Tensor):
            mutates_in_place(first, machine.frame.batch_loop)
        machine.frame.run.clock.work(place, machine.frame.loops)
        grown = grown if machine.frame.graphs and last not in GRAPHLESS else frozenset()
        fills = filled_by(last, [one.value for one in arguments.positional]) if known else frozenset()
        scalar = last in REDUCES and len(arguments.values()) == 1 and isinstance(first, Tensor)
        made = Tensor(place, proven=False, scalar=scalar, grown=grown, mask=last in MASKS, fills=fills, basis=basis)
        if not known and last in REDUCES | MASKS | JOINS and arguments.positional:
            basis = Evidence.of(Ground.METHOD)
            scalar = last not in JOINS and len(arguments.values()) == 1
            return Tensor(SOMEWHERE, proven=False, scalar=scalar, mask=last in MASKS, basis=basis)
        return made if known else UNKNOWN
    if name == "torch.nn.utils.clip_grad_norm_":
        given = arguments.get("parameters", 0)
        module = given.arguments[0] if isinstance(given, Opaque) and given.name == "module.parameters" else None
        return Tensor(machine.place_of(module) if isinstance(module, Module) else SOMEWHERE, scalar=True)
    if name in CHECKPOINTS and arguments.positional:
        function, *others = arguments.positional
        return machine.call_value(function.value, Arguments(arguments.node, others, open=arguments.open), node)
    if name in MODULE_ALIASES and arguments.positional:
        given = arguments.positional[0].value
        if name == "torch.compile" and isinstance(given, Module):
            return replace(given, eager=given.plain, compiled=node)
        return given
    if name in WRAPPERS_THAT_MOVE_INPUTS and (inner := arguments.get("module", 0)) is not None:
        module = Module(machine.document, node, name)
        machine.store.set(module, PARTS, Sequence((inner,)))
        machine.move(module, machine.place_of(inner) if isinstance(inner, Module) else SOMEWHERE)
        if not isinstance(inner, Module) or machine.store.get(inner, ESCAPED) is not None:
            machine.store.set(module, ESCAPED, Constant(True))
        devices = arguments.get("device_ids", 1) or Constant(None)
        if name.endswith("DistributedDataParallel") and devices == Constant(None) and not arguments.open:
            machine.store.set(module, TAKES_AS_GIVEN, Constant(True))
        return module
    if _is_module_class(name):
        held = _flattened(machine, arguments)
        children = [one for one in held if isinstance(one, Module)]
        stateless = name in STATELESS or name.endswith("Loss")
        if name == "torch.nn.Sequential" and len(children) == len(held):
            stateless = not (arguments.open or any(one.has_state for one in children))
        module = Module(machine.document, node, name, has_state=not stateless)
        machine.move(module, _factory_place(machine, name, arguments))
        machine.store.set(module, PARTS, Sequence(tuple(held)))
        if any(machine.place_of(one) != HOST for one in children):
            machine.move(module, SOMEWHERE)
        for child in children:
            machine.move(child, SOMEWHERE)
        return module
    if name not in HARMLESS_CALLS and not name.startswith(("torch.optim.", "torch.utils.data.", "torch.nn.init.")):
        known_library = name.startswith(("torchvision.", "torch.")) and not name.startswith("torch.distributed.")
        if not known_library:
            computes = "." in name and last[:1].islower() and not name.startswith(GIVES_NO_TENSORS)
            computed = call_unknown(machine, arguments.values(), node if computes else None)
            if isinstance(computed, Tensor):
                return computed
    keywords = tuple((key, argument.value) for key, argument in arguments.keywords.items())
    origin = Origin(machine.document, node, "formula") if name in COMPUTES_NUMBERS else None
    origin = Origin(machine.document, node) if name == "functools.partial" else origin
    return Opaque(name, tuple(one.value for one in arguments.positional), keywords, origin)


def _birth(machine: Machine, name: str, arguments: Arguments, node: cst.Call) -> Birth:
    functions = machine.frame.functions
    dtype = arguments.get("dtype")
    size = arguments.get("size", 0)
    first = size.items[0] if isinstance(size, Sequence) and size.items else size
    return Birth(
        document=machine.document,
        node=node,
        functions=machine.frame.function_names,
        owner=functions[-1].owner if functions else None,
        loops=machine.frame.loops,
        dtype=dtype.name if isinstance(dtype, Qualified) else None,
        length=first.value
        if name in SIZED_FACTORIES and isinstance(first, Constant) and type(first.value) is int
        else None,
    )


def _flattened(machine: Machine, arguments: Arguments) -> list[Value]:
    found: list[Value] = []
    for value in (*arguments.values(), *arguments.rest):
        if isinstance(value, Sequence):
            found.extend(value.items)
        elif isinstance(value, Iterated):
            found.extend(options_of(value.element))
        elif isinstance(value, Mapping):
            found.extend(machine.store.entries(value).values())
        else:
            found.append(value)
    return found


def _holds_tensor(value: Value) -> bool:
    """Whether something is a tensor, or a list of tensors."""
    held = (
        value.items
        if isinstance(value, Sequence)
        else options_of(value.element if isinstance(value, Iterated) else value)
    )
    return any(isinstance(one, Tensor) for one in held)


def _is_module_class(name: str) -> bool:
    last = name.rpartition(".")[2]
    if name.startswith("torch.nn."):
        inner = name.removeprefix("torch.nn.")
        return "." not in inner and last[:1].isupper() and last not in ("Parameter", "Module", "ParameterList")
    if name.startswith("torchvision.models."):
        return not last.startswith("get_") and "_Weights" not in name
    return False


def _device(machine: Machine, arguments: Arguments) -> Value:
    value = arguments.get("device", 0)
    if value is None:
        value = arguments.get("type", 0)
    kinds = device_kinds(value) if value is not None else frozenset({"unknown"})
    if "cuda" in kinds:
        machine.recorder.gpu_named(machine.document)
    numbered = len(arguments.values()) > 1 or arguments.open
    basis = device_basis(value) if value is not None else PROVEN
    return Device(kinds, not numbered and value is not None and is_first(value), basis)


def _factory_place(machine: Machine, name: str, arguments: Arguments) -> Place:
    if name.startswith("torch.cuda."):
        return frozenset({frozenset({"cuda"})})
    if arguments.open and not arguments.sizes_only:
        return SOMEWHERE
    given = arguments.get("device")
    if given is not None and not (isinstance(given, Constant) and given.value is None):
        kinds = device_kinds(given)
        if "cuda" in kinds:
            machine.recorder.gpu_named(machine.document)
        return frozenset({kinds})
    if name in ("torch.as_tensor", "torch.tensor") and arguments.positional:
        source = arguments.positional[0].value
        if name == "torch.as_tensor" and isinstance(source, (Tensor, Unknown)):
            return source.place if isinstance(source, Tensor) else SOMEWHERE
    return machine.frame.default_place


def _is_scalar(name: str, arguments: Arguments) -> bool:
    if name in SHAPED_FACTORIES:
        size = arguments.get("size", 0)
        return isinstance(size, Sequence) and not size.items
    if name not in ("torch.tensor", "torch.as_tensor", "torch.scalar_tensor") or not arguments.positional:
        return False
    return not isinstance(arguments.positional[0].value, (Sequence, Iterated, Tensor, Opaque)) and not isinstance(
        arguments.positional[0].value, type(UNKNOWN)
    )


def _loss_function(machine: Machine, arguments: Arguments, node: cst.Call) -> Value:
    given = tuple(
        ArgumentPlace(one.node.value, one.value, position if isinstance(position, int) else None, keyword)
        for position, keyword, one in (
            *((position, None, one) for position, one in enumerate(arguments.positional)),
            *((None, keyword, one) for keyword, one in arguments.keywords.items()),
        )
        if one.node is not None
    )
    first = given[0].value if given else UNKNOWN
    place = first.place if isinstance(first, Tensor) else SOMEWHERE
    context = ModuleCallContext(
        module=UNKNOWN,
        place=place,
        escaped=False,
        wrapper=None,
        arguments=given,
        loop=machine.frame.batch_loop,
        around=machine.frame.around,
        inner=machine.frame.loop,
        graphs=machine.frame.graphs,
    )
    machine.recorder.module_call(machine.frame, node, True, context)
    basis = first.basis if isinstance(first, Tensor) else PROVEN
    return Tensor(place, scalar=True, grown=machine.grown(node), basis=basis)


def _iterated(machine: Machine, argument: Argument) -> Value:
    return iterated(machine, argument.node.value if argument.node is not None else None, argument.value)


def _pass_through(machine: Machine, name: str, arguments: Arguments) -> Value:
    if not arguments.positional:
        iterable = arguments.keywords.get("iterable")
        return Iterated(element_of(machine, _iterated(machine, iterable))) if iterable is not None else UNKNOWN
    first = _iterated(machine, arguments.positional[0])
    if name == "torch.utils.data.Subset":
        return Opaque(name, (first,))
    if name == "itertools.chain":
        return Iterated(join_all(element_of(machine, _iterated(machine, one)) for one in arguments.positional))
    if isinstance(first, Sequence) and name in ("list", "tuple", "reversed"):
        return first
    return Iterated(element_of(machine, first))


def _map(machine: Machine, arguments: Arguments, node: cst.Call) -> Value:
    if len(arguments.positional) < 2:
        return UNKNOWN
    function = arguments.positional[0].value
    elements = [Argument(element_of(machine, one.value)) for one in arguments.positional[1:]]
    partial = isinstance(function, Opaque) and function.name == "functools.partial"
    origin = function.origin if partial and isinstance(function, Opaque) else None
    if origin is not None and origin.document is machine.document and isinstance(origin.node, cst.Call):
        node = origin.node  # what it is given for all of them stands there
    elif not isinstance(function, (Function, Class, Bound)):
        return UNKNOWN
    return Iterated(machine.call_value(function, Arguments(None, elements), node))
