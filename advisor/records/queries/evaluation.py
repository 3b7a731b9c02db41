"""Loops that evaluate a model: what shows it, and what wants gradients of what they compute."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from accel_advisor.records.actions import AnyCall, AnySets, Call, any_calls, calls, within

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.given import Given
    from accel_advisor.records.operations import Operation, OperationContext
    from accel_advisor.records.transfers import ModuleCallContext

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_EVALUATES = frozenset("eval evaluate evaluation val valid validate validation test".split())
_DIFFERENTIATES = frozenset(
    (
        "train training fit attack adversarial adv fgsm pgd perturb saliency explain attribute maml meta penalty grad "
        "gradcam cam gradient gradients tta adapt adaptation export onnx"
    ).split()
)
_SETS_RECORDING = calls("torch.set_grad_enabled", "torch.autograd.set_grad_enabled")
_SWITCHES = any_calls("eval", "train")
_BACKWARD, _GRAD = AnyCall("backward"), Call("torch.autograd.grad")
_FREEZES = (AnySets("requires_grad"), AnyCall("requires_grad_"))
_GRADIENTS = (
    *_FREEZES,
    *calls("torch.autograd.grad", "torch.autograd.backward"),
    *within("torch.func", "torch.autograd.functional"),
)
_EXPORTS = within("torch.onnx", "torch.export")


def evaluations_with_graphs(facts: Facts) -> Iterator[Loop]:
    """The loops of a document that evaluate a model while autograd records for nothing: the first of each function, and
    each one outside of functions."""
    if facts.does(*_SETS_RECORDING):
        return
    seen: set[int] = set()
    for loop in facts.loops:
        if not (loop.loaders and loop.graphs) or loop.graph_free or loop.backward or id(loop.function) in seen:
            continue
        if _evaluates(facts, loop) and not _needs_gradients(facts, loop):
            if loop.function is not None:
                seen.add(id(loop.function))
            yield loop


def _evaluates(facts: Facts, loop: Loop) -> bool:
    """Whether a loop over a loader evaluates a model: the model was put in evaluation mode, the function does so before
    the loop, or is named for it and trains nothing."""
    words = _words(loop.functions[-1]) if loop.functions else frozenset[str]()
    if words & _DIFFERENTIATES:
        return False
    contexts = _model_calls(facts, loop)
    if any(context.evaluating for context in contexts):
        return True
    learning = any(outer.backward for outer in loop.outer)
    return _is_put_in_evaluation(facts, loop) or bool(contexts and words & _EVALUATES and not learning)


def _needs_gradients(facts: Facts, loop: Loop) -> bool:
    """Whether something may want gradients of what a loop computes: a backward pass may start from it, it takes some
    itself, an export traces it, or a framework runs it."""
    if (facts.does(*_FREEZES) and not facts.trains) or _is_learnt_from(facts, loop):
        return True
    for operation in (operation for one in facts.program for operation in one.operations):
        inside = any(loop in context.loops for context in operation.contexts)
        if inside and (operation.framework or operation.does(*_GRADIENTS) or operation.gives("requires_grad", True)):
            return True
        beside = loop.functions and any(context.functions == loop.functions for context in operation.contexts)
        if beside and operation.does(*_EXPORTS):
            return True
    return any(
        call.framework and context.loop is loop
        for one in facts.program
        for call in one.module_calls
        for context in call.contexts
    )


def _model_calls(facts: Facts, loop: Loop) -> list[ModuleCallContext]:
    """The calls of models with state on the batches of a loop."""
    return [
        context
        for one in facts.program
        for call in one.module_calls
        for context in call.contexts
        if not call.loss and context.loop is loop and context.model is not None and context.model.has_state
    ]


def _is_put_in_evaluation(facts: Facts, loop: Loop) -> bool:
    """Whether the function of a loop puts a model in evaluation mode before it, and not in training mode again."""
    start, evaluating = facts.document.span(loop.node).start.offset, False
    for operation in facts.operations_of(*_SWITCHES):
        here = any(context.functions == loop.functions for context in operation.contexts)
        if here and facts.document.span(operation.node).start.offset < start:
            evaluating = operation.what.name == "eval" or operation.gives("mode", False, 0)
    return evaluating


def _is_learnt_from(facts: Facts, loop: Loop) -> bool:
    """Whether what the loop computes reaches a backward pass, or a ``forward`` differentiates by itself."""
    computed = {
        call.node
        for one in facts.program
        for call in one.module_calls
        if any(context.loop is loop for context in call.contexts)
    }
    for operation in facts.program.operations_of(_BACKWARD, _GRAD):
        if operation.what is _GRAD and any("forward" in context.functions for context in operation.contexts):
            return True
        for context in operation.contexts:
            losses = _losses(operation, context)
            if any(value.graph & computed for value in losses):
                return True
            if not any(_is_explained(facts, value) for value in losses) and _happens_around(context, loop):
                return True
    return False


def _losses(operation: Operation, context: OperationContext) -> list[Given]:
    """What a backward pass may start from."""
    backward = operation.does(_BACKWARD)
    given: Iterable[Given] = (context.subject, *context.values) if backward else context.values[:1]
    return [one for one in given if one.is_tensor]


def _is_explained(facts: Facts, loss: Given) -> bool:
    """Whether the calls of models are known that a loss was computed by."""
    made = [call for one in facts.program for call in one.module_calls if call.node in loss.graph]
    inputs = [argument.given for call in made if call.loss for one in call.contexts for argument in one.arguments[:1]]
    return bool(made) and all(one.is_tensor and _is_explained(facts, one) for one in inputs)


def _happens_around(context: OperationContext, loop: Loop) -> bool:
    """Whether it happens in the function that runs a loop, or in one that calls that, as often as the loop begins: so
    that it may be given what the loop computes."""
    above = context.functions == loop.functions[: len(context.functions)]
    return above and all(one in loop.outer for one in context.loops)


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORDS.findall(name))
