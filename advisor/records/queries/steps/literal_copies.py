"""Tensors of literals that each step makes on the host and copies to the GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Call, Method, calls
from accel_advisor.records.queries.destinations import reaches_gpu
from accel_advisor.records.queries.training_loops import runs_often
from accel_advisor.syntax.shapes import dotted, is_written, last_name
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.torch_functions import DEVICE_KINDS
from accel_advisor.values.evidence import Evidence, Ground

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Program
    from accel_advisor.records.given import Given
    from accel_advisor.records.operations import Operation, OperationContext
    from accel_advisor.records.transfers import Transfer

OF_DATA = calls("torch.tensor", "torch.as_tensor")
"""Functions that make a tensor of what they are given."""
OF_LISTS = calls(*(f"torch.{kind}Tensor" for kind in ("", "Float", "Double", "Half", "Long", "Int", "Byte", "Bool")))
"""Constructors that take a number for a size."""
OF_ARRAYS = Call("torch.from_numpy")
_ON_GPU = calls(*(f"torch.cuda.{kind}Tensor" for kind in ("Float", "Double", "Half", "Long", "Int", "Byte", "Bool")))
_LIKE_TENSOR = Method("Tensor", "new_tensor")
_VARIABLE = Call("torch.autograd.Variable")
_DEFAULTS = calls("torch.set_default_tensor_type", "torch.set_default_device")
_ARRAYS = frozenset(f"{numpy}.{name}" for numpy in ("np", "numpy") for name in ("array", "asarray", "float32"))
_WITH_GPU = frozenset({"cuda", "cpu"})
_EXCHANGES = frozenset({"all_reduce", "reduce", "broadcast", "scatter", "reduce_scatter"})
"""Functions by which processes change each other's tensors in place."""
_CHOICES: frozenset[type[cst.CSTNode]] = frozenset({cst.SubscriptElement})
_KEEPS = frozenset({"float", "double", "half", "long", "int", "bool", "view", "reshape", "unsqueeze"})


@dataclass(frozen=True, slots=True)
class LiteralCopy:
    """A tensor of literals that is copied to the GPU again and again.

    Attributes:
        node: the whole expression, up to the move.
        maker: the call that makes the tensor.
        making: what that does.
        basis: what shows that it goes to a GPU.
    """

    node: cst.BaseExpression
    maker: cst.Call
    making: Operation
    basis: Evidence


def literal_copies(facts: Facts) -> Iterator[LiteralCopy]:
    """All such copies of a document that happen in each step or forward pass: first those of tensors that are made on
    the host, then those of numbers that are given to the GPU, each in the order in which they were met."""
    made = {id(one.node): one for one in facts.operations_of(*OF_DATA, *OF_LISTS, OF_ARRAYS) if is_literal(one)}
    for transfer in facts.transfers if made else ():
        call = maker_of(facts, transfer, made)
        factory = made[id(call)] if call is not None else None
        if (
            factory is None
            or not _is_made_often(facts, factory)
            or _is_changed(transfer.statement, transfer.node, factory)
        ):
            continue
        bases = [reaches_gpu(facts, context) for context in transfer.contexts if context.from_host]
        found = [one for one in bases if one is not None]
        if call is not None and found and len(found) == len(transfer.contexts):
            yield LiteralCopy(transfer.node, call, factory, min(found, key=lambda one: len(one.grounds)))
    for factory in (*made.values(), *_given_to_gpu(facts)):
        if not _is_made_often(facts, factory) or _is_changed(factory.statement, factory.node, factory):
            continue
        bases = [_makes_on_gpu(facts, factory, context) for context in factory.contexts]
        found = [one for one in bases if one is not None]
        if found and len(found) == len(factory.contexts) and isinstance(factory.node, cst.Call):
            yield LiteralCopy(factory.node, factory.node, factory, min(found, key=lambda one: len(one.grounds)))


def _given_to_gpu(facts: Facts) -> Iterator[Operation]:
    """The calls that make a tensor of literals and always make it on the GPU, or where another tensor is."""
    for one in facts.operations_of(*_ON_GPU, _LIKE_TENSOR):
        if one.contexts and all(map(_holds_several, one.contexts)):
            yield one


def _makes_on_gpu(facts: Facts, factory: Operation, context: OperationContext) -> Evidence | None:
    """What speaks for numbers that are copied to a GPU where a tensor is made of them; None where nothing does."""
    if factory.does(*_ON_GPU):
        return context.basis
    device, basis = context.given("device"), context.basis
    if factory.does(_LIKE_TENSOR):
        basis |= context.subject.basis
        known, maybe = context.subject.on_accelerator, context.subject.may_be_on_gpu
    elif not _holds_several(context) and not _is_written_array(factory.node):
        return None
    else:
        known = _is_default(facts) if device.absent else "cuda" in device.device_kinds <= _WITH_GPU
        maybe = device.means_device and not device.device_kinds <= DEVICE_KINDS
    if known:
        return basis
    return basis | Evidence.of(Ground.GPU, Ground.MOVE) if maybe and facts.names_gpu_anywhere else None


