"""Models evaluated in training mode, or trained in evaluation mode."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import Within
from accel_advisor.records.facts import Facts, Loop, ModuleCall
from accel_advisor.records.queries.modes import begins_evaluation, evaluations_before, model_calls
from accel_advisor.rule import Rule, also_at, indentation_at, insert_after, newline_of

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
        switched = begins_evaluation(facts)
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
        made = facts.program.operations_of(Within("torch.optim"))
        optimizers = [one for one in made if one.what.owner == "torch.optim" and one.what.name[:1].isupper()]
        names = [facts.document.filename.replace("\\", "/").rpartition("/")[2]]
        names += [name for loop in facts.loops for name in loop.functions]
        return len(optimizers) > 1 or any(_DELIBERATE.search(name) for name in names)

    def _stays_in_training(self, facts: Facts, loop: Loop) -> Finding | None:
        calls = list(model_calls(facts, loop))
        if not calls or any(context.inner is not loop for _, context in calls):
            return None
        for call, context in calls:
            layer = facts.layers.switch(context.model) if context.model is not None else None
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
        for call, context in model_calls(facts, loop):
            if context.model is None or context.escaped:
                continue
            layer = facts.layers.switch(context.model)
            evaluations = evaluations_before(facts, context.model, loop)
            if layer is None or not evaluations:
                continue
            name = _name_of(facts, call)
            label = f"`{name}`" if name else "the model"
            message = (
                f"from the second epoch on {label} learns in evaluation mode, in which its `{layer}` computes "
                "something else: nothing calls `train()` after `eval()`; call it before this loop"
            )
            fix = self._fix(facts, loop, name, start="train") if name else None
            first = evaluations[0]
            related = [also_at(first.document, first.node, "evaluation mode begins here")]
            return self.finding(facts, loop.node, message, fix=fix, related=related)
        return None

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


def _name_of(facts: Facts, call: ModuleCall) -> str:
    """What a model that is called in this document is called; empty where it has no name here."""
    plain = call.document is facts.document and isinstance(call.node.func, (cst.Name, cst.Attribute))
    return facts.document.code(call.node.func) if plain else ""
