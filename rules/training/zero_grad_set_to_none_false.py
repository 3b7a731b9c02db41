"""Gradients that are filled with zeros at each step."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import AnyCall, calls
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule, also_at, drop_argument

_SINCE, _KNOWN_SINCE = (2, 0), (1, 7)
"""The first torch that drops gradients by default, and the first that can."""
_GRAPHS = calls("torch.cuda.CUDAGraph", "torch.cuda.graph", "torch.cuda.make_graphed_callables")
_KEEPS = (".grad", "gradient_as_bucket_view", "_foreach_zero_")
"""Words of programs that read gradients, and may rely on the zeros, or that keep them where they are on purpose."""


class ZeroGradSetToNoneFalse(Rule):
    """Gradients are filled with zeros at each step, where they could be dropped.

    What it does
        Finds `zero_grad(set_to_none=False)` on an optimizer or a module, with the value written out; and `zero_grad()`
        in a loop, once a file, in projects whose pins allow only a torch from 1.7 to 1.13, which keeps the zeros by
        default: a pin of torch itself, or one of NumPy or Python that no later torch runs with. Where the project says,
        if only in its README, that it may run with a torch before 1.7, which does not know the argument, the finding is
        minor and has no fix.

    Why it costs time
        Every gradient is written once to be zero and then read and written again to be added to. Dropped, which is
        the default since torch 2.0, it is written once, by the backward pass, and takes no memory in between. On an
        H200 the steps of 24 linear layers of 2,048 took 1.05 times as long with the zeros (docs/costs.md).

    Example
        import torch
        from torch import nn

        model = nn.Linear(8, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer.zero_grad(set_to_none=False)

    Use instead
        import torch
        from torch import nn

        model = nn.Linear(8, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer.zero_grad()

    When to ignore it
        Where parameters that took part in no loss need a gradient of zero, and with CUDA graphs, which need gradients
        that stay where they are. The rule is silent where the program captures one, asks DDP for gradients that are
        views of its buckets, or touches a `.grad` at all: to drop gradients would break `p.grad.zero_()`.

    Fix safety
        Unsafe: under momentum or weight decay a parameter without a gradient is skipped, while one with a gradient of
        zero keeps moving.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html
    """

    code = "ACC411"
    name = "zero-grad-set-to-none-false"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call that asks for zeros, and the first that gets them by default."""
        if facts.does(*_GRAPHS) or any(word in one.document.text for one in facts.program for word in _KEEPS):
            return
        called = [one for one in facts.operations_of(AnyCall("zero_grad")) if self._clears(one)]
        if facts.supports(_SINCE):
            yield from (self._asked_for(facts, one) for one in called if one.gives("set_to_none", False, 0))
        elif facts.supports(_KNOWN_SINCE):
            by_default = [one for one in called if one.lacks("set_to_none", 0) and self._repeats(one)]
            yield from self._by_default(facts, by_default)

    def _clears(self, operation: Operation) -> bool:
        subjects = [context.subject for context in operation.contexts]
        return all(one.module is not None or one.made_by.startswith("torch.optim.") for one in subjects)

    def _repeats(self, operation: Operation) -> bool:
        around = [context.loops for context in operation.contexts]
        return bool(around) and all(any(one.loaders or one.backward for one in loops) for loops in around)

    def _asked_for(self, facts: Facts, operation: Operation) -> Finding:
        claim = (
            f"`{facts.document.code(operation.node)}` writes zeros into every gradient only for the next ones to be "
            "added to them"
        )
        remedy = "drop the argument, and the gradients are dropped instead"
        fix = drop_argument(facts.document, operation.node, "set_to_none", position=0, shown="set_to_none=False")
        return self.finding(facts, operation.node, claim, remedy, fix=fix, since=_SINCE)

    def _by_default(self, facts: Facts, called: list[Operation]) -> Iterator[Finding]:
        if not called:
            return
        first, *others = called
        claim = (
            f"`{facts.document.code(first.node)}` writes zeros into every gradient with a torch before 2.0, which is "
            "what the project's pins allow, only for the next ones to be added to them"
        )
        remedy = "pass `set_to_none=True`, and they are dropped instead"
        edits = tuple(edit for one in called for edit in one.keyword_edits("set_to_none", "True") or ())
        older = facts.target.allows_before("torch", _KNOWN_SINCE)  # there the argument raises TypeError
        fix = Fix("Pass `set_to_none=True`", edits, Applicability.UNSAFE) if edits and not older else None
        related = [also_at(facts.document, one.node, "so does this one") for one in others]
        yield self.finding(facts, first.node, claim, remedy, fix=fix, related=related, since=_KNOWN_SINCE, minor=older)
