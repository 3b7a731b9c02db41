"""What the host waits for the GPU at, in each step of a training: reading a tensor that is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Act, Action, AnyCall, Call, Method, any_calls, calls, methods
from accel_advisor.records.clock import CLOCKS
from accel_advisor.records.queries.evaluation import only_differentiates
from accel_advisor.records.queries.evaluations.explaining_loops import explains_there
from accel_advisor.records.queries.old_torch import first_is_a_value
from accel_advisor.records.queries.steps.accumulation import StepConditions
from accel_advisor.records.queries.steps.step_values import (
    WRITES,
    guards_step,
    happens_for_each,
    is_checked,
    is_drawn,
    is_on_host,
    is_reduced,
    reads_one_of_many,
    reads_own_state,
    reads_parameter,
    used_now_and_then,
)
from accel_advisor.records.queries.steps.training_steps import one_step_each, training_loop
from accel_advisor.records.queries.waits.acting_loops import acting_loops, happens_in_learning
from accel_advisor.records.queries.waits.forward_options import is_left_as_it_is
from accel_advisor.records.queries.waits.host_training import loops_on_host
from accel_advisor.records.queries.waits.host_work import (
    is_answer_for_host_work,
    is_given_to_a_model,
    is_of_a_copy,
    is_worked_on,
    picks_alike,
    sends_back,
)
from accel_advisor.records.queries.waits.step_waits import MANY, LoopWaits, Need, Wait
from accel_advisor.records.queries.waits.waits_beside import happens_always, waits_beside
from accel_advisor.syntax.model_names import calls_of_backward
from accel_advisor.syntax.shapes import (
    dotted,
    keywords_of,
    named_parameters,
    names_bound_in,
    names_read_in,
    slices_of,
)
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.evidence import Evidence, Ground

if TYPE_CHECKING:
    from accel_advisor.records.conditions import Condition
    from accel_advisor.records.facts import Facts, Loop, Program
    from accel_advisor.records.given import Given
    from accel_advisor.records.operations import Operation, OperationContext
    from accel_advisor.source.document import Document

_OF_SUBJECT = (
    *methods("Tensor", "item", "tolist", "cpu", "numpy", "nonzero", "unique", "masked_select"),
    *(Act.INDEXES_BY_MASK, Act.INDEXES_BY_NUMBER, Act.READS_FIRST, Act.TRUTH, Act.FORMATS),
)
"""Operations that read what they are called on: its values, or how many of them there are."""
_LEVELS = ("info", "warning", "error")
_SHOWS = (
    *calls("float", "int", "print"),
    *calls(*(f"logging.{level}" for level in _LEVELS)),
    *methods("logging.getLogger", *_LEVELS),
)
_MATHS = ("isnan", "isfinite", "isinf", "sqrt", "exp", "log", "log2", "log10", "pow", "ceil", "floor")
_NUMBERS = calls(*(f"math.{name}" for name in _MATHS[3:]))
_COMPARES = calls("min", "max")
_CLAMPS = {Method("Tensor", "clamp"): 0, Method("Tensor", "clamp_"): 0, Call("torch.clamp"): 1}
"""Where the bounds stand: a tensor beside a number has to become one."""
_ADDS = methods("Tensor", "add", "add_", "sub", "sub_")
_FAILS = (
    *calls(*(f"torch.linalg.{name}" for name in ("cholesky", "inv", "ldl_factor", "lu_factor", "solve"))),
    *(Call("torch.inverse"), Method("Tensor", "inverse")),
)
"""Functions that ask the GPU whether they failed; each has a twin that does not. Source: their notes in torch's
documentation."""
_OF_ARGUMENTS = (
    *_SHOWS,
    WRITES,
    *calls("bool", "range", *(f"math.{name}" for name in _MATHS)),
    *calls("torch.nonzero", "torch.argwhere", "torch.unique", "torch.masked_select"),
)
_SIZED = (
    *methods("Tensor", "nonzero", "unique", "masked_select"),
    *calls("torch.nonzero", "torch.argwhere", "torch.unique", "torch.masked_select", "torch.where"),
    Act.INDEXES_BY_MASK,
)
"""Operations whose result is as large as the values say."""
_ASKS = (Act.TRUTH, *calls("bool", "math.isnan", "math.isfinite", "math.isinf"))
_REPEATS: dict[Action, int] = {Call("torch.repeat_interleave"): 1, Method("Tensor", "repeat_interleave"): 0}
"""Where the counts stand that are added up on the host, unless ``output_size`` says what they come to."""
_TAKE_SIZES = (
    *calls(*(f"torch.{name}" for name in "arange zeros ones empty full rand randn randint eye randperm".split())),
    *methods("Tensor", "new_zeros", "new_ones", "new_empty", "new_full", "expand", "repeat"),
)
"""What makes a tensor of a size: as Python's own number, for which a tensor has to be read."""
_NUMPY = Method("Tensor", "numpy")
_TO, _WHERE = Method("Tensor", "to"), Call("torch.where")
_OF_TENSORS = methods("Tensor", "item", "tolist", "cpu")
_COPIES = (*methods("Tensor", "tolist", "cpu", "numpy"), *methods("?", "cpu"))
_OF_UNKNOWN = methods("?", "item", "cpu")
"""Methods that only tensors have."""
_ITEM = AnyCall("item")
_HOST_LIBRARIES = ("numpy", "pandas", "polars", "scipy", "sklearn", "jax", "tensorflow", "Tensor.numpy")
"""What makes objects with an ``item`` of its own."""
_WAITING = (
    *_OF_SUBJECT,
    *_OF_ARGUMENTS,
    *_REPEATS,
    *_TAKE_SIZES,
    _TO,
    _WHERE,
    *_OF_UNKNOWN,
    _ITEM,
    *_COMPARES,
    *_CLAMPS,
    *_ADDS,
    *_FAILS,
)
READINGS = (*CLOCKS, *any_calls("process_time"), Call("datetime.datetime.now"))
"""Functions that read a clock."""