def _is_default(facts: Facts) -> bool:
    """Whether the program has tensors made on the GPU that are given no device."""
    return any(
        "cuda" in str(one.literal) or "cuda" in one.named or "cuda" in one.device_kinds - {"unknown"}
        for operation in facts.program.operations_of(*_DEFAULTS)
        for context in operation.contexts
        for one in (context.given("t", 0), context.given("device", 0))
    )


def _is_made_often(facts: Facts, factory: Operation) -> bool:
    """Whether each step makes it, and not only where a condition asks for a single number."""
    contexts = factory.contexts
    return all(runs_often(facts, one) for one in contexts) and not any(map(_is_small_choice, contexts))


def maker_of(facts: Facts, transfer: Transfer, made: dict[int, Operation]) -> cst.Call | None:
    """The call that makes what is moved, in the same expression, or under names that nothing else mentions before."""
    fills = frozenset[cst.Call]().union(*(context.moved.fills for context in transfer.contexts))
    found = [made[id(one)] for one in fills if id(one) in made]
    if len(found) == len(fills) == 1 and is_all_that_happens(facts, found, transfer.node):
        return next(iter(fills))
    node: cst.BaseExpression = transfer.node
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        node = node.func.value
        if isinstance(node, cst.Call) and id(node) in made:
            return node
        if isinstance(node, cst.Call) and not (isinstance(node.func, cst.Attribute) and node.func.attr.value in _KEEPS):
            return None
    return None


def _is_changed(statement: cst.CSTNode, made: cst.CSTNode, factory: Operation) -> bool:
    """Whether what is made and bound to a name is changed in place, so that it has to be made again: by an assignment
    to it or to a part of it, by a method that says so, or by processes that add up theirs; by any of its names."""
    around = factory.function or factory.document.tree
    code = factory.document.code
    names = {code(one) for one in _targets(statement, made)}
    if not names:
        return False
    for one in descendants(around, cst.Assign):
        if any(code(part) in names for part in _held(one.value)):
            names |= {code(target.target) for target in one.targets if not isinstance(target.target, cst.Tuple)}
    changing = descendants(around, cst.AugAssign, cst.AssignTarget, cst.Call)
    return any(code(part) in names for one in changing for part in _changed_by(one))


def written_leaves(program: Program) -> frozenset[int]:
    """What is wrapped to ask for a gradient of its own and written into later, by identity: made on the device it would
    be a leaf there, which nothing may write into."""
    wraps = [one for one in program.operations_of(_VARIABLE) if not one.lacks("requires_grad", 1)]
    asks = [one for one in wraps if not one.gives("requires_grad", False, 1)]
    nodes = [one.node for one in asks if _is_changed(one.statement, one.node, one)]
    return frozenset(id(one.args[0].value) for one in nodes if isinstance(one, cst.Call) and one.args)


def _targets(statement: cst.CSTNode, made: cst.CSTNode) -> list[cst.BaseExpression]:
    """What a statement binds to what holds a call: of ``a, b = made(), other()`` the first."""
    if isinstance(statement, cst.AnnAssign):
        return [statement.target]
    found: list[cst.BaseExpression] = []
    for bound in statement.targets if isinstance(statement, cst.Assign) else ():
        target: cst.BaseExpression = bound.target
        value = statement.value if isinstance(statement, cst.Assign) else target
        while isinstance(target, (cst.Tuple, cst.List)) and isinstance(value, (cst.Tuple, cst.List)):
            pairs = zip(target.elements, value.elements, strict=False)
            apart = len(target.elements) == len(value.elements)
            pair = next((each for each in pairs if any(one is made for one in descendants(each[1]))), None)
            if pair is None or not apart:
                break
            target, value = pair[0].value, pair[1].value
        found += [one.value for one in target.elements] if isinstance(target, (cst.Tuple, cst.List)) else [target]
    return found


