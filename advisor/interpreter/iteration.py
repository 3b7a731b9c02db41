"""What comes out of a value when it is iterated, unpacked or indexed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.arguments import Arguments
from accel_advisor.interpreter.library.unknown_code import escape
from accel_advisor.interpreter.resolution import any_member_of, defined_in, member_of, module_attribute, parts_of
from accel_advisor.records.loaders import loader_of
from accel_advisor.syntax.shapes import dotted
from accel_advisor.tables.known_datasets import TENSOR_DATASET
from accel_advisor.tables.python_functions import PASS_THROUGH
from accel_advisor.tables.torch_modules import CONTAINERS, PARAMETER_GROUP
from accel_advisor.values.evidence import Evidence, Ground
from accel_advisor.values.places import HOST, SOMEWHERE, is_host
from accel_advisor.values.scope import Scope
from accel_advisor.values.store import ANY, ESCAPED, OPEN
from accel_advisor.values.values import (
    ABSENT,
    UNKNOWN,
    Bound,
    Choice,
    Configured,
    Constant,
    Filed,
    Instance,
    Iterated,
    Loader,
    Mapping,
    Method,
    Module,
    Named,
    Opaque,
    Qualified,
    Sequence,
    SourceModule,
    Tensor,
    Unknown,
    Value,
    join,
    join_all,
    named,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine

_OF_ARRAYS = "numpy.generic"
"""What an entry of an array is called that was read from a file: a number, or an array."""
_READ_ARRAYS = frozenset(
    (*(f"numpy.{name}" for name in "load loadtxt genfromtxt fromfile memmap".split()), "scipy.io.loadmat", _OF_ARRAYS)
)
"""Functions whose result is an array, or what a file has in one: nothing of it is on a GPU."""
_ARRAYS = _READ_ARRAYS | {f"numpy.{name}" for name in "array asarray stack vstack hstack concatenate".split()}
"""Functions whose result, and each slice of it, is an array of what they are given."""


def element_of(machine: Machine, value: Value) -> Value:
    """One element of what iterating ``value`` yields."""
    if isinstance(value, Loader):
        return Tensor(value.delivers or HOST, value.call, (), proven=False, basis=value.basis)
    if isinstance(value, Iterated):
        return value.element
    if isinstance(value, Sequence):
        return join_all(value.items)
    if isinstance(value, Tensor):
        return Tensor(value.place, value.loader, (*value.path, ...), _proven(machine, value), basis=value.basis)
    if isinstance(value, Choice):
        # a loader is optional as often as not, and nothing comes out of None
        return join_all(element_of(machine, one) for one in _iterated(value) if not _is_none(one))
    if isinstance(value, Opaque) and value.name == "torch.utils.data.random_split":
        return value
    if isinstance(value, Instance):
        return _iterate_instance(machine, value)
    if isinstance(value, Method) and value.name == "param_groups":
        return Opaque(PARAMETER_GROUP)
    if isinstance(value, Opaque) and value.name in ("module.children", "module.modules", "module.named_children"):
        part = join_all(parts_of(machine, value.arguments[0])) if isinstance(value.arguments[0], Module) else UNKNOWN
        return Sequence((UNKNOWN, part)) if value.name == "module.named_children" else part
    if isinstance(value, Opaque) and value.name in ("module.parameters", "module.named_parameters"):
        one = parameter_of(machine, value.arguments[0])
        return Sequence((UNKNOWN, one)) if value.name == "module.named_parameters" else one
    return part_of(machine, value) if isinstance(value, Module) else UNKNOWN


def parameter_of(machine: Machine, module: Value) -> Tensor:
    """One of a module's parameters: it lives where the module does."""
    known = isinstance(module, Module) and machine.store.get(module, ESCAPED) is None
    return Tensor(machine.place_of(module) if known and isinstance(module, Module) else SOMEWHERE)


def mask_of(owner: Value, index: Value, code: cst.BaseExpression) -> Tensor | None:
    """The mask that something is indexed with; None where it may be none. What a mask indexes is a tensor, and nobody
    takes the first or second part of a tensor by the answer to a comparison."""
    if isinstance(owner, Tensor) and isinstance(index, Unknown) and isinstance(code, cst.Comparison):
        return Tensor(owner.place, proven=False, grown=owner.grown, basis=owner.basis, mask=True)
    masks = isinstance(index, Tensor) and index.mask and isinstance(owner, (Tensor, Unknown))
    return index if masks and isinstance(index, Tensor) else None


def data_of_loss(machine: Machine, code: cst.BaseExpression, value: Value) -> Value:
    """A value; ``loss.data`` without dimensions where a loss is differentiated that is called so."""
    if type(code) is not cst.Attribute or code.attr.value != "data" or not isinstance(value, (Tensor, Unknown)):
        return value
    function = machine.frame.function
    if dotted(code.value) not in machine.losses_in(function.node if function is not None else machine.document.tree):
        return value
    known = value if isinstance(value, Tensor) else Tensor(SOMEWHERE, basis=Evidence.of(Ground.METHOD))
    return replace(known, scalar=True)


