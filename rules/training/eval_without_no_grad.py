"""ACC401."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from accel_advisor.editing.edits import indentation_at, insert_after, newline_of
from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.facts import Facts, Loop
from accel_advisor.records.operations import Operation, OperationContext
from accel_advisor.rule import Rule
from accel_advisor.values.values import Module, Tensor

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_EVALUATES = frozenset("eval evaluate evaluation val valid validate validation test".split())
_DIFFERENTIATES = frozenset(
    (
        "train training fit attack adversarial adv fgsm pgd perturb saliency explain attribute maml meta penalty grad "
        "gradcam cam gradient gradients tta adapt adaptation export onnx"
    ).split()
)
_GRADIENTS = (".requires_grad_", ".requires_grad =", "torch.autograd.grad", "torch.autograd.backward")
_DERIVATIVES = ("torch.func.", "torch.autograd.functional.")
_EXPORTS = ("torch.onnx.", "torch.export.")


class EvalWithoutNoGrad(Rule):
    """A model is evaluated while autograd records everything that it computes.

    What it does
        Finds loops over a DataLoader that call a model, never call `backward()`, are clearly an evaluation (the model
        is in `eval()` mode, or the function is named for it), and run under neither `torch.no_grad()` nor
        `torch.inference_mode()`, in themselves or in their callers.

    Why it costs time
        Every activation is kept for a backward pass that never comes: memory that would allow far larger batches, and
        the time to build the graph. A loss that is summed up without `.item()` keeps the graphs of all batches.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2)
        loader = DataLoader(TensorDataset(torch.zeros(64, 8)))

        def evaluate():
            model.eval()
            total = 0.0
            for (x,) in loader:
                total += float(model(x).sum())
            return total

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2)
        loader = DataLoader(TensorDataset(torch.zeros(64, 8)))

        @torch.no_grad()
        def evaluate():
            model.eval()
            total = 0.0
            for (x,) in loader:
                total += float(model(x).sum())
            return total

    When to ignore it
        Where gradients with respect to the input are taken by code that the rule cannot see, or the function returns
        what such code differentiates. It is silent beside `autograd.grad`, `torch.func` and `requires_grad`, where a
        backward pass in the code that calls the evaluation may start from its result, in names of adversarial,
        meta-learning and test-time adaptation, in functions that export a model, in the hooks of frameworks, and in
        programs that call `torch.set_grad_enabled`.

    Fix safety
        Unsafe: what the function returns has no gradient any more. `torch.inference_mode()` is not used: its tensors
        raise when they are saved for a backward pass later. No fix is made for a function that also trains.

    References
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#disable-gradient-calculation-for-validation-or-inference
    """

    code = "ACC401"
    name = "eval-without-no-grad"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each function once, at its first such loop, and each such loop outside of functions."""
        if facts.does("torch.set_grad_enabled", "torch.autograd.set_grad_enabled"):
            return
        seen: set[int] = set()
        for loop in facts.loops:
            if not (loop.loaders and loop.graphs) or loop.graph_free or loop.backward or id(loop.function) in seen:
                continue
            if self._evaluates(facts, loop) and not self._needs_gradients(facts, loop):
                if loop.function is not None:
                    seen.add(id(loop.function))
                yield self._report(facts, loop)

    def _evaluates(self, facts: Facts, loop: Loop) -> bool:
        words = _words(loop.functions[-1]) if loop.functions else frozenset()
        if words & _DIFFERENTIATES:
            return False
        contexts = [
            context
            for one in facts.program
            for call in one.module_calls
            for context in call.contexts
            if not call.loss
            and context.loop is loop
            and isinstance(context.module, Module)
            and context.module.has_state
        ]
        if any(context.evaluating for context in contexts):
            return True
        learning = any(outer.backward for outer in _outer(loop))
        return self._mode(facts, loop) == "eval" or bool(contexts and words & _EVALUATES and not learning)

    def _mode(self, facts: Facts, loop: Loop) -> str | None:
        """The mode that the function puts a model into before the loop, where it does."""
        start, mode = facts.document.span(loop.node).start.offset, None
        for operation in facts.operations:
            if not operation.name.endswith((".eval", ".train")):
                continue
            here = any(context.functions == loop.functions for context in operation.contexts)
            if here and facts.document.span(operation.node).start.offset < start:
                stays = operation.name.endswith(".eval") or operation.gives("mode", False, 0)
                mode = "eval" if stays else "train"
        return mode

    def _needs_gradients(self, facts: Facts, loop: Loop) -> bool:
        frozen = facts.does(".requires_grad =", ".requires_grad_")
        if (frozen and not facts.trains) or self._is_learnt_from(facts, loop):
            return True
        for operation in (operation for one in facts.program for operation in one.operations):
            inside = any(loop in context.loops for context in operation.contexts)
            if inside and (operation.framework or _differentiates(operation)):
                return True
            beside = loop.functions and any(context.functions == loop.functions for context in operation.contexts)
            if beside and operation.name.startswith(_EXPORTS):
                return True
        return any(
            call.framework and context.loop is loop
            for one in facts.program
            for call in one.module_calls
            for context in call.contexts
        )

    def _is_learnt_from(self, facts: Facts, loop: Loop) -> bool:
        """Whether what the loop computes reaches a backward pass, or a ``forward`` differentiates by itself."""
        calls = {
            call.node
            for one in facts.program
            for call in one.module_calls
            if any(context.loop is loop for context in call.contexts)
        }
        for operation in (operation for one in facts.program for operation in one.operations):
            inside = any("forward" in context.functions for context in operation.contexts)
            if operation.name == "torch.autograd.grad" and inside:
                return True
            if not operation.name.endswith((".backward", "torch.autograd.grad")):
                continue
            for context in operation.contexts:
                given = [argument.value for _, argument in context.arguments]
                losses = [context.receiver, *given] if operation.name.endswith(".backward") else given[:1]
                if any(isinstance(value, Tensor) and value.grown & calls for value in losses):
                    return True
                seen = any(isinstance(value, Tensor) and _is_explained(facts, value) for value in losses)
                if not seen and _happens_around(context, loop):
                    return True
        return False

    def _report(self, facts: Facts, loop: Loop) -> Finding:
        torch = facts.torch_name or "torch"
        loader = loop.loaders[0].label
        cost = "keeps every activation for a backward pass that never comes"
        if not isinstance(loop.function, cst.FunctionDef):
            message = f"the evaluation over `{loader}` {cost}; put the loop under `with {torch}.no_grad():`"
            return self.finding(facts, loop.node, message)
        name = loop.function.name.value
        fix = None
        if not any(name in other.functions for other in _training(facts)):
            message = f"`{name}` evaluates over `{loader}` and {cost}; decorate it with `@{torch}.no_grad()`"
            if facts.torch_name is not None:
                fix = self._fix(facts, loop.function)
        else:
            message = f"`{name}` evaluates over `{loader}` and {cost}; put the loop under `with {torch}.no_grad():`"
        return self.finding(facts, loop.node, message, fix=fix)

    def _fix(self, facts: Facts, function: cst.FunctionDef) -> Fix:
        document, decorator = facts.document, f"@{facts.torch_name}.no_grad()"
        start = document.span(function).start.offset
        lead = newline_of(document) + indentation_at(document, start)
        if function.decorators:
            edit = insert_after(document, function.decorators[-1], lead + decorator)
        else:
            edit = document.edit(start, start, decorator + lead)
        return Fix(f"Decorate `{function.name.value}` with `{decorator}`", (edit,), Applicability.UNSAFE)


