"""Gradient scalers: what is called on them, when they are on, and what happens to gradients while they are scaled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from accel_advisor.records.actions import AnyCall, Method, Within, calls, methods
from accel_advisor.records.queries.precision import is_off, is_on

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.given import Given, Module
    from accel_advisor.records.operations import Operation

_CLIPS = calls(*(f"torch.nn.utils.{name}" for name in ("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm")))
_FLOAT16 = frozenset({"torch.float16", "torch.half"})


def _scaler_calls(facts: Facts, method: str) -> list[Operation]:
    """The operations of a document that call this method of a gradient scaler."""
    return [one for one in facts.operations_of(AnyCall(method)) if one.what.owner.endswith("GradScaler")]


def _hands_scaler_over(facts: Facts) -> bool:
    """Whether a gradient scaler is given to something outside of torch, which may scale, unscale or update with it."""
    return facts.does(AnyCall("GradScaler")) and any(
        value.made_by.endswith(".GradScaler")
        for each in facts.program
        for operation in each.operations
        if not operation.does(Within("torch"))
        for context in operation.contexts
        for argument in context.values
        for value in argument.alternatives
    )


def _is_always_on(facts: Facts, method: Operation) -> bool:
    """Whether it is certainly called on a scaler that was made without ``enabled``, or with a literal True."""
    return all(is_on(facts, context.subject) for context in method.contexts)


def certain_steps(facts: Facts) -> list[Operation]:
    """The calls in a document of ``step`` on scalers that are certainly on, and only the program's own."""
    if _hands_scaler_over(facts):
        return []
    return [one for one in _scaler_calls(facts, "step") if _is_always_on(facts, one)]


def unscaled_backwards(facts: Facts, steps: list[Operation]) -> Iterator[tuple[Operation, Operation]]:
    """The backward passes of a document that go with one of some steps of scalers, each with it, where no loss is
    scaled."""
    if facts.does(AnyCall("scale")):
        return
    for backward in facts.operations_of(Method("Tensor", "backward"), Method("?", "backward")):
        step = next((one for one in steps if one.runs_with(backward)), None)
        if step is not None:
            yield backward, step


def needless_scalers(facts: Facts) -> list[Operation]:
    """The calls in a document that make scalers, without ``enabled``, in a program that computes in bfloat16 only."""
    casts, scales = facts.program.operations_of(AnyCall("autocast")), _scaler_calls(facts, "scale")
    bfloat16 = casts and all(one.given("dtype", 1).named == "torch.bfloat16" for one in casts)
    if not bfloat16 or not scales or _hands_scaler_over(facts) or not all(_is_always_on(facts, one) for one in scales):
        return []
    made = facts.operations_of(*calls("torch.amp.GradScaler", "torch.cuda.amp.GradScaler"))
    return [one for one in made if one.lacks("enabled")]


def scaled_clips(facts: Facts) -> Iterator[tuple[Operation, list[Operation]]]:
    """The calls that clip gradients which are still scaled, each with the steps of scalers that follow it."""
    if _hands_scaler_over(facts):
        return
    order = {id(one): at for at, one in enumerate(facts.operations)}
    for clip in facts.operations_of(*_CLIPS):
        at = order[id(clip)]
        scales = [one for one in _scaler_calls(facts, "scale") if order[id(one)] < at and one.runs_with(clip)]
        steps = [one for one in _scaler_calls(facts, "step") if order[id(one)] > at and one.runs_with(clip)]
        steps = [one for one in steps if not _is_switched_off(one)]
        if scales and steps and not _is_unscaled(facts, clip, scales) and not _is_of_another(facts, clip, steps):
            yield clip, steps


def halving_before(facts: Facts, step: Operation) -> Operation | None:
    """The call that made the parameters float16 which an optimizer updates through a scaler."""
    model = step.given("optimizer", 0).argument("params", 0).parameters_of
    if model is None:
        return None
    casts = facts.operations_of(*methods("Module", "half", "float", "to"))
    own = [one for one in casts if all(context.subject.module == model for context in one.contexts)]
    last = own[-1] if own else None
    if last is None or last.guarded or facts.operations.index(last) > facts.operations.index(step):
        return None
    halves = any(last.given("dtype", position).named in _FLOAT16 for position in (0, 1))
    return last if halves or last.what is Method("Module", "half") else None


def _is_switched_off(step: Operation) -> bool:
    return all(is_off(one) for one in (context.subject for context in step.contexts) if one.made_by)


def _is_unscaled(facts: Facts, clip: Operation, scales: list[Operation]) -> bool:
    """Whether what is clipped is, or may be, unscaled: by ``unscale_``, or by a backward pass without the scaler where
    a condition decides about the clip."""
    if any(one.runs_with(clip) for each in facts.program for one in _scaler_calls(each, "unscale_")):
        return True
    if not clip.guarded:
        return False
    backward = [one for one in facts.program.operations_of(AnyCall("backward")) if one.runs_with(clip)]
    return any(all(loss.receiver is not one.node for one in scales) for loss in backward)


def _is_of_another(facts: Facts, clip: Operation, steps: list[Operation]) -> bool:
    """Whether what is clipped may belong to an optimizer that steps beside the scaler's, without the scaler."""
    stepping = facts.program.operations_of(AnyCall("step"))
    beside = [one for one in stepping if one.does(Within("torch.optim")) and one.runs_with(clip)]
    if clip.guarded or not beside or any(one.guarded for one in beside):
        return False
    optimizers = [context.given("optimizer", 0) for one in steps for context in one.contexts]
    scaled = {_owner_of(one.argument("", 0)) for one in optimizers} - {None}
    return any(_owner_of(context.given("parameters", 0)) not in scaled for context in clip.contexts)


def _owner_of(parameters: Given) -> Module | None:
    """The model that parameters belong to, where they are all of a known one."""
    return parameters.parameters_of.plain if parameters.parameters_of is not None else None