def selected(owner: Value) -> Value:
    """What a mask leaves of what it indexes."""
    if not isinstance(owner, Tensor):
        return UNKNOWN
    return Tensor(owner.place, proven=owner.proven, grown=owner.grown, basis=owner.basis)


def some_of(owner: Value) -> Value:
    """What a slice of something is."""
    if isinstance(owner, Opaque) and owner.name == TENSOR_DATASET:
        return Iterated(join_all(owner.arguments))  # a part of each of its tensors
    if isinstance(owner, Opaque) and owner.name in _ARRAYS:
        return Opaque(owner.name)
    return owner if isinstance(owner, (Iterated, Tensor)) or holds_modules(owner) else UNKNOWN


def holds_modules(value: Value) -> bool:
    """Whether a value is a container of modules, such as ``nn.ModuleList``."""
    return isinstance(value, Module) and value.kind in CONTAINERS


def part_of(machine: Machine, module: Module) -> Value:
    """One of the modules in a container of modules: it lives where that one was moved to."""
    parts, place = parts_of(machine, module), machine.place_of(module)
    for one in parts if place not in (HOST, SOMEWHERE) else ():
        if isinstance(one, Module):
            machine.move(one, place)
    return join_all(parts)


def _iterated(value: Choice) -> list[Value]:
    """What of several is iterated: a loader rather than the loaders that a function returns as well."""
    single = any(isinstance(one, Loader) for one in value.options)
    return [one for one in value.options if not (single and isinstance(one, Sequence) and _holds_loaders(one))]


def _holds_loaders(value: Sequence) -> bool:
    return all(isinstance(one, Loader) for one in value.items)


def _is_none(value: Value) -> bool:
    return isinstance(value, Constant) and value.value is None


def _iterate_instance(machine: Machine, value: Instance) -> Value:
    iterator = machine.attribute(value, "__iter__")
    if not isinstance(iterator, Bound):
        return UNKNOWN
    made = _call_method(machine, iterator)
    if isinstance(made, Instance):
        step = machine.attribute(made, "__next__")
        return _call_method(machine, step) if isinstance(step, Bound) else UNKNOWN
    return element_of(machine, made)


def next_of(machine: Machine, value: Value) -> Value:
    """What ``next(value)`` gives: an object of the project that hands out batches need not be iterable itself."""
    if isinstance(value, Choice) and any(isinstance(one, Instance) for one in value.options):
        return join_all(next_of(machine, one) for one in value.options if not _is_none(one))
    step = machine.attribute(value, "__next__") if isinstance(value, Instance) else None
    return _call_method(machine, step) if isinstance(step, Bound) else element_of(machine, value)


def take_from_objects(machine: Machine, iterable: cst.BaseExpression) -> None:
    """Takes an element, in the loop at hand, of each object of the project that ``enumerate`` and its like are given:
    it does its work in the passes of the loop, and not where those are called."""
    if not isinstance(iterable, cst.Call) or not isinstance(iterable.func, (cst.Name, cst.Attribute)):
        return
    callee = machine.evaluate(iterable.func)
    if not isinstance(callee, Qualified) or not (callee.name in PASS_THROUGH or callee.name in ("enumerate", "zip")):
        return
    for arg in iterable.args:
        if isinstance(arg.value, (cst.Name, cst.Attribute)):
            for one in options_of(machine.evaluate(arg.value)):
                if isinstance(one, Instance):
                    _iterate_instance(machine, one)
        else:
            take_from_objects(machine, arg.value)


def _call_method(machine: Machine, method: Bound) -> Value:
    return machine.call_function(method.function, Arguments(None), None, method.receiver)