def _differentiates(operation: Operation) -> bool:
    """Whether a call takes gradients, or makes something that wants one."""
    named = operation.name.endswith(_GRADIENTS) or operation.name.startswith(_DERIVATIVES)
    return named or operation.gives("requires_grad", True)


def _happens_around(context: OperationContext, loop: Loop) -> bool:
    """Whether it happens in the function that runs a loop, or in one that calls that, as often as the loop begins: so
    that it may be given what the loop computes."""
    outer = list(_outer(loop))
    above = context.functions == loop.functions[: len(context.functions)]
    return above and all(one in outer for one in context.loops)


def _is_explained(facts: Facts, loss: Tensor) -> bool:
    """Whether the calls of models are known that a loss was computed by."""
    calls = [call for one in facts.program for call in one.module_calls if call.node in loss.grown]
    inputs = [argument.value for call in calls if call.loss for one in call.contexts for argument in one.arguments[:1]]
    return bool(calls) and all(isinstance(one, Tensor) and _is_explained(facts, one) for one in inputs)


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORDS.findall(name))


def _outer(loop: Loop) -> Iterator[Loop]:
    outer = loop.parent
    while outer is not None:
        yield outer
        outer = outer.parent


def _training(facts: Facts) -> Iterator[Loop]:
    return (loop for one in facts.program for loop in one.loops if loop.backward)
