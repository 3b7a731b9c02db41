"""Iterators over parameters that are used up."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.parameters.exhausted_iterators import Exhausted, exhausted_iterators
from accel_advisor.rule import Rule, also_at


class ExhaustedParameters(Rule):
    """Something goes over an iterator of parameters of which nothing is left.

    What it does
        Finds names that are bound once to an iterator over the parameters of modules (`model.parameters()`, or what
        `filter`, `map`, `zip`, `itertools.chain` or a generator expression makes of them), and that are gone over
        again after something has come to their end: an optimizer, `list`, `sum`, a loop without `break`. What comes
        later, in the same function, in one that is defined after that, or in another method for an attribute that one
        method binds, gets nothing: gradients are not clipped, parameters are not frozen, numbers are zero.

    Why it costs time
        It is an error first: an iterator can be gone over once, and Python says nothing when none is left. What was to
        be frozen then gets gradients in every step that are thrown away. `clip_grad_norm_` warns of it in newer
        releases of torch.

    Example
        import torch

        model = torch.nn.Linear(8, 2)
        parameters = filter(lambda p: p.requires_grad, model.parameters())
        optimizer = torch.optim.SGD(parameters, lr=0.1)
        model(torch.zeros(4, 8)).sum().backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()

    Use instead
        import torch

        model = torch.nn.Linear(8, 2)
        parameters = list(filter(lambda p: p.requires_grad, model.parameters()))
        optimizer = torch.optim.SGD(parameters, lr=0.1)
        model(torch.zeros(4, 8)).sum().backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()

    When to ignore it
        Where nothing is to happen there. The rule is silent where the name is bound twice, where a branch decides
        whether something goes over it before, and about a second optimizer, which torch refuses to make of nothing.

    Fix safety
        Unsafe: what did nothing takes effect.

    References
        - https://docs.python.org/3/glossary.html#term-iterator
        - https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html
    """

    code = "ACC447"
    name = "exhausted-parameters"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each name once, at the first place that gets nothing."""
        places: dict[int, list[Exhausted]] = {}
        for one in exhausted_iterators(facts):
            places.setdefault(id(one.made), []).append(one)
        for found in places.values():
            found.sort(key=lambda one: facts.document.order(one.place))
            yield self._report(facts, found)

    def _report(self, facts: Facts, found: list[Exhausted]) -> Finding:
        document, first = facts.document, found[0]
        row = document.span(first.taken).start.row
        effect = "no gradient is clipped" if first.clips else "this goes over nothing"
        claim = f"`{first.name}` is an iterator that line {row} has gone over to its end, so that {effect} here"
        start, end = (document.span(first.made).start.offset, document.span(first.made).end.offset)
        edits = (document.edit(start, start, "list("), document.edit(end, end, ")"))
        fix = Fix(f"Make `{first.name}` a list", edits, Applicability.UNSAFE)
        related = [
            also_at(document, first.made, "the iterator is made here"),
            also_at(document, first.taken, "it comes to its end here"),
            *(also_at(document, one.place, "nothing is left here, either") for one in found[1:]),
        ]
        remedy = f"make it a list where it is bound: `{first.name} = list(...)`"
        return self.finding(facts, first.place, claim, remedy, fix=fix, related=related)