def _held(value: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What another name holds as it is, or in a list: ``a`` and ``b`` of ``[a, b]``."""
    held = [one.value for one in value.elements] if isinstance(value, (cst.Tuple, cst.List)) else [value]
    return [one for one in held if isinstance(one, (cst.Name, cst.Attribute, cst.Subscript))]


def _changed_by(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """What an assignment or a call changes in place: ``x[0].data`` and all that this is a part of."""
    changed: list[cst.BaseExpression] = []
    if isinstance(node, cst.Call):
        method = last_name(node.func)
        if isinstance(node.func, cst.Attribute) and method.endswith("_") and not method.endswith("__"):
            changed.append(node.func.value)
        if method in _EXCHANGES:
            changed += [arg.value for arg in node.args]
        changed += [arg.value for arg in node.args if arg.keyword is not None and arg.keyword.value == "out"]
    elif isinstance(node, cst.AugAssign):
        changed.append(node.target)
    elif isinstance(node, cst.AssignTarget) and isinstance(node.target, cst.Subscript):
        changed.append(node.target.value)
    for one in changed:
        part = one
        yield part
        while isinstance(part, cst.Subscript) or (isinstance(part, cst.Attribute) and part.attr.value == "data"):
            part = part.value
            yield part


def _is_small_choice(context: OperationContext) -> bool:
    """Whether it is a single number that a condition in the step asks for, as where a sum begins."""
    return context.guarded and "forward" not in context.functions and context.given("data", 0).items is None


def is_literal(operation: Operation) -> bool:
    """Whether a call makes a tensor of numbers that are written out, which wants no gradient."""
    return bool(operation.contexts) and all(_holds_literals(operation, context) for context in operation.contexts)


def _holds_literals(operation: Operation, context: OperationContext) -> bool:
    data = context.given("data", 0)
    if not context.given("requires_grad").absent or (data.items is None and operation.does(*OF_LISTS)):
        return False
    return _is_number(data) or _is_written_array(operation.node)


def _holds_several(context: OperationContext) -> bool:
    """Whether it is a list of numbers, or of such lists, that is written out, and wants no gradient."""
    data = context.given("data", 0)
    return context.given("requires_grad").absent and data.items is not None and _is_number(data)


def _is_number(given: Given) -> bool:
    """Whether a value is a number that is written out, or a list of such."""
    if given.items is not None:
        return bool(given.items) and all(map(_is_number, given.items))
    return isinstance(given.literal, (bool, int, float))


def _is_written_array(call: cst.CSTNode) -> bool:
    """Whether a call is given an array of numpy whose numbers are written out: ``np.array([1, 0]).astype(...)``."""
    node = call.args[0].value if isinstance(call, cst.Call) and call.args else None
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and isinstance(node.func.value, cst.Call):
        node = node.func.value
    made = isinstance(node, cst.Call) and dotted(node.func) in _ARRAYS and bool(node.args)
    return made and isinstance(node, cst.Call) and is_written(node.args[0].value)


def is_all_that_happens(facts: Facts, fills: list[Operation], move: cst.Call) -> bool:
    """Whether what these factories make is moved by the expression that makes it, or by names that nothing else
    mentions before the move, in no loop that begins in between."""
    inside = {id(one) for one in descendants(move, cst.Call)}
    if all(id(one.node) in inside for one in fills):
        return True
    function = fills[0].function
    if isinstance(function, cst.Lambda) or any(one.function is not function for one in fills):
        return False
    if function is None and not all(map(_is_repeated, fills)):
        return False  # what a script makes once, it may use in any way
    around = function or facts.document.tree
    if all(one is not move for one in descendants(around, cst.Call)):
        return False
    span = facts.document.span
    begin, end = min(span(one.node).start.offset for one in fills), span(move).start.offset
    if begin >= end:
        return False
    names, chain = _chain(around, {id(one.node) for one in fills}, move)
    if any(id(one.node) not in chain for one in fills):
        return False
    mentions = (one for one in descendants(around, cst.Name) if one.value in names and id(one) not in chain)
    if any(begin < span(one).start.offset < end for one in mentions):
        return False
    loops = (one for one in descendants(around, cst.For, cst.While) if span(one).start.offset > begin)
    return not any(span(one).start.offset < end < span(one).end.offset for one in loops)


def _is_repeated(operation: Operation) -> bool:
    """Whether each way to it leads through a loop, other than that of a comprehension."""
    around = ([isinstance(loop.node, (cst.For, cst.While)) for loop in one.loops] for one in operation.contexts)
    return all(map(any, around))


def _chain(around: cst.CSTNode, fills: set[int], move: cst.Call) -> tuple[set[str], set[int]]:
    """The names of a function, or of a module, that stand for what these factories make on its way into a move, and all
    nodes of the assignments that make it, and of the move."""
    holding: list[tuple[str, cst.Assign, set[str]]] = []
    holders: set[str] = set()
    for one in descendants(around, cst.Assign):
        target = one.targets[0].target
        if len(one.targets) == 1 and isinstance(target, cst.Name):
            held = _names(one.value) & holders
            if held or any(id(part) in fills for part in descendants(one.value, cst.Call)):
                holding.append((target.value, one, held))
                holders.add(target.value)
    names = _names(move) & holders
    chain = {id(part) for part in descendants(move)}
    for name, one, held in reversed(holding):
        if name in names:
            names |= held
            chain |= {id(part) for part in descendants(one)}
    return names, chain


def _names(node: cst.CSTNode) -> set[str]:
    """The names in an expression, but for those that only choose a part of something: ``n`` of ``x[:n]``."""
    return {one.value for one in descendants(node, cst.Name, but=_CHOICES)}
