"""Tensors that are filled on the host and moved before anything else happens to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Call, Method, calls, methods
from accel_advisor.records.queries.evaluations.evaluating_options import is_for_evaluations
from accel_advisor.records.queries.steps.literal_copies import (
    OF_DATA,
    OF_LISTS,
    is_all_that_happens,
    is_literal,
    written_leaves,
)
from accel_advisor.records.queries.steps.training_steps import happens_apart
from accel_advisor.records.queries.training_loops import basis_of_often, happens_often
from accel_advisor.syntax.shapes import defined_in, dotted, mentioned_in, named_parameters, positional_parameters
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.torch_functions import WINDOWS
from accel_advisor.values.evidence import Evidence, Ground
from accel_advisor.values.places import HOST

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.given import Given
    from accel_advisor.records.operations import Operation, OperationContext
    from accel_advisor.records.transfers import Transfer, TransferContext

_EXACT = calls("torch.zeros", "torch.ones", "torch.full", "torch.empty", "torch.eye", "torch.tril_indices")
_RANDOM = calls("torch.rand", "torch.randn", "torch.randint", "torch.randperm")
_OF_SIZES = calls("torch.zeros", "torch.ones", "torch.empty", "torch.rand", "torch.randn")
_STEPPED = calls("torch.arange", "torch.linspace", "torch.logspace")
_WINDOWS = calls(*WINDOWS)
_UNWANTED = ("device", "out", "generator", "pin_memory", "requires_grad")
_MOVES = methods("Tensor", "to", "cuda")
_TYPE_AS, _TO, _NEW_TENSOR = Method("Tensor", "type_as"), Method("Tensor", "to"), Method("Tensor", "new_tensor")
_DTYPES = {
    f"{name}Tensor": f"torch.{dtype}"
    for name, dtype in {
        "Long": "long",
        "Int": "int",
        "Short": "short",
        "Char": "int8",
        "Byte": "uint8",
        "Bool": "bool",
        "Double": "double",
        "Half": "half",
    }.items()
}
_FOLLOWED = frozenset({"device", "is_cuda", "new_tensor", "type"})
_RARE = re.compile(r"main|init|build|load|demo|predict|infer|sample|generat|visual|plot|show|export|test|reset|setup")
"""What functions are called that run once, or apart from the training."""
_LARGE = 3
"""Sizes from which on a tensor has as many numbers as a batch of samples, and not a few for each."""
_FEW = 16
"""Below that, a size makes no tensor large."""
_ROWS = frozenset({"arange", "range", "linspace", "logspace", "randperm"})
_OF_SIZE = frozenset({"zeros", "ones", "empty", "full", "rand", "randn", "randint"})
_SHAPES = re.compile(r"(?:shape|(?<!batch_)(?<!sample_)size|sizes|dims)$")
_OVERWRITES = methods("Tensor", "fill_", "zero_", "uniform_", "normal_", "random_", "exponential_", "bernoulli_")


@dataclass(frozen=True, slots=True)
class FilledThenMoved:
    """A move of a tensor that the factory before it could have filled where it goes.

    Attributes:
        node: the move.
        call: the call of the factory.
        filling: what that does.
        device: the code of the device, for a fix; empty where it is not known, or is not all that changes.
        remedy: what to do with the factory.
        often: whether it happens at every step.
        apart: whether that is no step of a training.
        slight: whether that is no step at all, one that trains nothing, in which the copy is small, or a branch that
            only evaluations ask for.
        few: whether it has one number for each sample or the like: it has one dimension, beside small ones.
        basis: what shows that.
        same: whether the device would fill it with the same numbers.
        helper: the move in a function of the program that ``node`` hands it to, if that moves it.
        evaluates: whether it stands in a branch for evaluation, so that no step of a training comes there.
    """

    node: cst.Call
    call: cst.Call
    filling: Operation
    device: str
    remedy: str
    often: bool
    basis: Evidence
    same: bool
    apart: bool
    slight: bool
    few: bool
    helper: Transfer | None = None
    evaluates: bool = False


def filled_then_moved(facts: Facts) -> Iterator[FilledThenMoved]:
    """All such moves of a document, in the order in which they were met: first those to a device, then those to where
    another tensor is."""
    made = _made(facts)
    if not made:
        return
    literals = {one.node: one for one in facts.operations_of(*OF_DATA, *OF_LISTS) if is_literal(one)}
    moves = {one.node: one for one in facts.operations_of(*_MOVES)}
    for transfer in facts.transfers:
        if not _moves(transfer):
            continue
        fills = _fills([context.moved for context in transfer.contexts], made, literals)
        if fills and is_all_that_happens(facts, fills, transfer.node):
            func = transfer.node.func
            at_once = isinstance(func, cst.Attribute) and func.value is fills[0].node
            known = at_once or not any(one.guarded for one in transfer.contexts)
            device = _device(transfer) if known else ""
            casts = any(one.casts for one in transfer.contexts)
            keywords = f"device={device or '...'}, dtype=..." if casts else f"device={device or '...'}"
            move, at_once = moves.get(transfer.node), at_once and not casts
            yield _found(facts, transfer.node, fills, move, device if at_once else "", keywords)
    for operation in facts.operations_of(_TYPE_AS, _TO, _NEW_TENSOR):
        node = operation.node
        moved = [_moved_to_other(facts, operation, context) for context in operation.contexts]
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and None not in moved:
            fills = _fills([one for one in moved if one is not None], made, literals)
            if fills and is_all_that_happens(facts, fills, node):
                named = node.func.value if operation.does(_NEW_TENSOR) else node.args[0].value
                other = facts.document.code(named)
                yield _found(facts, node, fills, operation, "", f"device={other}.device, dtype={other}.dtype")
    yield from _moved_by_helpers(facts, made)


def _moved_by_helpers(facts: Facts, made: dict[cst.CSTNode, Operation]) -> Iterator[FilledThenMoved]:
    """Those that a function of the program moves for its callers, at the calls that hand it what a factory makes."""
    helpers: dict[cst.CSTNode, Transfer] = {}
    for transfer in (transfer for one in facts.program for transfer in one.transfers):
        if transfer.method not in ("to", "cuda") or transfer.discarded or not _is_of_name(transfer.node):
            continue
        for moved in (context.moved for context in transfer.contexts if _goes_to_device(context)):
            helpers |= {node: transfer for node in moved.fills if len(moved.fills) == 1 and node in made}
    around = {id(made[node].function): made[node].function or facts.document.tree for node in helpers}
    handed = {key: _handing(facts, scope) for key, scope in around.items()}
    for node, transfer in helpers.items():
        factory = made[node]
        calls = handed[id(factory.function)]
        for call, moves in (*calls.get(id(node), ()), *calls.get(_bound(factory), ())):
            if id(transfer.node) in moves and is_all_that_happens(facts, [factory], call):
                yield replace(_found(facts, call, [factory], None, "", "device=..."), helper=transfer)
                break


def _is_of_name(move: cst.Call) -> bool:
    return isinstance(move.func, cst.Attribute) and isinstance(move.func.value, cst.Name)


def _bound(factory: Operation) -> str:
    """The name that what a factory makes is bound to at once; empty for none."""
    statement = factory.statement
    return dotted(statement.targets[0].target) if isinstance(statement, cst.Assign) else ""


def _handing(facts: Facts, scope: cst.CSTNode) -> dict[int | str, list[tuple[cst.Call, frozenset[int]]]]:
    """The calls of a function, or of a module, that hand something to a function which moves it as it is, with its
    moves: by what is handed over, a name or the calls that make it."""
    found: dict[int | str, list[tuple[cst.Call, frozenset[int]]]] = {}
    for call in descendants(scope, cst.Call):
        called = facts.call_graph.called_from(call)
        moves = frozenset[int]().union(*map(_moves_of_parameters, called))
        for arg in call.args if moves else ():
            keys: list[int | str] = [dotted(arg.value)] if isinstance(arg.value, cst.Name) else []
            keys += [id(part) for part in descendants(arg.value, cst.Call)]
            for key in keys:
                found.setdefault(key, []).append((call, moves))
    return found


@lru_cache(maxsize=1024)
def _moves_of_parameters(function: cst.CSTNode) -> frozenset[int]:
    """The calls of methods, by identity, by which a function may move what it is given as it is: ``x.cuda()`` in
    ``def to_gpu(x)``."""
    if not isinstance(function, cst.FunctionDef):
        return frozenset()
    given = {one.name.value for one in positional_parameters(function.params)}
    calls = (one for one in descendants(function, cst.Call) if _is_of_name(one))
    return frozenset(
        id(one) for one in calls if isinstance(one.func, cst.Attribute) and dotted(one.func.value) in given
    )


def _made(facts: Facts) -> dict[cst.CSTNode, Operation]:
    """The calls of factories, and of old constructors with sizes, that could make their tensors on any device."""
    made = {one.node: one for one in facts.operations_of(*_EXACT, *_RANDOM, *_STEPPED, *_WINDOWS)}
    constructors = facts.operations_of(*OF_LISTS)
    if constructors:
        overwrites = (one.node for one in facts.operations_of(*_OVERWRITES))
        emptied = {
            id(one.func.value)
            for one in overwrites
            if isinstance(one, cst.Call) and isinstance(one.func, cst.Attribute)
        }
        sized = (one for one in constructors if id(one.node) in emptied or _takes_sizes(one) or _counts_up(one))
        made |= {one.node: one for one in sized}
    leaves = facts.program.once(written_leaves)
    return {node: one for node, one in made.items() if _is_plain(one) and not _is_empty(one) and id(node) not in leaves}


def _found(
    facts: Facts, node: cst.Call, fills: list[Operation], move: Operation | None, device: str, keywords: str
) -> FilledThenMoved:
    all_of_it = [*fills, *([] if move is None else [move])]
    often, basis = happens_often(facts, *all_of_it), basis_of_often(facts, *all_of_it)
    if not often and _helps(facts, fills[0]):
        often, basis = True, Evidence.of(Ground.HELPER)
    assert isinstance(fills[0].node, cst.Call)
    old = fills[0].does(*OF_LISTS)  # its tensors are on the host wherever others are
    typed = f"dtype={dtype}, {keywords}" if (dtype := _dtype(fills[0])) and "dtype=" not in keywords else keywords
    maker, then = ("arange", "") if _counts_up(fills[0]) else ("empty", ", and fill it there")
    remedy = f"make it with `torch.{maker}(..., {typed})`{then}" if old else f"pass `{keywords}` to it"
    same, asked = all(map(_fills_the_same, fills)), is_for_evaluations(fills[0])
    evaluates = asked or _only_evaluates(fills[0])
    apart = evaluates or happens_apart(facts, *fills)
    loops = {context.loop for context in fills[0].contexts}
    slight = asked or (apart and ((None in loops and not evaluates) or len(fills[0].node.args) < _LARGE))
    call, filling = fills[0].node, fills[0]
    sizes = slight, isinstance(call, cst.Call) and _is_moved_alone(node, filling) and _is_vector(call)
    return FilledThenMoved(node, call, filling, device, remedy, often, basis, same, apart, *sizes, evaluates=evaluates)


def _only_evaluates(factory: Operation) -> bool:
    """Whether it stands in a branch for evaluation: the other one of ``if self.training:``."""
    return all(any(one.evaluates for one in context.conditions) for context in factory.contexts)


def _helps(facts: Facts, factory: Operation) -> bool:
    """Whether it happens in a function that the program names but is not seen to call, such as a loss that a setting
    chooses, beside no training, and goes where a tensor is that the function is given: what a program calls once is
    seldom given tensors."""
    function = factory.function
    if not isinstance(function, cst.FunctionDef) or not all(one.functions for one in factory.contexts):
        return False
    if not _is_named(facts, function.name.value) or any(loop.learns for loop in facts.loops):
        return False
    if any(_RARE.search(name) for one in factory.contexts for name in one.functions):
        return False
    given = function.params
    names = {one.name.value for one in named_parameters(given)} - {"self", "cls"}
    parts = descendants(function, cst.Attribute)
    followed = any(one.attr.value in _FOLLOWED and dotted(one.value) in names for one in parts)
    return followed and facts.call_graph.begins_unseen(function)


def _is_named(facts: Facts, name: str) -> bool:
    """Whether a program names a function of a document other than where it defines it: in the document itself, where
    others of its functions have that name, too."""
    documents = [one.document for one in facts.program]
    alone = sum(one.once(defined_in)[name] for one in documents) == 1
    return any(one.once(mentioned_in)[name] for one in (documents if alone else [facts.document]))


def _dtype(factory: Operation) -> str:
    """What an old constructor is called after, where that is not the default type."""
    return _DTYPES.get(factory.what.full.rpartition(".")[2], "")


def _device(transfer: Transfer) -> str:
    if transfer.method == "type":
        return ""
    if transfer.device is not None:
        return transfer.document.code(transfer.device)
    return "" if transfer.node.args else '"cuda"'


def _fills(
    moved: list[Given], made: dict[cst.CSTNode, Operation], literals: dict[cst.CSTNode, Operation]
) -> list[Operation]:
    """The factories of what is moved, and then the literals in it, where these alone made it in all contexts; empty
    otherwise."""
    fills = frozenset[cst.CSTNode]().union(*(one.fills for one in moved))
    if not all(one.fills for one in moved) or not all(one in made or one in literals for one in fills):
        return []
    found = [one for node, one in made.items() if node in fills]
    return [*found, *(one for node, one in literals.items() if node in fills and node not in made)] if found else []


def _moves(transfer: Transfer) -> bool:
    if transfer.method not in ("to", "cuda", "type") or not transfer.contexts or transfer.discarded:
        return False  # what is thrown away was made to start CUDA, or to measure it
    if transfer.method == "type":
        return all(context.from_host and _types_for_gpu(context) for context in transfer.contexts)
    return all(map(_goes_to_device, transfer.contexts))


def _goes_to_device(context: TransferContext) -> bool:
    return context.from_host and context.kinds != {"cpu"} and context.device.means_device


def _types_for_gpu(context: TransferContext) -> bool:
    """Whether a tensor is given a type of tensors on the GPU, or that of a tensor which may be there."""
    return context.to_cuda or (context.device.made_by == "Tensor.type" and context.kinds != {"cpu"})


def _moved_to_other(facts: Facts, operation: Operation, context: OperationContext) -> Given | None:
    """The tensor on the host that is moved to where another one is, which may be on a GPU; None where that may be
    otherwise."""
    subject, given = context.subject, context.given("other", 0)
    moved, other = (given, subject) if operation.does(_NEW_TENSOR) else (subject, given)
    if not moved.on_host or (other.unknown and operation.does(_TO)):
        return None
    if other.unknown:
        return moved if facts.names_gpu_anywhere else None
    follows = other.may_be_on_gpu and not other.on_host
    return moved if follows and (other.on_accelerator or not _runs_on_host(facts, context)) else None


def _runs_on_host(facts: Facts, context: OperationContext) -> bool:
    """Whether the loops around something call a model that is on the host, and nothing of the program, nor a framework,
    is for a GPU, or for a device of which nothing is known."""
    program = facts.program
    if facts.names_gpu_anywhere or facts.frameworks - program.on_host or program.moves_somewhere:
        return False
    called = [one for loop in context.loops if loop.learns for _, one in program.calls_in.get(loop, ())]
    return bool(called) and all(one.place == HOST for one in called)


def _is_plain(factory: Operation) -> bool:
    """Whether it is certainly given none of what a tensor on a device would not have, or not so."""
    args = factory.node.args if isinstance(factory.node, cst.Call) else ()
    unseen = any(one.star == "**" for one in args) or not any(one.star for one in args)
    seen = {one.keyword.value for one in args if one.keyword is not None}
    names = [name for name in _UNWANTED if unseen or name in seen]
    given = [context.given(name) for context in factory.contexts for name in names]
    return all(one.absent or one.literal is False for one in given)


def _is_empty(factory: Operation) -> bool:
    """Whether it makes a tensor without elements, of which nothing is copied."""
    if not factory.does(*_OF_SIZES):
        return False
    sizes = [[*one.positional, *(one.given("size", 0).items or ())] for one in factory.contexts]
    return all(any(type(size.literal) is int and size.literal == 0 for size in one) for one in sizes)


def _is_moved_alone(move: cst.Call, filling: Operation) -> bool:
    """Whether nothing is computed between what fills a tensor and what moves it."""
    moved = move.func.value if isinstance(move.func, cst.Attribute) else None
    return moved is filling.node or (isinstance(moved, cst.Name) and bool(filling.targets))


def _is_vector(factory: cst.Call) -> bool:
    """Whether what is filled has one dimension beside small ones, by what the call is given."""
    name = dotted(factory.func).rpartition(".")[2]
    given = [one.value for one in factory.args if one.keyword is None]
    if name in _ROWS:
        return True
    if name not in _OF_SIZE or not given or any(one.star for one in factory.args):
        return False
    listed = next((one for one in given if isinstance(one, (cst.Tuple, cst.List))), None)
    sizes = given[:1] if name == "full" else given
    sizes = [one.value for one in listed.elements] if listed is not None else sizes
    large = [one for one in sizes if not (isinstance(one, cst.Integer) and one.evaluated_value < _FEW)]
    return len(large) <= 1 and all(map(_is_number, large))


def _is_number(size: cst.BaseExpression) -> bool:
    """Whether an expression is one size, and not the shape of something: ``n``, ``x.size(0)``, ``x.shape[0]``."""
    if isinstance(size, cst.Call):
        return bool(size.args) or not _SHAPES.search(dotted(size.func))
    return not isinstance(size, cst.StarredElement) and not _SHAPES.search(dotted(size))


def _takes_sizes(constructor: Operation) -> bool:
    """Whether an old constructor is given sizes, and no data."""
    args = constructor.node.args if isinstance(constructor.node, cst.Call) else ()
    whole = all(type(context.given("size", 0).literal) is int for context in constructor.contexts)
    return len(args) > 1 or (len(args) == 1 and (bool(args[0].star) or whole))


def _counts_up(constructor: Operation) -> bool:
    """Whether an old constructor is given a range of numbers."""
    args = constructor.node.args if isinstance(constructor.node, cst.Call) else ()
    return len(args) == 1 and isinstance(args[0].value, cst.Call) and dotted(args[0].value.func) == "range"


def _fills_the_same(factory: Operation) -> bool:
    return factory.does(*_EXACT, *OF_DATA) or (
        factory.what is Call("torch.arange") and all(map(_counts, factory.contexts))
    )


def _counts(context: OperationContext) -> bool:
    return all(type(one.literal) is int for one in context.values)