_EYES = re.compile(r"(?:^|_)(?:visuali[sz]e|viz|plot|draw|debug)(?:_|$)", re.IGNORECASE)
"""Names of functions that make pictures, or look for faults."""


def waits_of_each_step(facts: Facts) -> Iterator[LoopWaits]:
    """Where a document makes each step of a training loop wait for the GPU; nothing where the loop gives
    an optimizer a closure, as LBFGS needs, which has to know the values, nor of questions alone without which steps go
    wrong; nor, where it steps an environment, of what decides on its actions, or of values alone that it reads where it
    learns."""
    found = facts.once(_waits)
    acting = acting_loops(facts, found)
    for loop, waits in found.items():
        if only_differentiates(facts.program, loop) or _gives_closures(loop) or all(one.guards for one in waits):
            continue
        if loop in acting:
            waits = [one for one in waits if happens_in_learning(facts, loop, one.operation)]
            if all(one.need is Need.VALUES for one in waits):
                continue  # the next action waits for whatever comes last
        waits.sort(key=partial(_order, facts.document, loop))
        told = LoopWaits(loop, tuple(waits_beside(facts, loop, waits, facts.program.once(_needed).get(loop, ()))))
        if told.count >= MANY or not loop.goes_over_epochs:
            yield told


def reads_beside(facts: Facts, call: Operation) -> Iterator[cst.CSTNode]:
    """What a document reads in the steps of a loop that would wait if this synchronization did not."""
    for told in waits_of_each_step(facts):
        yield from (one.operation.node for one in told.waits if one.beside is call)


