"""What the host keeps unchanged and copies to the GPU in each step all the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Method, methods
from accel_advisor.records.queries.destinations import reaches_gpu
from accel_advisor.records.queries.steps.literal_copies import OF_ARRAYS, OF_DATA, OF_LISTS, is_literal, maker_of
from accel_advisor.records.queries.training_loops import happens_often, runs_often
from accel_advisor.syntax.shapes import (
    dotted,
    methods_of,
    named_parameters,
    names_bound_in,
    names_read_in,
    positional_parameters,
    self_attribute,
)
from accel_advisor.syntax.variation import bindings
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.evidence import PROVEN, Evidence

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.given import Given
    from accel_advisor.records.operations import Operation, OperationContext

_MOVES = methods("Tensor", "to", "cuda", "type_as")
_BINDS = (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For, cst.NamedExpr, cst.Del)
_VIEWS = frozenset(
    "clone contiguous detach double expand float half long permute repeat reshape squeeze transpose unsqueeze"
    " view".split()
)
"""Methods that make of a tensor another one with the same numbers."""
_DEEPEST = 8
"""Operators and calls of an expression that are looked through."""


@dataclass(frozen=True, slots=True)
class SettledCopy:
    """A copy to the GPU, in each step, of what does not change.

    Attributes:
        node: the whole expression, up to the move.
        source: what is copied, which the host keeps.
        operation: what makes a tensor of it, or moves it.
        basis: what shows that it goes to a GPU.
        chosen: whether another branch of ``__init__`` makes a parameter of it, which is moved with its module.
    """

    node: cst.Call
    source: cst.BaseExpression
    operation: Operation
    basis: Evidence
    chosen: bool = False


def settled_copies(facts: Facts) -> Iterator[SettledCopy]:
    """The copies of a document, in each step or forward pass, of tensors that attributes keep, and of arrays and lists
    that attributes, constants of the module or a configuration keep, in the order in which they were met."""
    yield from _kept_tensors(facts)
    operations = facts.operations_of(OF_ARRAYS, *OF_DATA, *OF_LISTS)
    made = {id(one.node): one for one in operations if copies_data(one) or _copies_constant(one)}
    moved: dict[int, tuple[cst.Call, Evidence]] = {}
    for transfer in facts.transfers if made else ():
        call = maker_of(facts, transfer, made)
        bases = [reaches_gpu(facts, context) for context in transfer.contexts]
        found = [one for one in bases if one is not None]
        if call is not None and found:
            moved[id(call)] = transfer.node, min(found, key=lambda one: len(one.grounds))
    for key, operation in made.items():
        node = operation.node
        if not isinstance(node, cst.Call) or not happens_often(facts, operation):
            continue
        at, basis = moved.get(key, (node, PROVEN))
        source = _data(node)
        if source is None or not (key in moved or any(map(_is_made_on_gpu, operation.contexts))):
            continue
        if _is_settled(facts, operation.function, source, _DEEPEST) and not is_literal(operation):
            yield SettledCopy(at, source, operation, basis)


def _kept_tensors(facts: Facts) -> Iterator[SettledCopy]:
    """The copies of tensors on the host that an attribute keeps, in ``forward``."""
    for operation in facts.operations_of(*_MOVES):
        node, function = operation.node, operation.function
        held = _kept(operation.receiver)
        if held is None or not isinstance(node, cst.Call):
            continue
        contexts = operation.contexts
        steps = [one for one in contexts if "forward" in one.functions and runs_often(facts, one)]
        moves = steps and all(_is_on_host(one.subject) and _goes_to_gpu(operation, one) for one in contexts)
        if moves and _is_settled(facts, function, held, _DEEPEST):
            chosen = not all(one.subject.on_host for one in contexts)
            yield SettledCopy(node, held, operation, PROVEN, chosen)


def _kept(node: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """The attribute of which an expression is another view, a copy or a slice; None where it is none."""
    while node is not None and self_attribute(node) is None:
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _VIEWS:
            node = node.func.value
        elif isinstance(node, cst.Subscript) and all(isinstance(one.slice, cst.Slice) for one in node.slice):
            node = node.value
        else:
            return None
    return node


def _is_on_host(tensor: Given) -> bool:
    return tensor.on_host or tensor.may_be_left_behind


def _goes_to_gpu(operation: Operation, context: OperationContext) -> bool:
    other = context.given("other" if operation.does(Method("Tensor", "type_as")) else "device", 0)
    if operation.does(Method("Tensor", "cuda")):
        return True
    return other.may_be_on_gpu if other.is_tensor else other.means_device and other.device_kinds != {"cpu"}


def copies_data(operation: Operation) -> bool:
    """Whether it makes a tensor of an array or a list, and of no other tensor, that wants no gradient."""
    return all(
        context.given("requires_grad").absent and _holds_data(operation, context.given("data", 0))
        for context in operation.contexts
    )


def _holds_data(operation: Operation, data: Given) -> bool:
    if operation.does(OF_ARRAYS):
        return True  # which raises for a tensor
    options = data.alternatives
    if any(one.is_tensor for one in options):
        return False
    several = any(
        one.items is not None or not one.element.absent or one.made_by.startswith("numpy.") for one in options
    )
    return several or (operation.does(*OF_LISTS) and data.unknown)


def _copies_constant(operation: Operation) -> bool:
    """Whether it makes a tensor, which wants no gradient, of a constant of a library: those are numbers
    (``timm.data.IMAGENET_DEFAULT_MEAN``) and no tensors."""
    given = [(one.given("data", 0).named, one.given("requires_grad")) for one in operation.contexts]
    return bool(given) and all(name.rpartition(".")[2].isupper() and wants.absent for name, wants in given)


def _data(call: cst.Call) -> cst.BaseExpression | None:
    first = call.args[0] if call.args else None
    return first.value if first is not None and not first.star and len(call.args) >= 1 else None


def _is_made_on_gpu(context: OperationContext) -> bool:
    device = context.given("device")
    return not device.absent and device.means_device and not device.device_kinds <= {"cpu", "unknown"}


# -- what does not change


def _is_settled(facts: Facts, function: cst.CSTNode | None, node: cst.BaseExpression, depth: int) -> bool:
    """Whether an expression has the same value in each step: an attribute that only ``__init__`` sets, a constant of
    the module, an entry of a configuration, or what is computed of these alone."""
    if depth == 0:
        return False
    if isinstance(node, (cst.Integer, cst.Float, cst.SimpleString)):
        return True
    if isinstance(node, cst.BinaryOperation):
        return all(_is_settled(facts, function, one, depth - 1) for one in (node.left, node.right))
    if isinstance(node, cst.Call):
        return (
            bool(node.args)
            and dotted(node.func).startswith(("np.", "numpy.", "math."))
            and ".random." not in dotted(node.func)
            and all(_is_settled(facts, function, one.value, depth - 1) for one in node.args)
        )
    name = dotted(node)
    root = name.partition(".")[0]
    if not name or not isinstance(function, cst.FunctionDef):
        return bool(name) and _is_constant(facts, name)
    if root == "self":
        return isinstance(node, cst.Attribute) and _is_set_once(facts, function, name)
    if root in _parameters(function):
        return name == root and _is_always_given_settled(facts, function, name, depth)
    return _is_constant(facts, name) and root not in names_bound_in(function.body)


def _is_constant(facts: Facts, name: str) -> bool:
    """Whether a name is, as its capitals say, a constant that the module or its configuration sets once."""
    last = name.rpartition(".")[2]
    return last.isupper() and len(bindings(facts.document.tree).get(name, [])) <= 1


def _is_set_once(facts: Facts, function: cst.FunctionDef, name: str) -> bool:
    """Whether only ``__init__`` sets an attribute, in the class that a method belongs to."""
    attribute = ".".join(name.split(".")[:2])
    for cls in descendants(facts.document.tree, cst.ClassDef):
        found = methods_of(cls)
        if any(one is function for one in found.values()):
            setting = [key for key, one in found.items() if _may_set(one, attribute)]
            return setting == ["__init__"] and function is not found["__init__"]
    return False


def _may_set(method: cst.FunctionDef, attribute: str) -> bool:
    """Whether a method binds an attribute, or stores something in it, or calls for what may change it."""
    found = descendants(method.body, *_BINDS)
    if any(isinstance(one, _BINDS) and attribute in names_read_in(one.target) for one in found):
        return True
    calls = (one.value for one in descendants(method.body, cst.Expr) if isinstance(one.value, cst.Call))
    return any(
        dotted(call.func).startswith(f"{attribute}.") or any(dotted(arg.value) == attribute for arg in call.args)
        for call in calls
    )


def _parameters(function: cst.FunctionDef) -> set[str]:
    given = function.params
    return {one.name.value for one in named_parameters(given)}


def _is_always_given_settled(facts: Facts, function: cst.FunctionDef, name: str, depth: int) -> bool:
    """Whether most calls of a function, in its own file, give a parameter what does not change."""
    names = [one.name.value for one in positional_parameters(function.params)]
    settled = other = 0
    for around in descendants(facts.document.tree, cst.FunctionDef):
        for call in descendants(around.body, cst.Call, but=frozenset({cst.FunctionDef})):
            if not isinstance(call.func, cst.Name) or call.func.value != function.name.value:
                continue
            given = [one.value for one in call.args if one.keyword is not None and one.keyword.value == name]
            given += [one.value for at, one in enumerate(call.args) if not one.keyword and names[at : at + 1] == [name]]
            if given and _is_settled(facts, around, given[0], depth - 1):
                settled += 1
            else:
                other += 1
    return settled > other