def element_at(machine: Machine, value: Value, key: object, count: int | None = None) -> Value:
    """What unpacking or indexing ``value`` at ``key`` gives; ``count`` is the number of targets when unpacking."""
    if isinstance(value, Sequence):
        if (
            isinstance(key, int)
            and (count is None or count == len(value.items))
            and -len(value.items) <= key < len(value.items)
        ):
            return value.items[key]
        return join_all(value.items) if count is None else UNKNOWN
    if isinstance(value, Tensor):
        proven = _proven(machine, value)
        return Tensor(
            value.place,
            value.loader,
            (*value.path, key),
            proven,
            born=value.born,
            grown=value.grown,
            pending=value.pending,
            recast=value.recast,
            basis=value.basis,
        )
    if isinstance(value, Iterated):
        return value.element
    if isinstance(value, Mapping):
        return _entry(machine, value, key)
    if isinstance(value, Filed):
        return value.at(key) if isinstance(key, (str, int)) else UNKNOWN
    if isinstance(value, Method) and value.name == "__dict__" and (modules := modules_of(value.receiver)):
        found = [
            module_attribute(machine, one, key) if isinstance(key, str) else defined_in(machine, one) for one in modules
        ]
        return found[0] if len(found) == 1 else named(found)
    if isinstance(value, Qualified) and value.name.endswith(".__dict__"):
        library = Qualified(value.name.removesuffix(".__dict__"))
        return member_of(machine, library, key) if isinstance(key, str) else any_member_of(library)
    if isinstance(value, Qualified) and value.name == "os.environ" and isinstance(key, str):
        return Configured(UNKNOWN, (), key)
    if isinstance(value, Choice):
        # what is taken apart into so many names is what has as many parts, where one of them does, or a batch
        parts: list[Value] = [one for one in value.options if isinstance(one, Sequence) and len(one.items) == count]
        parts += [one for one in value.options if isinstance(one, Tensor) and one.loader is not None and parts]
        return join_all(element_at(machine, one, key, count) for one in parts or value.options if not _is_none(one))
    if isinstance(value, Opaque) and value.name == "torch.utils.data.random_split":
        return Opaque("torch.utils.data.Subset", value.arguments[:1])
    if isinstance(value, Opaque) and value.name == "torch.load":
        return value  # a part of a checkpoint
    if isinstance(value, Opaque) and value.name in _READ_ARRAYS:
        return Opaque(_OF_ARRAYS)
    if isinstance(value, Opaque) and value.name == PARAMETER_GROUP and key == "params":
        return Iterated(Tensor(SOMEWHERE, proven=False, basis=Evidence.of(Ground.METHOD)))
    if isinstance(value, Method) and value.name == "param_groups":
        return Opaque(PARAMETER_GROUP)
    if isinstance(value, Loader) and count is not None:
        return element_of(machine, value)
    return part_of(machine, value) if isinstance(value, Module) else UNKNOWN


def concatenated(machine: Machine, left: Sequence | Iterated, right: Value) -> Value:
    """What ``left + right`` is of lists."""
    if isinstance(left, Sequence) and isinstance(right, Sequence):
        return Sequence(left.items + right.items)
    return Iterated(join(element_of(machine, left), element_of(machine, right)))


def modules_of(value: Value) -> list[Scope]:
    """The globals of the modules of the project that a value is one of."""
    options = value.options if isinstance(value, Named) else (value,)
    return [one.scope for one in options if isinstance(one, SourceModule)]


def _entry(machine: Machine, mapping: Mapping, key: object) -> Value:
    if isinstance(key, (str, int)):
        value = machine.store.get(mapping, key)
        if value is not None:
            return present(value)
    loaders: list[Value] = []
    everything = machine.store.entries(mapping).values()
    for held in everything:
        if isinstance(held, Module):
            # it may be this one, or another
            escape(machine, held)
        elif any(isinstance(one, Loader) for one in options_of(held)):
            loaders.append(held)
    found = present(machine.store.get(mapping, ANY) or UNKNOWN)
    tensors = bool(everything) and all(isinstance(each, Tensor) for one in everything for each in options_of(one))
    if tensors and isinstance(found, Unknown) and not isinstance(key, (str, int)):
        return join_all(everything)  # it is one of them
    if not loaders or isinstance(key, (str, int)):
        callables = named([found] if isinstance(key, (str, int)) else everything)
        return found if isinstance(callables, Unknown) else callables
    # whichever it is: what else the dict holds under other keys is no loader, and is not iterated as one
    return join_all(loaders if isinstance(found, Unknown) else (*loaders, found))


def present(value: Value) -> Value:
    """What comes out of a dict where it may have been put in on some paths only: there it is, or nothing comes out."""
    options = options_of(value)
    return join_all(one for one in options if one != ABSENT) if ABSENT in options else value


def entries(machine: Machine, mapping: Mapping) -> tuple[dict[str, Value], bool]:
    """The entries of a dict under keys that are strings, and whether it may hold others."""
    held = machine.store.entries(mapping)
    known = {key: value for key, value in held.items() if isinstance(key, str) and key not in (OPEN, ANY)}
    unsure = OPEN in held or ANY in held
    return known, unsure


def _proven(machine: Machine, batch: Tensor) -> bool:
    """Whether an element of a batch is certainly a plain tensor.

    The default collate function raises for classes that it does not know and keeps mappings as they are, so an
    element that is used as a tensor is one, unless the data set yields mappings of its own.
    """
    loader = loader_of(batch)
    if loader is None:
        return batch.proven and not is_host(batch.place) and batch.place != SOMEWHERE
    if loader.opaque:
        return False
    collate = loader.get("collate_fn")
    default = isinstance(collate, Constant) and collate.value is None
    if not (collate == ABSENT or default):
        return False
    return machine.dataset(loader).plain