def _waits(facts: Facts) -> dict[Loop, list[Wait]]:
    """Where a document makes each step of a loop wait, in no order."""
    found: dict[Loop, list[Wait]] = {}
    for operation, loop, basis in _at_every_step(facts, gpu_of(facts)):
        late, checks = used_now_and_then(loop, operation), is_checked(loop, operation)
        each, guards = happens_for_each(loop, operation), guards_step(loop, operation)
        need = _need(facts, loop, operation)
        found.setdefault(loop, []).append(Wait(operation, need, basis, late, checks, each, guards))
    return found


def _needed(program: Program) -> dict[Loop, list[Operation]]:
    """What each loop waits for in each pass because the step cannot do without the values, whatever options say."""
    found: dict[Loop, list[Operation]] = {}
    for facts in program:
        for loop, waits in facts.once(_waits).items():
            needed = [one.operation for one in waits if one.guards or one.need is Need.HOST]
            found.setdefault(loop, []).extend(
                one for one in needed if any(happens_always(context, loop) for context in one.contexts)
            )
    return found


def _gives_closures(loop: Loop) -> bool:
    """Whether a loop hands an optimizer a function that it defines, which computes the loss as often as that asks, and
    never lets it step without one."""
    defined = {one.name.value for one in descendants(loop.node, cst.FunctionDef)}
    steps = [one for one in descendants(loop.node, cst.Call) if dotted(one.func).endswith(".step")]
    asking = {dotted(one.func) for one in steps if any(dotted(arg.value) in defined for arg in one.args)}
    return bool(asking) and not any(dotted(one.func) in asking for one in steps if not one.args)


def reads_in_each_pass(facts: Facts, loop: Loop) -> bool:
    """Whether each pass of a loop, whatever it is for, waits for values of tensors that are on a GPU."""
    gpu = gpu_of(facts)
    return gpu is not None and any(
        loop in context.loops and not context.is_skipped_in(loop) and read_on_gpu(facts, one, context, gpu) is not None
        for one in facts.program.operations_of(*_WAITING)
        for context in one.contexts
    )


def _need(facts: Facts, loop: Loop, operation: Operation) -> Need:
    if operation.what in _REPEATS:
        return Need.COUNTS
    if not operation.does(*_SIZED) and reads_own_state(operation):
        return Need.STATE
    if operation.does(*_TAKE_SIZES) or (operation.does(Act.INDEXES_BY_NUMBER) and _slices(operation.node)):
        return Need.BOUND
    if operation.does(Act.INDEXES_BY_NUMBER, Call("range"), *_COMPARES, *_CLAMPS, *_ADDS, *_NUMBERS):
        return Need.NUMBER
    if operation.does(*_ASKS):
        return Need.HOST if is_answer_for_host_work(facts, loop, operation, _COPIES) else Need.ANSWER
    if operation.does(*_FAILS):
        return Need.FAILURE
    if operation.does(*_SIZED):
        if picks_alike(operation):
            return Need.EVEN
        return Need.PART if is_given_to_a_model(facts, operation) else Need.SIZE
    if operation.does(*_COPIES) and sends_back(operation):
        return Need.HOST
    inside = all("forward" in one.functions for one in operation.contexts) and not _learns(operation)
    several = operation.does(*_COPIES) or reads_one_of_many(operation)
    if several and not (inside and reads_parameter(operation)) and is_worked_on(facts, loop, operation):
        return Need.FORWARD if is_of_a_copy(facts, operation) else Need.HOST
    return _need_of_forward(loop, operation) if inside else Need.VALUES


def _slices(node: cst.CSTNode) -> bool:
    """Whether something is cut off at one end at least: ``x[:n]``, and not ``x[:, n]``."""
    return any(one.lower or one.upper for one in slices_of(node))


def _need_of_forward(loop: Loop, operation: Operation) -> Need:
    """Of values that a ``forward`` goes on with, and that may be no part of a batch."""
    if is_drawn(operation):
        again = any(loop in one.loops and one.inner is not loop for one in operation.contexts)
        return Need.DRAWN_EACH if again else Need.DRAWN
    return Need.REDUCED if is_reduced(operation) else Need.FORWARD


