"""Models evaluated in training mode, or trained in evaluation mode."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.modes import WrongMode, wrong_modes
from accel_advisor.rule import Rule, also_at, indentation_at, insert_after, newline_of


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
        Where dropout is wanted, as in Monte Carlo estimates. The rule is silent in names that mention that, where a
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
    frequency = Frequency.EPOCH

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each function, and each training loop, once."""
        for found in wrong_modes(facts):
            label = f"`{found.name}`" if found.name else "the model"
            first = found.evaluation
            if first is None:
                claim = f"{label} is evaluated in training mode, in which its `{found.layer}` computes something else"
                remedy = "call `eval()` before, and `train()` before it learns again"
                fix = self._fix(facts, found, start="eval", back=facts.trains)
                yield self.finding(facts, found.loop.node, claim, remedy, fix=fix)
            else:
                claim = (
                    f"from the second epoch on {label} learns in evaluation mode, in which its `{found.layer}` "
                    "computes something else: nothing calls `train()` after `eval()`"
                )
                remedy = "call it before this loop"
                fix = self._fix(facts, found, start="train", back=False)
                related = [also_at(first.document, first.node, "evaluation mode begins here")]
                yield self.finding(facts, found.loop.node, claim, remedy, fix=fix, related=related)

    def _fix(self, facts: Facts, found: WrongMode, *, start: str, back: bool) -> Fix | None:
        document, loop, name = facts.document, found.loop.node, found.name
        if not name or found.loop.body is None:
            return None
        begin = document.span(loop).start.offset
        lead = newline_of(document) + indentation_at(document, begin)
        edits = [document.edit(begin, begin, f"{name}.{start}(){lead}")]
        if back:
            edits.append(insert_after(document, loop, f"{lead}{name}.train()"))
        return Fix(f"Call `{name}.{start}()`", tuple(edits), Applicability.UNSAFE)
