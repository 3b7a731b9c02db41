"""What the host waits for the GPU at: reading a tensor that is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Act, Action, AnyCall, Call, Method, Within, calls, methods

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.given import Given
    from accel_advisor.records.operations import Operation, OperationContext

_OF_SUBJECT = (
    *methods("Tensor", "item", "tolist", "cpu", "numpy", "nonzero", "unique", "masked_select"),
    *(Act.INDEXES_BY_MASK, Act.TRUTH, Act.FORMATS),
)
"""Operations that read what they are called on: its values, or how many of them there are."""
_LEVELS = ("info", "warning", "error")
_OF_ARGUMENTS = (
    *calls("float", "int", "bool", "print", "math.isnan", "math.isfinite", "math.isinf"),
    *calls("torch.nonzero", "torch.argwhere", "torch.unique", "torch.masked_select"),
    *calls(*(f"logging.{level}" for level in _LEVELS)),
    *methods("logging.getLogger", *_LEVELS),
)
_REPEATS: dict[Action, int] = {Call("torch.repeat_interleave"): 1, Method("Tensor", "repeat_interleave"): 0}
"""Where the counts stand that are added up on the host, unless ``output_size`` says what they come to."""
_TO, _WHERE = Method("Tensor", "to"), Call("torch.where")


def waiting_operations(facts: Facts) -> list[Operation]:
    """The operations of a document that may wait for the GPU, for :func:`waits`."""
    return facts.operations_of(*_OF_SUBJECT, *_OF_ARGUMENTS, *_REPEATS, _TO, _WHERE)


def waits(operation: Operation, context: OperationContext) -> bool:
    """Whether one of :func:`waiting_operations` certainly reads a tensor on the GPU."""
    read: tuple[Given, ...] = ()
    if operation.does(*_OF_SUBJECT) or (operation.what is _TO and _goes_to_host(context)):
        read = (context.subject,)
    elif operation.does(*_OF_ARGUMENTS) or (operation.what is _WHERE and len(context.arguments) == 1):
        read = context.values
    elif operation.what in _REPEATS and context.given("output_size").absent:
        read = (context.given("repeats", _REPEATS[operation.what]),)
    return any(one.on_accelerator for one in read)


def waits_of_each_step(facts: Facts) -> list[list[Operation]]:
    """The operations of a document that certainly wait for the GPU at every step, by training loop; none where the loop
    steps an environment, or the optimizer is LBFGS, which have to know the values."""
    if facts.does(Call("torch.optim.LBFGS")):
        return []
    waiting: dict[Loop, list[Operation]] = {}
    for operation in waiting_operations(facts):
        loops = {context.loop for context in operation.contexts}
        loop = loops.pop() if len(loops) == 1 else None
        if loop is None or not loop.backward or operation.framework or not operation.at_every_step:
            continue
        if all(waits(operation, context) for context in operation.contexts):
            waiting.setdefault(loop, []).append(operation)
    steps = facts.operations_of(AnyCall("step")) if waiting else []
    acting = {context.loop for one in steps if _acts(one) for context in one.contexts}
    return [found for loop, found in waiting.items() if loop not in acting]


def _acts(operation: Operation) -> bool:
    """Whether an operation is a step of an environment, by what it gives: state, reward, whether it ends..."""
    if operation.does(Within("torch")):
        return False
    statement = operation.statement
    targets = [one.target for one in statement.targets] if isinstance(statement, cst.Assign) else []
    return any(isinstance(one, cst.Tuple) and len(one.elements) > 2 for one in targets)


def _goes_to_host(context: OperationContext) -> bool:
    return context.given("device", 0).device_kinds == {"cpu"} and context.given("non_blocking").absent
