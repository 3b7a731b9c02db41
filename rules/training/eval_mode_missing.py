"""ACC432."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from accel_advisor.editing.edits import indentation_at, insert_after, newline_of
from accel_advisor.finding import Applicability, Finding, Fix, Related, Severity
from accel_advisor.records.facts import Facts, Loop, ModuleCall, ModuleCallContext
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule
from accel_advisor.values.values import Module

_DELIBERATE = re.compile(
    r"mc_|_mc|monte_?carlo|posterior|dropout|uncertain|bayes|ensemble|stochastic|calibrat|_bn|bn_|swa|gan\b|generat",
    re.I,
)


class EvalModeMissing(Rule):
    """A model is evaluated in training mode, or trained in evaluation mode.

    What it does
        Finds loops without gradients over a loader that call a model with batch norm or dropout, in a program that
        never calls `eval()`; and epochs that call `eval()` on such a model and never `train()` again.

    Why it costs time
        The result is wrong: in training mode dropout throws values away and batch norm normalizes with the batch and
        learns from the test data; in evaluation mode neither happens while the model trains, from the second epoch on.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 2))
        loader = DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16)
        total = 0.0
        with torch.no_grad():
            for (x,) in loader:
                total += float(model(x).sum())

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 2))
        loader = DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16)
        total = 0.0
        with torch.no_grad():
            model.eval()
            for (x,) in loader:
                total += float(model(x).sum())

    When to ignore it
        Where dropout is wanted, as in Monte Carlo estimates. The rule is silent in names that speak of that, where a
        batch goes through the model several times, with several optimizers (GANs), with frameworks, and where a
        condition or an argument decides whether the model has such a layer.

    Fix safety
        Unsafe: the results of the evaluation, or of the training, change, as they should.

    References
        - https://docs.pytorch.org/docs/stable/notes/autograd.html#evaluation-mode-nn-module-eval
    """

    code = "ACC432"
    name = "eval-mode-missing"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each function, and each training loop, once."""
        if facts.frameworks or self._is_deliberate(facts):
            return
        switched = facts.does(".eval") or any(_stays(one) for one in facts.program.ending(".train"))
        seen: set[int] = set()
        for loop in facts.loops:
            if not loop.loaders or id(loop.function or loop) in seen:
                continue
            found = None
            if loop.backward:
                found = self._stays_in_evaluation(facts, loop) if switched else None
            elif loop.graph_free and not loop.graphs and not switched:
                found = self._stays_in_training(facts, loop)
            if found is not None:
                seen.add(id(loop.function or loop))
                yield found

    def _is_deliberate(self, facts: Facts) -> bool:
        optimizers = [one for one in facts.program.beginning("torch.optim.") if re.match(r"[A-Z]\w*$", one.name[12:])]
        names = [facts.document.filename.replace("\\", "/").rpartition("/")[2]]
        names += [name for loop in facts.loops for name in loop.functions]
        return len(optimizers) > 1 or any(_DELIBERATE.search(name) for name in names)

    def _stays_in_training(self, facts: Facts, loop: Loop) -> Finding | None:
        calls = list(_calls(facts, loop))
        if not calls or any(context.inner is not loop for _, context in calls):
            return None
        for call, context in calls:
            layer = facts.layers.switch(context.module) if isinstance(context.module, Module) else None
            if layer is not None and not context.escaped:
                name = _name_of(facts, call)
                label = f"`{name}`" if name else "the model"
                message = (
                    f"{label} is evaluated in training mode, in which its `{layer}` computes something else; call "
                    f"`eval()` before, and `train()` before it learns again"
                )
                fix = self._fix(facts, loop, name, back=facts.trains) if name else None
                return self.finding(facts, loop.node, message, fix=fix)
        return None

    def _stays_in_evaluation(self, facts: Facts, loop: Loop) -> Finding | None:
        epochs = [outer for outer in _outer(loop) if outer.counts and not outer.loaders]
        if not epochs:
            return None
        for call, context in _calls(facts, loop):
            if not isinstance(context.module, Module) or context.escaped:
                continue
            layer = facts.layers.switch(context.module)
            evaluations = self._evaluations(facts, context.module, loop, epochs[0])
            if layer is None or not evaluations or _within(facts, ".train", epochs[0]):
                continue
            name = _name_of(facts, call)
            label = f"`{name}`" if name else "the model"
            message = (
                f"from the second epoch on {label} learns in evaluation mode, in which its `{layer}` computes "
                "something else: nothing calls `train()` after `eval()`; call it before this loop"
            )
            fix = self._fix(facts, loop, name, start="train") if name else None
            first = evaluations[0]
            related = [Related(first.document.filename, first.document.span(first.node), "evaluation mode begins here")]
            return self.finding(facts, loop.node, message, fix=fix, related=related)
        return None

    def _evaluations(self, facts: Facts, module: Module, training: Loop, epochs: Loop) -> list[Operation]:
        """The calls of ``eval()`` on a model in each epoch, where an evaluation follows and the training does not."""
        evaluated = any(
            context.evaluating and context.loop is not None and epochs in (context.loop, *_outer(context.loop))
            for each in facts.program
            for call in each.module_calls
            for context in call.contexts
            if isinstance(context.module, Module) and context.module.plain is module.plain
            if context.loop is not training and context.loop is not None and not context.loop.backward
        )
        found = [
            one
            for one in _within(facts, ".eval", epochs)
            if all(isinstance(c.receiver, Module) and c.receiver.plain is module.plain for c in one.contexts)
        ]
        return found if evaluated and not any(self._precedes(one, training) for one in found) else []

    def _precedes(self, operation: Operation, training: Loop) -> bool:
        """Whether a call stands before a loop in the same function, where it may well be meant for it."""
        if operation.document is not training.document:
            return False
        here = any(context.functions == training.functions for context in operation.contexts)
        document = operation.document
        return here and document.span(operation.node).start < document.span(training.node).start

    def _fix(self, facts: Facts, loop: Loop, name: str, *, start: str = "eval", back: bool = False) -> Fix | None:
        document = facts.document
        if not isinstance(loop.node, (cst.For, cst.While)):
            return None
        begin = document.span(loop.node).start.offset
        lead = newline_of(document) + indentation_at(document, begin)
        edits = [document.edit(begin, begin, f"{name}.{start}(){lead}")]
        if back:
            edits.append(insert_after(document, loop.node, f"{lead}{name}.train()"))
        return Fix(f"Call `{name}.{start}()`", tuple(edits), Applicability.UNSAFE)


def _calls(facts: Facts, loop: Loop) -> Iterator[tuple[ModuleCall, ModuleCallContext]]:
    """The calls of modules with state on the batches of a loop."""
    for each in facts.program:
        for call in each.module_calls:
            for context in call.contexts:
                if not call.loss and context.loop is loop:
                    yield call, context


def _name_of(facts: Facts, call: ModuleCall) -> str:
    """What a model that is called in this document is called; empty where it has no name here."""
    plain = call.document is facts.document and isinstance(call.node.func, (cst.Name, cst.Attribute))
    return facts.document.code(call.node.func) if plain else ""


def _outer(loop: Loop) -> Iterator[Loop]:
    outer = loop.parent
    while outer is not None:
        yield outer
        outer = outer.parent


def _within(facts: Facts, ending: str, loop: Loop) -> list[Operation]:
    """The operations of a kind that happen in each pass of a loop."""
    found = (one for one in facts.program.ending(ending) if ending != ".train" or not _stays(one))
    return [one for one in found if any(loop in context.loops for context in one.contexts)]


def _stays(operation: Operation) -> bool:
    return operation.gives("mode", False, 0)