def _learns(operation: Operation) -> bool:
    """Whether the function around an operation computes gradients itself: the ``forward`` of a trainer."""
    return operation.function is not None and any(calls_of_backward(operation.function))


def _order(document: Document, loop: Loop, wait: Wait) -> tuple[bool, bool, bool, int]:
    """Where a wait stands among the others: those in the text of the loop first, and last what the host has to know."""
    node = wait.operation.node
    return wait.guards, wait.need is Need.HOST, not loop.holds(document, node), document.span(node).start.offset


def gpu_of(facts: Facts) -> Evidence | None:
    """What shows that the program runs on a GPU; None where nothing does."""
    if facts.names_gpu_anywhere:
        return Evidence.of(Ground.GPU)
    return Evidence.of(Ground.MOVES) if facts.program.moves_somewhere else None


def _at_every_step(facts: Facts, gpu: Evidence | None) -> Iterator[tuple[Operation, Loop, Evidence]]:
    """The operations that wait, the loop that does them in each of its passes, and what shows it: branches that all
    wait make each pass wait."""
    sides: dict[tuple[Loop, Condition], list[tuple[Operation, Evidence]]] = {}
    steps = facts.program.once(StepConditions)
    epochs = facts.program.once(one_step_each)
    unasked = partial(is_left_as_it_is, facts.program)
    for operation in facts.operations_of(*_WAITING):
        for context in operation.contexts:
            if operation.framework and "forward" not in context.functions:
                continue  # in the hooks of a framework, other rules look
            shown = context.basis if gpu is None and Ground.OPTIMIZER in context.basis.grounds else gpu
            if shown is None:
                continue  # an optimizer is for whoever trains, and most do so on a GPU
            loop = training_loop(context, epochs=epochs)
            basis = read_on_gpu(facts, operation, context, shown) if loop is not None else None
            if loop is None or basis is None or (not basis.proven and _is_on_host(facts, loop, operation)):
                continue
            if is_for_eyes(context) or explains_there(facts.program, context, loop):
                continue
            if any(one.on_host for one in context.conditions):
                continue
            if _is_off_unless_asked(operation, context) or any(map(unasked, context.conditions)):
                continue  # nobody is seen to ask for it
            told = Ground.METHOD not in basis.grounds or context.subject.is_tensor
            if not told and any(one.asks_type for one in context.conditions):
                continue  # it takes tensors and other things, and nothing says which it gets here
            basis |= context.basis
            if not context.spares_passes_of(loop, steps.shared_with(context, loop)):
                yield operation, loop, basis
                break
            side = context.alternative_in(loop)
            if side is not None:
                sides.setdefault((loop, side), []).append((operation, basis))
                break
    for (loop, side), found in sides.items():
        chosen = (one.branch for other, one in sides if other is loop and one.node is side.node)
        taken = {branch for branch in chosen if branch is not None}
        if len(taken) == side.branches:
            yield from ((operation, loop, basis) for operation, basis in found)


def _is_off_unless_asked(operation: Operation, context: OperationContext) -> bool:
    """Whether a ``forward``, or a function that it defines, does it only where it is given an option."""
    if context.functions == ("forward",):
        return any(one.off_unless_asked for one in context.conditions)
    inner = operation.function
    around = operation.document.once(_forwards_around).get(id(inner))
    if len(context.functions) != 2 or around is None or not isinstance(inner, cst.FunctionDef):
        return False
    own = {one.name.value for one in named_parameters(inner.params)} | names_bound_in(inner.body)
    beside = [one for one in context.conditions if one.test is not None and own.isdisjoint(names_read_in(one.test))]
    return any(one.function in (inner, around) and one.is_off_unless_asked(around) for one in beside)


def _forwards_around(tree: cst.Module) -> dict[int, cst.FunctionDef]:
    """The ``forward`` that each function is defined in which one defines."""
    forwards = [one for one in descendants(tree, cst.FunctionDef) if one.name.value == "forward"]
    return {id(inner): one for one in forwards for inner in descendants(one.body, cst.FunctionDef)}


def _is_on_host(facts: Facts, loop: Loop, operation: Operation) -> bool:
    """Whether an operation reads what is on the host, as the program says, or because its loop trains there."""
    return loop in facts.program.once(loops_on_host) or is_on_host(facts, loop, operation)


def is_for_eyes(context: OperationContext) -> bool:
    """Whether a function around an operation is named for what it shows to people, who do not look at every step."""
    return any(map(_EYES.search, context.functions))


def read_on_gpu(facts: Facts, operation: Operation, context: OperationContext, gpu: Evidence) -> Evidence | None:
    """What shows that an operation reads a tensor on the GPU; None where nothing does."""
    subject = context.subject
    if operation.does(Act.READS_FIRST) and not first_is_a_value(facts):
        return None
    if operation.does(_ITEM) and context.positional:
        return None  # only arrays have an `item` that takes an index
    if operation.does(*_OF_UNKNOWN):
        return gpu | Evidence.of(Ground.METHOD) if subject.unknown or subject.attribute else None
    if operation.does(_ITEM) and subject.made_by and not subject.made_by.startswith(_HOST_LIBRARIES):
        return gpu | Evidence.of(Ground.METHOD)
    read = _read(operation, context)
    for one in read:
        if one.on_accelerator:
            return one.basis
    for one in () if operation.what is _NUMPY else read:  # which raises for what is not on the host
        if not one.may_be_on_gpu or _is_made_anywhere(one) or facts.inputs.may_be_on_host(one.place):
            continue
        if Ground.INPUTS in one.basis.grounds and not operation.does(*_OF_TENSORS):
            continue  # what an unknown function returns may be a number
        if not facts.inputs.is_tensor(one.place) and not operation.does(*_OF_TENSORS, Act.INDEXES_BY_MASK):
            continue  # so may what a `forward` is given
        if one.is_condition or not operation.does(Act.TRUTH):
            return one.basis | gpu
    return None


def _is_made_anywhere(given: Given) -> bool:
    """Whether a factory of the program made it that is given no device."""
    if given.born is None:
        return False
    return "device" not in keywords_of(given.born.node)


def _read(operation: Operation, context: OperationContext) -> tuple[Given, ...]:
    """What an operation reads, if it is a tensor."""
    if operation.does(*_OF_SUBJECT) or (operation.what is _TO and _goes_to_host(context)):
        return (context.subject,)
    if operation.does(*_FAILS):
        return (context.given("A", 0) if context.subject.absent else context.subject,)
    if operation.does(*_OF_ARGUMENTS) or (operation.what is _WHERE and len(context.arguments) == 1):
        return context.values
    if operation.what in _REPEATS and context.given("output_size").absent:
        return (context.given("repeats", _REPEATS[operation.what]),)
    if operation.does(*_TAKE_SIZES):
        return tuple(each for one in context.positional for each in one.items or (one,))
    if operation.does(*_COMPARES):
        return context.values if len(context.values) > 1 else _compared(context)
    if operation.what in _CLAMPS:
        at = _CLAMPS[operation.what]
        bounds = context.given("min", at), context.given("max", at + 1)
        return bounds if any(isinstance(one.literal, (int, float)) for one in bounds) else ()
    if operation.does(*_ADDS):
        return (context.positional[0] if len(context.positional) > 1 else context.given("alpha"),)
    return ()


def _compared(context: OperationContext) -> tuple[Given, ...]:
    """What a list holds whose items are compared one by one: no single one."""
    held = [one.items if one.items is not None else (one.element, one.element) for one in context.positional]
    return tuple(each for items in held if len(items) > 1 for each in items)


def _goes_to_host(context: OperationContext) -> bool:
    return context.given("device", 0).device_kinds == {"cpu"} and context.given("non_blocking").absent
